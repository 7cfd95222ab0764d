//! Commands: the project is scanned before and after one, and what differs is what it changed.
//!
//! Commands may run at the same time, and longer than the run that began them. What a scan finds belongs to the command
//! that began last; what a tool changed meanwhile is not found again. Between runs, with only commands in the background,
//! it may as well be a person's: it is recorded as such.
//!
//! Promise: what a scan found is in the log before the scan is on disk. A process that is killed between the two finds it
//! once more, and what is recorded already is left out.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::beneath::{self, Root};
use super::differences::{differences, looks_at, without_recorded};
use super::history::History;
use super::log::{Change, Line, Locked};
use super::scan::{Entry, Scan, scan};
use super::state::{FileState, Name, State};
use super::{Inner, Live, Undo, UndoError, cache, lean};
use crate::entry::RunId;
use crate::files::Durability;

/// Where the last scan is kept.
const CACHE: &str = "scan";

/// What is known between scans.
#[derive(Default)]
pub(super) struct Watching {
    /// The last scan, with what tools changed since.
    base: Option<Scan>,
    /// Whether the scan on disk is older than that.
    unsaved: bool,
    active: Vec<Active>,
    /// Commands that the log has as running, of any process, and how far it was read for that.
    open: Vec<(RunId, String)>,
    read: u64,
}

/// A command that runs.
struct Active {
    run: RunId,
    call: String,
    /// Where the log was when it began.
    from: u64,
    /// Whether the run that began it has ended: it is in the background.
    outlived: bool,
}

/// What a command changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commanded {
    /// Files, links and folders, relative to the project.
    pub changed: Vec<PathBuf>,
    /// Those among them whose state before is not kept, so that they cannot be undone.
    pub not_kept: Vec<PathBuf>,
    /// Whether not all of the project could be looked at within the limits.
    pub incomplete: bool,
}

impl Undo {
    /// A command is about to run.
    ///
    /// # Errors
    /// When what it changes could not be undone. It must not run then.
    pub fn command_begins(&self, run: &RunId, call: &str) -> Result<(), UndoError> {
        let inner = &*self.inner;
        let mut live = inner.live();
        inner.wake(&mut live);
        inner.be_busy(&mut live)?;
        let run = live.current.clone().unwrap_or_else(|| run.clone());
        let time = (inner.clock)();
        let (changes, _) = inner.rescan(&mut live)?;
        let mut log = inner.locked(&mut live)?;
        inner.record_so_far(&mut live, &mut log, changes, false)?;
        // What a command begins with must be on disk first: it may be cut off together with this process.
        inner.save_scan(&mut live, &mut log)?;
        let mut lines: Vec<Line> = inner.introduced(&live, &run, time).into_iter().collect();
        lines.push(Line::Command { run: run.clone(), call: call.to_owned(), time });
        log.append(&lines, Durability::Lazy)?;
        live.known.insert(run.clone());
        let from = log.length();
        live.watching.active.push(Active { run, call: call.to_owned(), from, outlived: false });
        Ok(())
    }

    /// A command has ended, with all that it started.
    ///
    /// # Errors
    /// When what it changed cannot be recorded.
    pub fn command_ended(&self, call: &str) -> Result<Commanded, UndoError> {
        let inner = &*self.inner;
        let mut live = inner.live();
        let Some(at) = live.watching.active.iter().rposition(|active| active.call == call) else {
            return Ok(Commanded::default());
        };
        let perhaps = live.is_between_runs();
        let (changes, incomplete) = inner.rescan(&mut live)?;
        let active = live.watching.active.remove(at);
        let mut log = inner.locked(&mut live)?;
        let changes = without_recorded(changes, &log.since(active.from)?);
        let ended = Commanded {
            changed: changes.iter().map(|change| change.path.0.clone()).collect(),
            not_kept: changes
                .iter()
                .filter(|change| !inner.is_kept(&change.before))
                .map(|change| change.path.0.clone())
                .collect(),
            incomplete,
        };
        let time = (inner.clock)();
        let (run, call) = (active.run, active.call);
        let perhaps = perhaps && !changes.is_empty();
        let line = Line::Commanded { run, call, ended: true, perhaps, changes, time };
        let durability = if ended.changed.is_empty() { Durability::Lazy } else { Durability::Now };
        inner.record(&mut live, &mut log, &[line], durability)?;
        inner.save_scan(&mut live, &mut log)?;
        drop(log);
        if live.current.is_none() && live.watching.is_idle() {
            live.busy = None;
        }
        Ok(ended)
    }
}

