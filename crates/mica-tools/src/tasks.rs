//! Tasks of a session: work that outlives the call that began it, what it printed, and how it ended.
//!
//! Promises: an id is never given twice in a session, also not after a restart; what a task prints costs bounded memory
//! and is whole in its log; a task whose owner vanishes has ended; when the last handle is dropped, everything is told to
//! stop; and both the running and the ended have a most.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use mica_context::spill::{Clock, SpillFolder};
use serde::Serialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::transcript::{Ends, Logs, Transcript};

mod error;
mod feed;

pub use error::TaskError;
pub use feed::Feed;

/// What kind of work a task is. Its name begins the id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct TaskKind(&'static str);

impl TaskKind {
    /// A command.
    pub const SHELL: Self = Self("shell");
    /// An agent that works for another.
    pub const AGENT: Self = Self("agent");

    /// Another kind. The name is short, in lower case letters.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }
}

impl fmt::Display for TaskKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The id of a task: `shell-1`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct TaskId(String);

impl TaskId {
    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How many tasks there can be, and how long they are remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskLimits {
    /// Running at a time.
    pub running: usize,
    /// Kept at all. The oldest that ended go first.
    pub kept: usize,
    /// How long one that ended is kept.
    pub age: Duration,
    /// What is kept in memory of the output of each.
    pub ends: Ends,
}

impl Default for TaskLimits {
    /// Eight are more than anybody follows; an hour is longer than most runs.
    fn default() -> Self {
        Self { running: 8, kept: 64, age: Duration::from_secs(3600), ends: Ends::default() }
    }
}

/// How a task ended, with words that follow "it".
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "how", content = "words")]
pub enum Ending {
    /// It did what it should.
    Done(String),
    /// It ended, and not well.
    Failed(String),
    /// It was told to stop.
    Stopped(String),
    /// Whoever did it is gone.
    Lost,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done(words) | Self::Failed(words) | Self::Stopped(words) => f.write_str(words),
            Self::Lost => f.write_str("was ended from outside"),
        }
    }
}

/// What a task is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// It works.
    Running,
    /// It is over.
    Ended(Ending),
}

impl TaskState {
    /// Whether it is over.
    pub fn has_ended(&self) -> bool {
        matches!(self, Self::Ended(_))
    }
}

/// A task in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskInfo {
    /// Its id.
    pub id: TaskId,
    /// What it does, for people.
    pub title: String,
    /// What it is doing.
    pub state: TaskState,
    /// How long it has run, or ran.
    pub ran: Duration,
    /// Bytes of output until now.
    pub output: u64,
    /// Where all of its output is.
    pub log: Option<PathBuf>,
}

impl fmt::Display for TaskInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, title, ran) = (&self.id, &self.title, self.ran.as_secs());
        match &self.state {
            TaskState::Running => write!(f, "{id} ({title}): running for {ran} s"),
            TaskState::Ended(ending) => write!(f, "{id} ({title}): {ending} after {ran} s"),
        }
    }
}

/// What was read of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The task.
    pub task: TaskInfo,
    /// What it printed from the place that was asked for, with a note where something is left out.
    pub text: String,
    /// Bytes that are left out.
    pub left_out: u64,
    /// Where the rest is, in words; empty when nothing is left out.
    pub rest: String,
    /// Where to read on next time.
    pub next: u64,
    /// Files that it changed, as far as its owner knows. Told to the first who reads of them.
    pub changed: Vec<PathBuf>,
}

/// What to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Output beyond this place, or the end.
    News {
        /// The place: what [`Reading::next`] said.
        from: u64,
    },
    /// The end.
    End,
}

/// What came of telling a task to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It was told just now, or before; it has not ended yet.
    Told,
    /// It had ended already.
    Was(Ending),
}

/// The tasks of a session. Cheap to clone; when the last one is dropped, every task is told to stop.
#[derive(Clone)]
pub struct Tasks {
    shared: Arc<Shared>,
}

