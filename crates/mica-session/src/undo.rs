//! Undo and redo of what is changed in the files of a project.
//!
//! Promises: a change is on record before it is made, so that a process that is killed at any instant leaves nothing that
//! cannot be taken back. Every run is a checkpoint: its files go back to what they were before it, with those that
//! changed since. What somebody else changed is not overwritten unless that is asked for, and even then it is kept. Undoing
//! is a change as well, so it can be taken back. Nothing outside of the project is touched, and no link is followed.
//!
//! One store for each project, beside the sessions: a log of changes ([`log`]), contents by hash, and the last scan of the
//! project, which is how changes of commands are found. Several processes may use it at once. `docs/undo.md` has the
//! files and the limits.

mod beneath;
mod blobs;
mod cache;
mod deed;
mod differences;
mod error;
mod folders;
mod history;
mod log;
mod prune;
mod restore;
mod scan;
mod state;
mod watch;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use crate::entry::RunId;
use crate::files::{self, Durability, Worth};
use crate::id::EntryId;
use crate::session::Clock;
use beneath::Root;
use blobs::Blobs;
use history::History;
use log::{Line, Log};
use watch::Watching;

pub use error::UndoError;
pub use history::Run;
pub use log::{Change, Way};
pub use prune::{Pruned, UndoRetention, prune_all};
pub use restore::{Conflict, Done, Lost, OnConflict, Plan, Step};
pub use scan::ScanLimits;
pub use state::{ContentHash, FileState, Name, Stamp, State};
pub use watch::Commanded;

/// Bytes of a file whose present content is kept when it is restored. Larger ones can be undone, and not redone.
const KEEP_PRESENT: u64 = 64 << 20;

/// Characters of a prompt that are kept to tell runs apart.
const WORDS: usize = 80;

/// What can be undone in one project. Clones are handles to the same.
#[derive(Clone)]
pub struct Undo {
    inner: Arc<Inner>,
}

struct Inner {
    root: Root,
    folder: PathBuf,
    /// A folder below the project that is none of its business: the program's own data.
    outside: Option<PathBuf>,
    log: Log,
    blobs: Blobs,
    clock: Clock,
    limits: ScanLimits,
    state: Mutex<Live>,
}

/// What this process knows beyond what is on disk.
#[derive(Default)]
struct Live {
    /// Whether it was looked for what a killed process left.
    awake: bool,
    /// Runs that the log has.
    known: HashSet<RunId>,
    /// What the next run is about.
    session: Option<String>,
    words: Option<String>,
    /// The run that all changes belong to, also those of runs that it began.
    current: Option<RunId>,
    /// Changes that were announced: by call and path.
    announced: HashMap<(String, PathBuf), EntryId>,
    watching: Watching,
    /// Says to other processes that a run is going on.
    busy: Option<File>,
}

/// A change that a tool is about to make.
#[derive(Debug, Clone, Copy)]
pub struct Announced<'a> {
    /// The run.
    pub run: &'a RunId,
    /// The call.
    pub call: &'a str,
    /// The file.
    pub path: &'a Path,
    /// Its bytes. `None`: there is no file.
    pub before: Option<&'a [u8]>,
    /// The hash of its bytes then.
    pub after: ContentHash,
}

impl Undo {
    /// The undo store of a project, below `folder`. Nothing is made before something changes.
    ///
    /// # Errors
    /// When the project is no folder.
    pub fn new(
        folder: &Path,
        project: &Path,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
    ) -> Result<Self, UndoError> {
        let root = Root::new(project).map_err(UndoError::io("open", project))?;
        // As far as it is there, as the system spells it: otherwise it would not be known again in a scan.
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let data = real.parent().unwrap_or(&real);
        let outside = [data, &real].into_iter().find(|at| at.starts_with(root.path()) && *at != root.path());
        let outside = outside.map(Path::to_owned);
        let folder = folder.join(crate::paths::project_key(root.path()));
        Ok(Self {
            inner: Arc::new(Inner {
                outside,
                log: Log::new(folder.join("log.jsonl"), root.path()),
                blobs: Blobs::new(folder.join("contents")),
                root,
                folder,
                clock: Arc::new(clock),
                limits: ScanLimits::default(),
                state: Mutex::default(),
            }),
        })
    }

    /// The same with other limits. For before it is used.
    #[must_use]
    pub fn with_limits(self, limits: ScanLimits) -> Self {
        let Inner { root, folder, outside, log, blobs, clock, .. } = &*self.inner;
        Self {
            inner: Arc::new(Inner {
                root: root.clone(),
                folder: folder.clone(),
                outside: outside.clone(),
                log: log.clone(),
                blobs: blobs.clone(),
                clock: Arc::clone(clock),
                limits,
                state: Mutex::default(),
            }),
        }
    }