impl Inner {
    /// Looks again. Answers what differs from the last look, and whether not everything could be looked at. What differs
    /// has to be recorded, and then the scan saved.
    fn rescan(&self, live: &mut Live) -> Result<(Vec<Change>, bool), UndoError> {
        let cached = self.folder.join(CACHE);
        // Without the file, another process made room: what was kept for it is gone, too.
        let base = live.watching.base.take().filter(|_| cached.exists());
        let before = base.or_else(|| cache::load(&cached));
        let (first, before) = (before.is_none(), before.unwrap_or_default());
        let outside = self.outside.as_deref();
        let now = self.nanoseconds();
        let Some(after) = scan(&self.root, &before, &self.blobs, &self.limits, outside, now) else {
            let incomplete = !before.complete;
            live.watching.base = Some(before);
            return Ok((Vec::new(), incomplete));
        };
        let changes = if live.watching.is_idle() || first {
            // Nobody's command ran: people and tools changed it.
            Vec::new()
        } else {
            differences(&self.root, &before, &after, self.limits.file)
        };
        let incomplete = !after.complete;
        live.watching.unsaved = true;
        live.watching.base = Some(after);
        Ok((changes, incomplete))
    }

    /// Writes the last scan down, for the case that this process is killed. As long as another process has a command
    /// running, the scan on disk is what that one began with, and stays.
    fn save_scan(&self, live: &mut Live, log: &mut Locked<'_>) -> Result<(), UndoError> {
        live.watching.catch_up(log)?;
        let cached = self.folder.join(CACHE);
        if !live.watching.unsaved || (live.watching.others_run() && cached.exists()) {
            return Ok(());
        }
        if let Some(base) = &live.watching.base {
            cache::save(&cached, base).map_err(UndoError::io("write", &cached))?;
        }
        live.watching.unsaved = false;
        Ok(())
    }

    /// The log, for what a scan found.
    fn locked(&self, live: &mut Live) -> Result<Locked<'_>, UndoError> {
        self.log.lock().inspect_err(|_| live.watching.base = None)
    }

    /// Appends lines. When they cannot be, what they tell has to be found again: by the scan on disk.
    fn record(
        &self,
        live: &mut Live,
        log: &mut Locked<'_>,
        lines: &[Line],
        durability: Durability,
    ) -> Result<(), UndoError> {
        let recorded = log.append(lines, durability);
        if recorded.is_err() {
            live.watching.base = None;
        }
        recorded
    }

    /// Records what commands that go on changed so far.
    fn record_so_far(
        &self,
        live: &mut Live,
        log: &mut Locked<'_>,
        changes: Vec<Change>,
        perhaps: bool,
    ) -> Result<(), UndoError> {
        let Some(from) = live.watching.active.last().map(|active| active.from) else { return Ok(()) };
        let changes = without_recorded(changes, &log.since(from)?);
        match live.watching.so_far(changes, perhaps, (self.clock)()) {
            Some(line) => self.record(live, log, &[line], Durability::Now),
            None => Ok(()),
        }
    }

    /// Records what running commands changed so far.
    pub(super) fn look_meanwhile(&self, live: &mut Live) -> Result<(), UndoError> {
        if live.watching.is_idle() {
            return Ok(());
        }
        let perhaps = live.is_between_runs();
        let (changes, _) = self.rescan(live)?;
        let mut log = self.locked(live)?;
        self.record_so_far(live, &mut log, changes, perhaps)?;
        self.save_scan(live, &mut log)
    }

    /// Records what commands changed whose process was killed. Nobody else may be at work.
    pub(super) fn recover(&self, live: &mut Live) -> Result<(), UndoError> {
        let lines = self.log.read()?;
        let History { commands: open, commands_since: began, .. } = History::of(&lines);
        let Some((last, others)) = open.split_last() else { return Ok(()) };
        // The scan on disk is what they began with. Without it nothing can be said.
        let changes = match cache::load(&self.folder.join(CACHE)) {
            None => Vec::new(),
            Some(scan) => {
                live.watching.base = Some(scan);
                let (run, call, _) = last.clone();
                live.watching.active.push(Active { run, call, from: 0, outlived: false });
                let looked = self.rescan(live);
                live.watching.active.pop();
                looked?.0
            }
        };
        let changes = without_recorded(changes, lines.get(began..).unwrap_or_default());
        let time = (self.clock)();
        let ended = |(run, call, _): &(RunId, String, usize), changes| Line::Commanded {
            run: run.clone(),
            call: call.clone(),
            ended: true,
            perhaps: false,
            changes,
            time,
        };
        let mut lines: Vec<Line> = others.iter().map(|open| ended(open, Vec::new())).collect();
        lines.push(ended(last, changes));
        let mut log = self.locked(live)?;
        self.record(live, &mut log, &lines, Durability::Now)?;
        self.save_scan(live, &mut log)
    }

    /// Whether a state can be restored.
    pub(super) fn is_kept(&self, state: &State) -> bool {
        match state {
            State::File(FileState { hash: Some(hash), .. }) => self.blobs.is_there(hash),
            State::File(_) | State::Other => false,
            State::Absent | State::Link { .. } | State::Folder { .. } => true,
        }
    }
}