/// Tasks of a session for those who look at them, and do not keep them going.
#[derive(Clone)]
pub struct WeakTasks {
    shared: Weak<Shared>,
}

impl WeakTasks {
    /// The tasks, while somebody has them.
    pub fn upgrade(&self) -> Option<Tasks> {
        self.shared.upgrade().map(|shared| Tasks { shared })
    }
}

struct Shared {
    logs: Logs,
    limits: TaskLimits,
    numbers: Numbers,
    table: Mutex<Table>,
}

/// The last number that was given, once one was. All tables of a session count on from it.
type Numbers = Arc<Mutex<Option<u64>>>;

#[derive(Default)]
struct Table {
    /// By number, so in the order they began.
    tasks: BTreeMap<u64, Arc<Task>>,
    is_closed: bool,
}

/// One task. Its owner holds it through the feed, and never the table: so the table can end.
pub(crate) struct Task {
    id: TaskId,
    title: String,
    began: SystemTime,
    cancel: CancellationToken,
    clock: Clock,
    work: Mutex<Work>,
    /// Counts changes, for those who wait.
    changes: watch::Sender<u64>,
}

struct Work {
    transcript: Transcript,
    state: TaskState,
    ended: Option<SystemTime>,
    /// Whether somebody was told of the end.
    is_told: bool,
    /// Files that it changed and nobody was told of.
    changed: Vec<PathBuf>,
}

/// Nothing here is left half changed by a panic: texts are appended, states replaced.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Shared {
    fn drop(&mut self) {
        for task in locked(&self.table).tasks.values() {
            task.cancel.cancel();
        }
    }
}

impl Tasks {
    /// A table whose logs go to a folder, which tools should be able to read.
    pub fn new(folder: Arc<SpillFolder>, clock: Clock, limits: TaskLimits) -> Self {
        Self::counting(Logs { folder, clock }, limits, Numbers::default())
    }

    fn counting(logs: Logs, limits: TaskLimits, numbers: Numbers) -> Self {
        Self { shared: Arc::new(Shared { logs, limits, numbers, table: Mutex::default() }) }
    }