    /// The project.
    pub fn project(&self) -> &Path {
        self.inner.root.path()
    }

    /// Says what the runs that follow belong to: the session, and the prompt, of which the first words are kept.
    pub fn about(&self, session: Option<&str>, prompt: Option<&str>) {
        let mut live = self.inner.live();
        live.session = session.map(str::to_owned);
        let words = prompt.map(|prompt| prompt.split_whitespace().collect::<Vec<_>>().join(" "));
        live.words = words.map(|words| words.chars().take(WORDS).collect());
    }

    /// A run begins. Changes belong to it until it ends, also those of runs that it begins itself. While commands go on
    /// in the background, the project is looked through first: what changed between the runs may be somebody else's.
    pub fn run_begins(&self, run: &RunId) {
        let mut live = self.inner.live();
        if live.current.is_none() {
            // What cannot be recorded now is found by the next look.
            let _ = self.inner.look_meanwhile(&mut live);
            live.current = Some(run.clone());
        }
    }

    /// A run has ended. What commands that go on changed so far is recorded.
    ///
    /// # Errors
    /// When it cannot be.
    pub fn run_ended(&self, run: &RunId) -> Result<(), UndoError> {
        let mut live = self.inner.live();
        if live.current.as_ref().is_some_and(|current| current != run) {
            return Ok(());
        }
        live.announced.clear();
        // What is found now was changed during the run.
        let looked = self.inner.look_meanwhile(&mut live);
        live.current = None;
        live.watching.outlive();
        if live.watching.is_idle() {
            live.busy = None;
        }
        looked
    }

    /// A tool is about to change a file. When this returns, the change can be undone, whatever happens next.
    ///
    /// # Errors
    /// When that cannot be promised. The change must not be made then.
    pub fn changing(&self, change: Announced<'_>) -> Result<(), UndoError> {
        let inner = &*self.inner;
        let path = inner.relative(change.path)?;
        let mut live = inner.live();
        inner.wake(&mut live);
        inner.be_busy(&mut live)?;
        let before = match change.before {
            None => State::Absent,
            Some(bytes) => {
                let hash = ContentHash::of(bytes);
                inner
                    .blobs
                    .keep(&hash, bytes, Worth::Bytes)
                    .map_err(UndoError::io("keep what was in", &path))?;
                let facts = inner.root.stat(&path).map_err(UndoError::io("look at", &path))?;
                let mode = facts.as_ref().map(beneath::mode);
                State::File(FileState { hash: Some(hash), size: bytes.len() as u64, mode, stamp: None })
            }
        };
        let mode = if let State::File(file) = &before { file.mode } else { None };
        let after = FileState { hash: Some(change.after), size: 0, mode, stamp: None };
        let folders = inner.missing_folders(&path)?;
        let run = live.current.clone().unwrap_or_else(|| change.run.clone());
        let time = (inner.clock)();
        let id = EntryId::fresh(time);
        let mut log = inner.log.lock()?;
        let mut lines: Vec<Line> =
            live.watching.other_change(&path, &before, &mut log, time)?.into_iter().collect();
        lines.extend(inner.introduced(&live, &run, time));
        lines.push(Line::Changing {
            id,
            run: run.clone(),
            call: change.call.to_owned(),
            change: Change { path: Name::from(path.as_path()), before, after: State::File(after) },
            folders: folders.iter().map(|folder| Name::from(folder.as_path())).collect(),
            time,
        });
        log.append(&lines, Durability::Now)?;
        live.known.insert(run);
        live.announced.insert((change.call.to_owned(), path), id);
        Ok(())
    }

    /// A tool changed the file that it announced.
    ///
    /// # Errors
    /// When that cannot be written down. The change can be undone all the same: it was announced.
    pub fn changed(&self, call: &str, path: &Path) -> Result<(), UndoError> {
        let inner = &*self.inner;
        let path = inner.relative(path)?;
        let mut live = inner.live();
        let Some(id) = live.announced.remove(&(call.to_owned(), path.clone())) else { return Ok(()) };
        let (after, bytes) = inner.root.look(&path, KEEP_PRESENT).map_err(UndoError::io("look at", &path))?;
        // Kept so that a conflict can be shown; what undoing needs is kept when it is undone.
        if let (State::File(FileState { hash: Some(hash), .. }), Some(bytes)) = (&after, bytes) {
            let _ = inner.blobs.keep(hash, &bytes, Worth::Cache);
        }
        live.watching.note(&inner.root, &path, &after, inner.nanoseconds());
        inner.log.lock()?.append(&[Line::Changed { id, after: lean(after) }], Durability::Lazy)
    }