impl Watching {
    pub(super) fn is_idle(&self) -> bool {
        self.active.is_empty()
    }

    /// Whether all commands that run are in the background.
    pub(super) fn all_outlived(&self) -> bool {
        self.active.iter().all(|active| active.outlived)
    }

    /// The run that began the commands has ended.
    pub(super) fn outlive(&mut self) {
        self.active.iter_mut().for_each(|active| active.outlived = true);
    }

    /// Reads on which commands run, also those of other processes.
    fn catch_up(&mut self, log: &mut Locked<'_>) -> Result<(), UndoError> {
        if self.read > log.length() {
            // It was pruned, for which nobody may be at work.
            self.open.clear();
        }
        for line in log.since(self.read)? {
            match line {
                Line::Command { run, call, .. } => self.open.push((run, call)),
                Line::Commanded { run, call, ended: true, .. } => {
                    self.open.retain(|(of, open)| (of, open) != (&run, &call));
                }
                _ => {}
            }
        }
        self.read = log.length();
        Ok(())
    }

    /// Whether a command of another process runs, as far as the log was read.
    fn others_run(&self) -> bool {
        let mine = |run: &RunId, call: &str| {
            self.active.iter().any(|active| active.run == *run && active.call == call)
        };
        self.open.iter().any(|(run, call)| !mine(run, call))
    }

    /// The line for what was changed while commands go on.
    fn so_far(&self, changes: Vec<Change>, perhaps: bool, time: Timestamp) -> Option<Line> {
        let last = self.active.last().filter(|_| !changes.is_empty());
        last.map(|Active { run, call, .. }| Line::Commanded {
            run: run.clone(),
            call: call.clone(),
            ended: false,
            perhaps,
            changes,
            time,
        })
    }

    /// A tool is about to change a file. When a command that runs changed it first, and nobody recorded that, it is told.
    pub(super) fn other_change(
        &mut self,
        path: &Path,
        found: &State,
        log: &mut Locked<'_>,
        time: Timestamp,
    ) -> Result<Option<Line>, UndoError> {
        let Some(from) = self.active.last().map(|active| active.from) else { return Ok(None) };
        let Some(base) = self.base.as_ref().filter(|base| looks_at(base, path)) else { return Ok(None) };
        let before = match base.entries.get(path.as_os_str()) {
            Some(entry) => entry.state.clone(),
            None if base.complete => State::Absent,
            None => return Ok(None),
        };
        if before.fits(found) {
            return Ok(None);
        }
        let change = Change { path: Name::from(path), before: lean(before), after: found.clone() };
        let changes = without_recorded(vec![change], &log.since(from)?);
        Ok(self.so_far(changes, false, time))
    }

    /// A path has a new state that is on record, so the next scan need not find it.
    pub(super) fn note(&mut self, root: &Root, path: &Path, state: &State, now: i64) {
        let Some(base) = self.base.as_mut().filter(|base| looks_at(base, path)) else { return };
        self.unsaved = true;
        for folder in path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
            if !base.entries.contains_key(folder.as_os_str())
                && let Ok(Some(facts)) = root.stat(folder)
            {
                let state = State::Folder { mode: Some(beneath::mode(&facts)) };
                base.entries.insert(folder.as_os_str().to_owned(), entry(state, now));
            }
        }
        if *state == State::Absent {
            base.entries.remove(path.as_os_str());
        } else {
            base.entries.insert(path.as_os_str().to_owned(), entry(state.clone(), now));
        }
    }
}

/// A state as the next scan will find it. It was written just now, so its stamp is not trusted.
fn entry(state: State, _now: i64) -> Entry {
    let stamp = if let State::File(file) = &state { file.stamp } else { None };
    let racy = matches!(state, State::File(_));
    Entry { state, stamp, racy, hurried: false, ignored: false }
}
