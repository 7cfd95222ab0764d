//! The main loop, and the state that it alone owns.
//!
//! Invariant: diagnostics are computed from the newest text that has arrived. Everything that waits in the channel is
//! taken in before diagnostics that are due are sent, so that a stale one is never sent.

mod documents;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use synapse_lang::diagnostic::Diagnostic;

use crate::buffer::{Buffer, Home};
use crate::client::Client;
use crate::dispatch::guarded;
use crate::folder::{FolderId, Folders};
use crate::outbox::{self, Outbox};
use crate::rpc::{self, Incoming, REQUEST_CANCELLED, Refused};
use crate::worker::{self, Job, Report};
use crate::{Ended, Options};

/// How many events may wait; when there are more, the client waits with writing, and the worker with its report.
const WAITING: usize = 256;
/// How often it is asked whether the client's process is still there.
const ALIVE: Duration = Duration::from_secs(3);
/// The longest sleep without anything to do.
const IDLE: Duration = Duration::from_secs(3600);
/// How long the last messages may take to be written.
const FAREWELL: Duration = Duration::from_secs(2);

/// Something happened.
pub(crate) enum Event {
    /// The client said something.
    Message(Incoming),
    /// The client is gone.
    ClientGone,
    /// The worker is done with a job.
    Worker(Report),
}

/// Where the conversation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Before `initialize`.
    New,
    /// At work.
    Running,
    /// After `shutdown`.
    Down,
}

/// What the worker is doing for a request.
struct Running {
    id: Value,
    cancelled: Arc<AtomicBool>,
}

/// What was last sent about a document.
#[derive(PartialEq, Eq)]
struct Published {
    version: Option<i32>,
    items: String,
}

/// The state.
pub(crate) struct Server {
    pub(crate) options: Options,
    pub(crate) client: Client,
    pub(crate) outbox: Outbox,
    pub(crate) phase: Phase,
    pub(crate) folders: Folders,
    pub(crate) buffers: BTreeMap<String, Buffer>,
    /// The folders of the workspace, from `initialize` until projects are looked for in them.
    pub(crate) workspace: Vec<PathBuf>,
    /// The process of the client.
    pub(crate) parent: Option<u32>,
    /// Documents whose diagnostics are to be sent, and when.
    dirty: BTreeMap<String, Instant>,
    published: HashMap<String, Published>,
    /// Findings by document, and the generation that they are of.
    checked: HashMap<String, (u64, Arc<Vec<Diagnostic>>)>,
    /// Counts the changes of all texts.
    generation: u64,
    /// Files that changed on the disk while their project was being read.
    changed: Vec<(FolderId, PathBuf)>,
    jobs: VecDeque<Job>,
    worker: SyncSender<Job>,
    working: bool,
    running: Option<Running>,
    requests: u32,
}

/// Serves a client until it is done.
pub(crate) fn run(
    mut input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
    options: Options,
) -> Ended {
    let (events, happened) = sync_channel::<Event>(WAITING);
    let (outbox, messages) = Outbox::new();
    let (written, all_written) = sync_channel::<()>(1);
    let (worker, jobs) = sync_channel::<Job>(1);
    let stop = Arc::new(AtomicBool::new(false));

    let to_loop = events.clone();
    std::thread::spawn(move || {
        loop {
            let message = rpc::read(&mut input).ok().flatten();
            let last = match &message {
                Some(Incoming::Notification { method, .. }) => method == "exit",
                Some(_) => false,
                None => true,
            };
            let event = message.map_or(Event::ClientGone, Event::Message);
            if to_loop.send(event).is_err() || last {
                return;
            }
        }
    });
    let to_loop = events.clone();
    std::thread::spawn(move || {
        if !outbox::write_all(output, &messages) {
            to_loop.send(Event::ClientGone).ok();
        }
        written.send(()).ok();
    });
    let (worker_outbox, worker_stop) = (outbox.clone(), Arc::clone(&stop));
    let working = std::thread::spawn(move || worker::work(&jobs, &events, &worker_outbox, &worker_stop));

    let mut server = Server::new(options, outbox, worker);
    let ended = server.serve(&happened);
    stop.store(true, Ordering::Relaxed);
    drop(server);
    drop(happened);
    // It looks at the flag after every file, and a closed channel ends its waiting.
    working.join().ok();
    all_written.recv_timeout(FAREWELL).ok();
    ended
}

impl Server {
    fn new(options: Options, outbox: Outbox, worker: SyncSender<Job>) -> Self {
        Self {
            options,
            client: Client::default(),
            outbox,
            phase: Phase::New,
            folders: Folders::default(),
            buffers: BTreeMap::new(),
            workspace: Vec::new(),
            parent: None,
            dirty: BTreeMap::new(),
            published: HashMap::new(),
            checked: HashMap::new(),
            generation: 0,
            changed: Vec::new(),
            jobs: VecDeque::new(),
            worker,
            working: false,
            running: None,
            requests: 0,
        }
    }

    fn serve(&mut self, happened: &std::sync::mpsc::Receiver<Event>) -> Ended {
        let mut inbox: VecDeque<Event> = VecDeque::new();
        let mut next_look = Instant::now() + ALIVE;
        loop {
            if inbox.is_empty() {
                match happened.recv_timeout(self.patience(next_look)) {
                    Ok(event) => self.take_in(event, &mut inbox),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Ended::ClientGone,
                }
            }
            while inbox.len() < WAITING
                && let Ok(event) = happened.try_recv()
            {
                self.take_in(event, &mut inbox);
            }
            if let Some(event) = inbox.pop_front() {
                if let Some(ended) = self.handle(event) {
                    return ended;
                }
            } else {
                self.publish_due();
                if Instant::now() >= next_look {
                    next_look = Instant::now() + ALIVE;
                    let gone = |is_alive: &crate::IsAlive| self.parent.is_some_and(|id| !is_alive(id));
                    if self.options.is_alive.as_ref().is_some_and(gone) {
                        return Ended::ClientGone;
                    }
                }
            }
            self.hand_out();
        }
    }