    /// Makes tables for others in the same session. Their tasks are their own; logs are in the same folder, and no id is
    /// given by two tables. What makes them keeps no task going.
    pub fn others(&self) -> impl Fn() -> Self + Send + Sync + 'static {
        let Shared { logs, limits, numbers, .. } = &*self.shared;
        let (logs, limits, numbers) = (logs.clone(), *limits, Arc::clone(numbers));
        move || Self::counting(logs.clone(), limits, Arc::clone(&numbers))
    }

    /// The same tasks, for those who only look.
    pub fn downgrade(&self) -> WeakTasks {
        WeakTasks { shared: Arc::downgrade(&self.shared) }
    }

    /// A transcript of something that is no task, with a log in the same folder when it needs one.
    pub(crate) fn transcript(&self, of: &str) -> Transcript {
        Transcript::new(self.shared.limits.ends, self.shared.logs.clone(), of)
    }

    /// Begins a task. `cancel` fires when it should stop; whoever does the work listens to it, and tells through the feed
    /// what it prints and how it ends.
    ///
    /// # Errors
    /// [`TaskError`] when too many run already, or the session is over.
    pub fn begin(
        &self,
        kind: TaskKind,
        title: impl Into<String>,
        cancel: CancellationToken,
    ) -> Result<Feed, TaskError> {
        let logs = &self.shared.logs;
        let now = (logs.clock)();
        let mut table = locked(&self.shared.table);
        if table.is_closed {
            return Err(TaskError::Closed);
        }
        self.forget(&mut table, now, 1);
        let running: Vec<String> = table
            .tasks
            .values()
            .filter(|task| !locked(&task.work).state.has_ended())
            .map(|task| task.id.to_string())
            .collect();
        if running.len() >= self.shared.limits.running {
            return Err(TaskError::TooMany { running });
        }
        let number = {
            let mut last = locked(&self.shared.numbers);
            let number = last.unwrap_or_else(|| last_number(&logs.folder)) + 1;
            *last = Some(number);
            number
        };
        let id = TaskId(format!("{kind}-{number}"));
        let mut transcript = Transcript::new(self.shared.limits.ends, logs.clone(), id.as_str());
        // Now, so that the number is taken on disk, too: a session that is opened again counts on from there.
        transcript.open_log();
        let work =
            Work { transcript, state: TaskState::Running, ended: None, is_told: false, changed: Vec::new() };
        let task = Arc::new(Task {
            id,
            title: title.into(),
            began: now,
            cancel,
            clock: Arc::clone(&logs.clock),
            work: Mutex::new(work),
            changes: watch::Sender::new(0),
        });
        table.tasks.insert(number, Arc::clone(&task));
        Ok(Feed::new(task))
    }

    /// Takes a task back that was begun and came to nothing. Nobody is told of it, and its id is not given again.
    pub fn withdraw(&self, feed: Feed) {
        locked(&self.shared.table).tasks.retain(|_, task| task.id != *feed.id());
        // Only now: this is an end, and the table would tell it.
        drop(feed);
    }

    /// All that are known, in the order they began.
    pub fn list(&self) -> Vec<TaskInfo> {
        let mut table = locked(&self.shared.table);
        self.forget(&mut table, (self.shared.logs.clock)(), 0);
        table.tasks.values().map(|task| task.info()).collect()
    }

    /// Reads what a task printed from a place on: 0, or what the last reading said.
    ///
    /// # Errors
    /// [`TaskError::Unknown`].
    pub fn read(&self, id: &str, from: u64) -> Result<Reading, TaskError> {
        let task = self.find(id)?;
        let info = task.info();
        let mut work = locked(&task.work);
        // The end may have come since; then what is told of it is what is kept.
        let state = work.state.clone();
        work.is_told |= state.has_ended();
        let part = work.transcript.since(from);
        let rest = if part.left_out > 0 { work.transcript.rest() } else { String::new() };
        let (text, left_out, next) = (part.text, part.left_out, work.transcript.total());
        let changed = std::mem::take(&mut work.changed);
        Ok(Reading { task: TaskInfo { state, ..info }, text, left_out, rest, next, changed })
    }

    /// What a task printed, as far as it is kept, for whoever is not its reader: nothing counts as told by it, neither the
    /// end nor the files that it changed.
    ///
    /// # Errors
    /// [`TaskError::Unknown`].
    pub fn peek(&self, id: &str) -> Result<String, TaskError> {
        Ok(locked(&self.find(id)?.work).transcript.since(0).text)
    }

    /// Waits for news or the end, as long as it is given. Returns early, without an error, when `cancel` fires.
    ///
    /// # Errors
    /// [`TaskError::Unknown`].
    pub async fn wait(
        &self,
        id: &str,
        until: Until,
        longest: Duration,
        cancel: &CancellationToken,
    ) -> Result<(), TaskError> {
        let task = self.find(id)?;
        let mut changes = task.changes.subscribe();
        let waiting = async {
            loop {
                changes.mark_unchanged();
                if task.has(until) || changes.changed().await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => {}
            () = waiting => {}
            () = tokio::time::sleep(longest) => {}
        }
        Ok(())
    }

    /// Tells a task to stop.
    ///
    /// # Errors
    /// [`TaskError::Unknown`].
    pub fn stop(&self, id: &str) -> Result<Stop, TaskError> {
        let task = self.find(id)?;
        if let TaskState::Ended(ending) = &locked(&task.work).state {
            return Ok(Stop::Was(ending.clone()));
        }
        task.cancel.cancel();
        Ok(Stop::Told)
    }

    /// Tells every task to stop.
    pub fn stop_all(&self) {
        for task in locked(&self.shared.table).tasks.values() {
            task.cancel.cancel();
        }
    }

    /// Ends the session's tasks: no new ones, all are told to stop, and they have a while to do so. The ids of those that
    /// did not.
    pub async fn close(&self, longest: Duration) -> Vec<TaskId> {
        let all: Vec<Arc<Task>> = {
            let mut table = locked(&self.shared.table);
            table.is_closed = true;
            table.tasks.values().cloned().collect()
        };
        self.stop_all();
        let never = CancellationToken::new();
        let ends = async {
            for task in &all {
                let _ = self.wait(task.id.as_str(), Until::End, longest, &never).await;
            }
        };
        let _ = tokio::time::timeout(longest, ends).await;
        all.iter().filter(|task| !task.has(Until::End)).map(|task| task.id.clone()).collect()
    }

    /// Tasks that ended and whose end nobody was told of yet. Each is in it once.
    pub fn take_endings(&self) -> Vec<TaskInfo> {
        let tasks: Vec<Arc<Task>> = locked(&self.shared.table).tasks.values().cloned().collect();
        let untold = |task: &Arc<Task>| {
            let mut work = locked(&task.work);
            let is_new = work.state.has_ended() && !work.is_told;
            work.is_told |= is_new;
            is_new
        };
        tasks.iter().filter(|task| untold(task)).map(|task| task.info()).collect()
    }

    fn find(&self, id: &str) -> Result<Arc<Task>, TaskError> {
        let mut table = locked(&self.shared.table);
        self.forget(&mut table, (self.shared.logs.clock)(), 0);
        let found = table.tasks.values().find(|task| task.id.as_str() == id);
        found.cloned().ok_or_else(|| TaskError::Unknown {
            id: id.to_owned(),
            known: table.tasks.values().map(|task| task.info().to_string()).collect(),
        })
    }

    /// Forgets what ended long ago, and the oldest that ended when there are too many with `more` to come.
    fn forget(&self, table: &mut Table, now: SystemTime, more: usize) {
        let limits = &self.shared.limits;
        let ended = |task: &Arc<Task>| locked(&task.work).ended;
        let age = |at| now.duration_since(at).unwrap_or_default();
        table.tasks.retain(|_, task| ended(task).is_none_or(|at| age(at) < limits.age));
        while table.tasks.len() + more > limits.kept {
            let oldest =
                table.tasks.iter().find(|(_, task)| ended(task).is_some()).map(|(number, _)| *number);
            let Some(oldest) = oldest else { return };
            table.tasks.remove(&oldest);
        }
    }
}

