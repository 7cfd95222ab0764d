//! The main loop, and the state that it alone owns.
//!
//! Invariant: diagnostics are computed from the newest text that has arrived. Everything that waits in the channel is
//! taken in before diagnostics that are due are sent, so that a stale one is never sent.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use gen_lsp_types::Uri;
use serde_json::{Value, json};
use synapse_lang::diagnostic::Diagnostic;
use synapse_lang::project::disk;

use crate::buffer::{Buffer, Home};
use crate::client::Client;
use crate::dispatch::guarded;
use crate::folder::{FolderId, Folders};
use crate::outbox::{self, Outbox};
use crate::rpc::{self, Incoming, REQUEST_CANCELLED, Refused};
use crate::view::View;
use crate::worker::{self, Job, Report};
use crate::{Ended, Options, diagnostics, uri};

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

    /// Takes in a project, and reads it in the background.
    pub(crate) fn add_project(&mut self, root: PathBuf) {
        let Some(id) = self.folders.add(root.clone(), self.options.runtime) else { return };
        let token = self.client.progress.then(|| format!("synapse-load-{id}"));
        if let Some(token) = &token {
            self.ask("window/workDoneProgress/create", json!({ "token": token }));
            let title = format!("Reading {}", root.file_name().unwrap_or(root.as_os_str()).to_string_lossy());
            let value = json!({ "kind": "begin", "title": title, "percentage": 0 });
            self.outbox.notify("$/progress", json!({ "token": token, "value": value }));
        }
        self.enqueue(Job::Load { folder: id, root, token });
        // Documents that stood alone and lie in it belong to it now.
        let alone = self.buffers.iter().filter(|(_, buffer)| matches!(buffer.home, Home::Alone(..)));
        let uris: Vec<String> = alone.map(|(uri, _)| uri.clone()).collect();
        for uri in uris {
            let home = self.home(&Uri(uri.clone()));
            if let Some(buffer) = self.buffers.get_mut(&uri) {
                buffer.home = home;
            }
            self.text_changed(&uri, Duration::ZERO);
        }
    }

    /// Forgets the projects below a folder; their open documents stand alone.
    pub(crate) fn remove_projects(&mut self, folder: &Path) {
        let gone = self.folders.remove_below(folder);
        let orphans: Vec<String> = self
            .buffers
            .iter()
            .filter(|(_, buffer)| matches!(&buffer.home, Home::Folder(id, _) if gone.contains(id)))
            .map(|(uri, _)| uri.clone())
            .collect();
        for uri in orphans {
            if let Some(buffer) = self.buffers.get_mut(&uri) {
                buffer.home = Home::Alone(Box::default(), Home::alone_path(&uri));
            }
            self.text_changed(&uri, Duration::ZERO);
        }
    }

    /// Where a document belongs. A project that it lies in is taken in when it was not known.
    pub(crate) fn home(&mut self, uri: &Uri) -> Home {
        let alone = || Home::Alone(Box::default(), Home::alone_path(uri.as_ref()));
        let Some(path) = uri::path(uri) else { return alone() };
        if self.folders.locate(&path).is_none()
            && let Some(root) = path.parent().and_then(disk::root_of)
        {
            self.add_project(root);
        }
        match self.folders.locate(&path) {
            Some((id, inside)) if disk::matters(&inside) && !is_left_out(&inside) => Home::Folder(id, inside),
            _ => alone(),
        }
    }

    /// Takes in the new text of a buffer, whose diagnostics are due after a while.
    pub(crate) fn text_changed(&mut self, uri: &str, after: Duration) {
        self.generation += 1;
        let Some(buffer) = self.buffers.get_mut(uri) else { return };
        let text = Arc::clone(&buffer.text);
        let due = Instant::now() + after;
        match &mut buffer.home {
            Home::Alone(project, path) => {
                project.set(*path, text);
                self.dirty.insert(uri.to_owned(), due);
            }
            Home::Folder(id, path) => {
                let id = *id;
                if let Some(folder) = self.folders.get(id) {
                    folder.project.write().set(path.as_str(), text);
                }
                self.mark(id, due);
            }
        }
    }

    /// Notes that a project has changed: what is open of it is looked at again.
    pub(crate) fn project_changed(&mut self, id: FolderId) {
        self.generation += 1;
        self.mark(id, Instant::now());
    }

    fn mark(&mut self, id: FolderId, due: Instant) {
        for (uri, buffer) in &self.buffers {
            if matches!(&buffer.home, Home::Folder(of, _) if *of == id) {
                self.dirty.insert(uri.clone(), due);
            }
        }
    }

    /// Takes in a file as it is on the disk, unless it is open. Answers the project that it belongs to.
    pub(crate) fn look_at_disk(&mut self, path: &Path) -> Option<FolderId> {
        let (id, inside) = self.folders.locate(path)?;
        let open =
            |buffer: &Buffer| matches!(&buffer.home, Home::Folder(of, own) if *of == id && *own == inside);
        if is_left_out(&inside) || self.buffers.values().any(open) {
            return None;
        }
        let folder = self.folders.get(id)?;
        if !folder.ready {
            self.changed.push((id, path.to_path_buf()));
            return None;
        }
        let mut project = folder.project.write();
        if path.is_file() {
            match disk::text(path).filter(|_| disk::matters(&inside)) {
                Some(text) => project.set(inside.as_str(), text),
                None => project.mention(inside),
            }
        } else {
            // A folder that is gone is one event for all that was in it.
            let below = format!("{inside}/");
            let files = project.files().map(|(path, _)| path.to_owned());
            let others = project.other_files().map(str::to_owned);
            let gone: Vec<String> = files.chain(others).filter(|path| path.starts_with(&below)).collect();
            for path in gone {
                project.remove(&path);
            }
            project.remove(&inside);
        }
        Some(id)
    }

    /// Forgets a buffer; the disk counts again.
    pub(crate) fn close(&mut self, uri: &Uri) {
        let Some(buffer) = self.buffers.remove(uri.as_ref()) else { return };
        self.dirty.remove(uri.as_ref());
        self.checked.remove(uri.as_ref());
        self.published.remove(uri.as_ref());
        if let Home::Folder(id, _) = buffer.home {
            if let Some(path) = uri::path(uri) {
                self.look_at_disk(&path);
            }
            self.project_changed(id);
        }
        if !self.client.pulls {
            self.outbox.notify("textDocument/publishDiagnostics", json!({ "uri": uri, "diagnostics": [] }));
        }
    }

    /// Shows a document with its surroundings; nothing when it is not known, or not Synapse.
    pub(crate) fn with_view<R>(&self, uri: &Uri, look: impl FnOnce(&View<'_>) -> R) -> Option<R> {
        let (client, options) = (&self.client, &self.options);
        let located = match self.buffers.get(uri.as_ref()).map(|buffer| &buffer.home) {
            Some(Home::Alone(project, path)) => {
                let file = project.file(path)?;
                let document = file.document();
                let view =
                    View { uri, document, file, project, path, root: None, ready: true, client, options };
                return Some(look(&view));
            }
            Some(Home::Folder(id, path)) => (*id, path.clone()),
            None => self.folders.locate(&uri::path(uri)?)?,
        };
        let (id, path) = located;
        let folder = self.folders.get(id)?;
        let project = folder.project.read();
        let file = project.file(&path)?;
        Some(look(&View {
            uri,
            document: file.document(),
            file,
            project: &project,
            path: &path,
            root: Some(&folder.root),
            ready: folder.ready,
            client,
            options,
        }))
    }

    /// What is wrong with a document; asked again for the same text, the same list.
    pub(crate) fn findings(&mut self, uri: &Uri) -> Option<Arc<Vec<Diagnostic>>> {
        if let Some((generation, found)) = self.checked.get(uri.as_ref())
            && *generation == self.generation
        {
            return Some(Arc::clone(found));
        }
        let mut found = Vec::new();
        self.with_view(uri, |view| found = view.diagnostics())?;
        let found = Arc::new(found);
        if self.buffers.contains_key(uri.as_ref()) {
            self.checked.insert(uri.as_ref().to_owned(), (self.generation, Arc::clone(&found)));
        }
        Some(found)
    }

    /// Sends the diagnostics that are due, to clients that do not ask for them.
    fn publish_due(&mut self) {
        let now = Instant::now();
        let due: Vec<String> =
            self.dirty.iter().filter(|(_, at)| **at <= now).map(|(uri, _)| uri.clone()).collect();
        for uri in due {
            self.dirty.remove(&uri);
            if self.client.pulls {
                continue;
            }
            let version = self.buffers.get(&uri).map(|buffer| buffer.version);
            let address = Uri(uri.clone());
            let sent = guarded(|| {
                let found = self.findings(&address);
                Ok(found.and_then(|found| self.with_view(&address, |view| diagnostics::sent(view, &found))))
            });
            let Ok(Some(sent)) = sent else { continue };
            let items = json!(sent);
            let published = Published { version, items: diagnostics::result_id(&items) };
            if self.published.get(&uri) == Some(&published) {
                continue;
            }
            self.published.insert(uri, published);
            let params = json!({ "uri": address, "version": version, "diagnostics": items });
            self.outbox.notify("textDocument/publishDiagnostics", params);
        }
    }
}

/// Whether a path of a project is in a folder that is never read: built, hidden, or installed.
fn is_left_out(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.') || matches!(part, "target" | "node_modules"))
}

#[cfg(test)]
mod tests;