    /// How long to wait for something to happen.
    fn patience(&self, next_look: Instant) -> Duration {
        let watches = self.parent.is_some() && self.options.is_alive.is_some();
        let due = self.dirty.values().min().copied();
        let next = due.into_iter().chain(watches.then_some(next_look)).min();
        next.map_or(IDLE, |next| next.saturating_duration_since(Instant::now()))
    }

    /// Puts an event in line. A request that is taken back before its turn is answered here.
    fn take_in(&mut self, event: Event, inbox: &mut VecDeque<Event>) {
        let cancelled = match &event {
            Event::Message(Incoming::Notification { method, params }) if method == "$/cancelRequest" => {
                params.get("id").cloned()
            }
            _ => None,
        };
        let Some(wanted) = cancelled else { return inbox.push_back(event) };
        let is_it =
            |event: &Event| matches!(event, Event::Message(Incoming::Request { id, .. }) if *id == wanted);
        let before = inbox.len();
        inbox.retain(|event| !is_it(event));
        let queued = self.jobs.len();
        self.jobs.retain(|job| !matches!(job, Job::Check(check) if check.id == wanted));
        if inbox.len() < before || self.jobs.len() < queued {
            let message = "the request was cancelled".to_owned();
            self.outbox.respond(&wanted, Err(Refused { code: REQUEST_CANCELLED, message }));
        } else if let Some(running) = self.running.as_ref().filter(|running| running.id == wanted) {
            running.cancelled.store(true, Ordering::Relaxed);
        }
    }

    fn handle(&mut self, event: Event) -> Option<Ended> {
        match event {
            Event::ClientGone => return Some(Ended::ClientGone),
            Event::Message(Incoming::Notification { method, .. }) if method == "exit" => {
                return Some(Ended::Exit { in_order: self.phase == Phase::Down });
            }
            Event::Message(Incoming::Notification { method, params }) => {
                let answer = guarded(|| self.notification(&method, params).map(|()| Value::Null));
                if let Err(refused) = answer {
                    self.log(&format!("{method}: {refused}"));
                }
            }
            Event::Message(Incoming::Request { id, method, params }) => {
                match guarded(|| Ok(self.request(&id, &method, params))) {
                    Ok(Some(answer)) => self.outbox.respond(&id, answer),
                    Ok(None) => {}
                    Err(refused) => self.outbox.respond(&id, Err(refused)),
                }
            }
            Event::Message(Incoming::Response { id, failed }) => {
                if failed {
                    self.log(&format!("the client could not do what request {id} asked for"));
                }
            }
            Event::Message(Incoming::Malformed { code, message, id }) => {
                self.outbox.respond(&id, Err(Refused { code, message }));
            }
            Event::Worker(report) => self.done(report),
        }
        None
    }

    /// Notes something in the client's log.
    pub(crate) fn log(&self, message: &str) {
        self.outbox.notify("window/logMessage", json!({ "type": 2, "message": message }));
    }

    /// Asks the client for something.
    pub(crate) fn ask(&mut self, method: &str, params: impl serde::Serialize) {
        self.requests += 1;
        self.outbox.request(&format!("synapse-{}", self.requests), method, params);
    }

    /// Puts a job in line.
    pub(crate) fn enqueue(&mut self, job: Job) {
        self.jobs.push_back(job);
    }

    /// Gives the worker its next job, when it has none.
    fn hand_out(&mut self) {
        if self.working {
            return;
        }
        let Some(job) = self.jobs.pop_front() else { return };
        if let Job::Check(check) = &job {
            self.running = Some(Running { id: check.id.clone(), cancelled: Arc::clone(&check.cancelled) });
        }
        self.working = self.worker.try_send(job).is_ok();
    }

    fn done(&mut self, report: Report) {
        self.working = false;
        self.running = None;
        match report {
            Report::Checked { id, answer } => self.outbox.respond(&id, answer),
            Report::Loaded { folder: id, project, token } => {
                if let Some(token) = token {
                    self.outbox.notify("$/progress", json!({ "token": token, "value": { "kind": "end" } }));
                }
                let Some(folder) = self.folders.get_mut(id) else { return };
                match project {
                    Ok(mut project) => {
                        project.set_runtime(self.options.runtime);
                        for buffer in self.buffers.values() {
                            if let Home::Folder(of, path) = &buffer.home
                                && *of == id
                            {
                                project.set(path.as_str(), Arc::clone(&buffer.text));
                            }
                        }
                        *folder.project.write() = *project;
                        folder.ready = true;
                        let changed = std::mem::take(&mut self.changed);
                        let (own, others) = changed.into_iter().partition(|(of, _)| *of == id);
                        self.changed = others;
                        let own: Vec<(FolderId, PathBuf)> = own;
                        for (_, path) in own {
                            self.look_at_disk(&path);
                        }
                    }
                    Err(error) => {
                        let message = format!("{} cannot be read: {error}", folder.root.display());
                        self.log(&message);
                    }
                }
                self.project_changed(id);
                self.refresh();
            }
        }
    }

    /// Tells a client that asks for diagnostics to ask again.
    pub(crate) fn refresh(&mut self) {
        if self.client.pulls && self.client.refreshes {
            self.ask("workspace/diagnostic/refresh", Value::Null);
        }
    }
}

#[cfg(test)]
mod tests;