impl Task {
    fn info(&self) -> TaskInfo {
        let work = locked(&self.work);
        let until = work.ended.unwrap_or_else(|| (self.clock)());
        TaskInfo {
            id: self.id.clone(),
            title: self.title.clone(),
            state: work.state.clone(),
            ran: until.duration_since(self.began).unwrap_or_default(),
            output: work.transcript.total(),
            log: work.transcript.log().map(ToOwned::to_owned),
        }
    }

    fn has(&self, until: Until) -> bool {
        let work = locked(&self.work);
        work.state.has_ended()
            || match until {
                Until::News { from } => work.transcript.total() > from,
                Until::End => false,
            }
    }

    fn change(&self, change: impl FnOnce(&mut Work)) {
        change(&mut locked(&self.work));
        self.changes.send_modify(|count| *count += 1);
    }
}

/// The highest number of a task whose log is in a folder.
fn last_number(folder: &SpillFolder) -> u64 {
    let number = |owner: &String| {
        let (kind, number) = owner.rsplit_once('-')?;
        let is_kind = !kind.is_empty() && kind.bytes().all(|letter| letter.is_ascii_lowercase());
        number.parse().ok().filter(|_| is_kind)
    };
    folder.owners().iter().filter_map(number).max().unwrap_or(0)
}

#[cfg(test)]
mod tests;