    /// The runs that changed files, the newest first.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn runs(&self) -> Result<Vec<Run>, UndoError> {
        let history = self.history()?;
        Ok(history.runs.into_iter().rev().filter(|run| !run.changes.is_empty()).collect())
    }

    /// What was restored since a time, each time with the paths: for those who think they know the files.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn restored_since(&self, time: Timestamp) -> Result<Vec<(Timestamp, Way, Vec<PathBuf>)>, UndoError> {
        let operations = History::of(&self.inner.log.read()?).operations.into_iter();
        let since = operations.filter(|operation| operation.time > time);
        Ok(since
            .map(|operation| {
                let paths = operation.changes.into_iter().map(|change| change.path.0).collect();
                (operation.time, operation.way, paths)
            })
            .collect())
    }

    /// What a recorded file had in it, when it was kept.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn content(&self, state: &State) -> Result<Option<Vec<u8>>, UndoError> {
        match state {
            State::File(FileState { hash: Some(hash), .. }) => {
                self.inner.blobs.read(hash).map_err(UndoError::io("read", &self.inner.folder))
            }
            _ => Ok(None),
        }
    }

    fn history(&self) -> Result<History, UndoError> {
        let mut live = self.inner.live();
        self.inner.wake(&mut live);
        Ok(History::of(&self.inner.log.read()?))
    }
}

impl Live {
    /// Whether no run goes on, and no command but those that outlived theirs.
    fn is_between_runs(&self) -> bool {
        self.current.is_none() && self.watching.all_outlived()
    }
}

impl Inner {
    /// A panic elsewhere cannot leave it half changed in a way that matters: the log is the truth.
    fn live(&self) -> MutexGuard<'_, Live> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn relative(&self, path: &Path) -> Result<PathBuf, UndoError> {
        let outside = || UndoError::Outside { path: path.to_owned(), root: self.root.path().to_owned() };
        self.root.relative(path).ok_or_else(outside)
    }

    fn nanoseconds(&self) -> i64 {
        i64::try_from((self.clock)().as_nanosecond()).unwrap_or(i64::MAX)
    }

    /// The line that introduces a run, when the log has none.
    fn introduced(&self, live: &Live, run: &RunId, time: Timestamp) -> Option<Line> {
        (!live.known.contains(run)).then(|| Line::Run {
            run: run.clone(),
            session: live.session.clone(),
            words: live.words.clone(),
            time,
        })
    }

    /// The folders that a file needs and that are not there, from the top.
    fn missing_folders(&self, path: &Path) -> Result<Vec<PathBuf>, UndoError> {
        let mut missing = Vec::new();
        let above = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        for folder in above {
            if self.root.stat(folder).map_err(UndoError::io("look at", folder))?.is_some() {
                break;
            }
            missing.push(folder.to_owned());
        }
        missing.reverse();
        Ok(missing)
    }

    fn busy_file(&self) -> Result<File, UndoError> {
        files::make_folder(&self.folder).map_err(UndoError::io("make", &self.folder))?;
        let path = self.folder.join("busy.lock");
        files::open_lock(&path).map_err(UndoError::io("make the lock", &path))
    }

    /// Says that a run is going on. Waits while another process restores or prunes, which takes moments.
    fn be_busy(&self, live: &mut Live) -> Result<(), UndoError> {
        if live.busy.is_none() {
            let file = self.busy_file()?;
            file.lock_shared().map_err(UndoError::io("lock", &self.folder))?;
            live.busy = Some(file);
        }
        Ok(())
    }

    /// Makes sure that no other process runs anything here, for as long as the answer lives.
    fn alone(&self, live: &mut Live) -> Result<File, UndoError> {
        live.busy = None;
        let file = self.busy_file()?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(std::fs::TryLockError::WouldBlock) => Err(UndoError::Busy),
            Err(std::fs::TryLockError::Error(source)) => Err(UndoError::io("lock", &self.folder)(source)),
        }
    }

    /// Once in a process: records what commands changed that were cut off together with their process. When another
    /// process works here, they may be its own, and are left alone.
    fn wake(&self, live: &mut Live) {
        if live.awake || live.busy.is_some() || !self.log.path().exists() {
            return;
        }
        let Ok(_alone) = self.alone(live) else { return };
        live.awake = true;
        // What cannot be recorded now is tried again by the next process.
        let _ = self.recover(live);
    }
}

/// A state as the log keeps it: bytes that have a hash need no stamp.
fn lean(state: State) -> State {
    match state {
        State::File(file) if file.hash.is_some() => State::File(FileState { stamp: None, ..file }),
        other => other,
    }
}

#[cfg(test)]
mod tests;
