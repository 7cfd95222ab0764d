//! Before restoring: what would be done, and what stands against it. Nothing is changed here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, OFlags};

use super::history::{History, Operation, Run, Target, is_meant};
use super::log::{Change, Way};
use super::state::{Name, State};
use super::{KEEP_PRESENT, Undo, UndoError};
use crate::entry::RunId;
use crate::id::EntryId;

/// Entries of a folder that is in the way which are looked at.
const IN_THE_WAY: usize = 10_000;

/// One path that is restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Relative to the project.
    pub path: Name,
    /// What is there now.
    pub from: State,
    /// What will be there.
    pub to: State,
    /// Whether somebody else changed it between recorded changes, so that this is taken back as well.
    pub between: bool,
}

/// A path that somebody else changed since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// What would be done.
    pub step: Step,
    /// What the last recorded change left there.
    pub left: State,
    /// It cannot be done at all: something that cannot be kept would be lost.
    pub blocked: bool,
}

impl Conflict {
    fn new(step: Step, left: State) -> Self {
        let blocked = cannot_be_kept(&step.from);
        Self { step, left, blocked }
    }
}

/// Whether what is there now would be lost: it is no file, too large, or nobody may read it.
fn cannot_be_kept(now: &State) -> bool {
    match now {
        State::File(file) => file.hash.is_none(),
        State::Other => true,
        State::Absent | State::Link { .. } | State::Folder { .. } => false,
    }
}

/// A path that cannot be restored, because what it was is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Relative to the project.
    pub path: Name,
    /// What it was.
    pub was: State,
}

/// What a restore would do.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Which way.
    pub way: Way,
    /// The runs that are taken back, or come back, oldest first.
    pub runs: Vec<Run>,
    /// What would be done.
    pub steps: Vec<Step>,
    /// What stands against it.
    pub conflicts: Vec<Conflict>,
    /// What cannot be done.
    pub lost: Vec<Lost>,
    /// Whether it finishes a restore that was cut off.
    pub continues: bool,
    pub(super) undid: Vec<RunId>,
    pub(super) to: Option<RunId>,
    pub(super) redoes: Option<EntryId>,
    pub(super) operation: Option<EntryId>,
    /// How long the log was.
    pub(super) place: u64,
}

/// What to do about files that somebody else changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnConflict {
    /// Nothing at all is done.
    #[default]
    Refuse,
    /// They stay as they are, and the others are restored.
    Skip,
    /// They are restored as well. What they are now is kept, and comes back with redo.
    Force,
}

/// What was done.
#[derive(Debug, Clone)]
pub struct Done {
    /// What was restored.
    pub restored: Vec<Step>,
    /// Conflicts that were left alone.
    pub skipped: Vec<Conflict>,
    /// Folders that stay because something else is in them.
    pub folders: Vec<PathBuf>,
    /// Files that were too large to keep as they were, so that they do not come back with redo.
    pub for_good: Vec<PathBuf>,
}

/// What was found out about paths.
#[derive(Default)]
struct Assessed {
    steps: Vec<Step>,
    conflicts: Vec<Conflict>,
    lost: Vec<Lost>,
}

impl Assessed {
    fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.conflicts.is_empty() && self.lost.is_empty()
    }
}

impl Undo {
    /// What undoing would do: the state before a run, or before the last run that changed something. Only for these
    /// files and what is below these folders, when any are named.
    ///
    /// # Errors
    /// No such run, nothing to undo, or files that cannot be read.
    pub fn plan_undo(&self, run: Option<&str>, files: &[PathBuf]) -> Result<Plan, UndoError> {
        let (history, place, files) = self.prepared(files)?;
        if let Some(operation) = &history.unfinished {
            return Ok(self.continued(&history, operation, place));
        }
        let lines: Vec<usize> = match run {
            Some(given) => match history.matching(given)[..] {
                [run] => vec![run.line],
                [] => return Err(UndoError::NoRun { given: given.to_owned() }),
                ref several => {
                    return Err(UndoError::Ambiguous { given: given.to_owned(), count: several.len() });
                }
            },
            None => history.done.iter().rev().filter_map(|run| history.line_of(run)).collect(),
        };
        let mut not_kept = None;
        for line in &lines {
            let mut targets = history.since(*line, &files);
            if run.is_none() && !files.is_empty() {
                targets.retain(|path, _| history.stands_at(path).is_none_or(|at| at > *line));
            }
            let found = self.assess(targets);
            if found.is_empty() {
                continue;
            }
            let runs = history.in_force_since(*line);
            // A part of a run that is taken back leaves the run in force.
            let undid = if files.is_empty() { runs.clone() } else { Vec::new() };
            let can = !found.steps.is_empty() || !found.conflicts.is_empty();
            let mut plan = plan(Way::Undo, &history, &runs, undid, None, found, place);
            plan.to = history.runs.iter().find(|run| run.line == *line).map(|run| run.id.clone());
            if can || run.is_some() {
                return Ok(plan);
            }
            // Nothing of it is kept: it does not bar the way to what is. An older point tells it as well.
            not_kept.get_or_insert(plan);
        }
        if let Some(plan) = not_kept {
            return Ok(plan);
        }
        Err(UndoError::Nothing(
            match (run, files.is_empty()) {
                (Some(_), _) => "there is nothing to undo: these files are what they were before that run",
                (None, true) => {
                    "there is nothing to undo: no run changed files that are not what they were before"
                }
                (None, false) => "there is nothing to undo: no run changed these files",
            }
            .to_owned(),
        ))
    }

    /// What redoing would do: the state before the last undo.
    ///
    /// # Errors
    /// Nothing to redo, or files that cannot be read.
    pub fn plan_redo(&self, files: &[PathBuf]) -> Result<Plan, UndoError> {
        let (history, place, files) = self.prepared(files)?;
        if let Some(operation) = &history.unfinished {
            return Ok(self.continued(&history, operation, place));
        }
        for undo in history.undone.iter().rev() {
            let mut targets = history.since(undo.line, &files);
            // What a command in the background wrote since is not what was undone.
            targets.retain(|path, _| history.was_restored_since(undo.line, path));
            let found = self.assess(targets);
            if found.is_empty() {
                continue;
            }
            let redoes = files.is_empty().then_some(undo.id);
            return Ok(plan(Way::Redo, &history, &undo.undid, Vec::new(), redoes, found, place));
        }
        Err(UndoError::Nothing(
            "there is nothing to redo: nothing was undone since the last run that changed files".to_owned(),
        ))
    }

    /// The history, how long the log is, and the files by their names in it.
    fn prepared(&self, files: &[PathBuf]) -> Result<(History, u64, Vec<Name>), UndoError> {
        let inner = &*self.inner;
        let named = files.iter().map(|file| inner.relative(file).map(Name));
        let files = named.collect::<Result<Vec<Name>, UndoError>>()?;
        let mut live = inner.live();
        inner.wake(&mut live);
        inner.look_meanwhile(&mut live)?;
        if !inner.log.path().exists() {
            return Ok((History::default(), 0, files));
        }
        let mut log = inner.log.lock()?;
        let history = History::of(&log.since(0)?);
        for file in &files {
            let touched = history.runs.iter().flat_map(|run| &run.changes);
            let mut touched = touched.map(|change| change.path.path());
            if !touched.any(|path| is_meant(path, std::slice::from_ref(file))) {
                return Err(UndoError::Nothing(format!(
                    "no run changed {file}: there is nothing to restore"
                )));
            }
        }
        Ok((history, log.length(), files))
    }

    /// The rest of a restore that was cut off.
    fn continued(&self, history: &History, operation: &Operation, place: u64) -> Plan {
        let mut found = Assessed::default();
        for Change { path, before, after } in &operation.changes {
            let now = self.look(path);
            if !after.differs(&now) {
                continue;
            }
            let step = Step { path: path.clone(), from: now, to: after.clone(), between: false };
            // A folder that gives way to a file is gone for a moment.
            let halfway =
                step.from == State::Absent && !matches!((before, after), (State::File(_), State::File(_)));
            if before.fits(&step.from) || halfway {
                found.steps.push(step);
            } else {
                found.conflicts.push(Conflict::new(step, before.clone()));
            }
        }
        self.find_what_is_in_the_way(&mut found);
        let mut plan = plan(operation.way, history, &operation.undid, Vec::new(), None, found, place);
        (plan.continues, plan.operation) = (true, Some(operation.id));
        plan
    }

    /// What is there. One path that cannot be looked at must not end the rest: it is something that cannot be kept.
    pub(super) fn look(&self, path: &Name) -> State {
        let looked = self.inner.root.look(path.path(), KEEP_PRESENT);
        looked.map_or(State::Other, |(state, _)| state)
    }

    fn assess(&self, targets: BTreeMap<Name, Target>) -> Assessed {
        let mut found = Assessed::default();
        for (path, Target { to, left, between }) in targets {
            let now = self.look(&path);
            if !to.differs(&now) {
                continue;
            }
            if !self.inner.is_kept(&to) {
                found.lost.push(Lost { path, was: to });
                continue;
            }
            let fits = left.iter().any(|left| left.fits(&now));
            let other = now == State::Other;
            let step = Step { path, from: now, to, between };
            if fits && !other {
                found.steps.push(step);
            } else {
                let left = left.into_iter().next().unwrap_or(State::Absent);
                found.conflicts.push(Conflict::new(step, left));
            }
        }
        self.find_what_is_in_the_way(&mut found);
        found
    }

    /// Makes conflicts of steps that would need somebody else's file or folder out of the way. Those that would lose
    /// something of theirs are blocked, and so are conflicts that would if they were forced.
    fn find_what_is_in_the_way(&self, found: &mut Assessed) {
        let mut planned: BTreeMap<Name, State> =
            found.steps.iter().map(|step| (step.path.clone(), step.to.clone())).collect();
        let mut clear = Vec::new();
        for step in std::mem::take(&mut found.steps) {
            match self.is_in_the_way(&step, &planned) {
                None => clear.push(step),
                Some(blocked) => {
                    let left = step.from.clone();
                    found.conflicts.push(Conflict { step, left, blocked });
                }
            }
        }
        found.steps = clear;
        let forced = found.conflicts.iter().map(|Conflict { step, .. }| (step.path.clone(), step.to.clone()));
        planned.extend(forced);
        for conflict in &mut found.conflicts {
            conflict.blocked |= self.is_in_the_way(&conflict.step, &planned) == Some(true);
        }
    }

    /// Whether something is in the way of a step that is not about to go, and whether it would be lost.
    fn is_in_the_way(&self, step: &Step, planned: &BTreeMap<Name, State>) -> Option<bool> {
        if step.to == State::Absent {
            return None;
        }
        let is_folder = |state: &State| matches!(state, State::Folder { .. });
        if is_folder(&step.from) && !is_folder(&step.to) && self.holds_others(step.path.path(), planned) {
            return Some(true);
        }
        let others = above(step.path.path()).map(Name::from).filter(|folder| !planned.contains_key(folder));
        let others = others.map(|folder| self.look(&folder));
        others
            .filter(|state| !is_folder(state) && *state != State::Absent)
            .map(|state| cannot_be_kept(&state))
            .reduce(|one, other| one || other)
    }

    /// Whether there is something in a folder that is not about to be removed, or may be.
    fn holds_others(&self, folder: &Path, planned: &BTreeMap<Name, State>) -> bool {
        let mut open = vec![folder.to_owned()];
        let mut seen = 0;
        while let Some(folder) = open.pop() {
            let listing = self
                .inner
                .root
                .open(&folder, OFlags::RDONLY | OFlags::DIRECTORY)
                .and_then(|folder| Dir::read_from(&folder));
            let Ok(listing) = listing else { return true };
            for entry in listing.flatten() {
                use std::os::unix::ffi::OsStrExt;
                let name = std::ffi::OsStr::from_bytes(entry.file_name().to_bytes());
                if name == "." || name == ".." {
                    continue;
                }
                let path = folder.join(name);
                seen += 1;
                if planned.get(&Name::from(path.as_path())) != Some(&State::Absent) || seen > IN_THE_WAY {
                    return true;
                }
                if matches!(self.look(&Name::from(path.as_path())), State::Folder { .. }) {
                    open.push(path);
                }
            }
        }
        false
    }
}

fn plan(
    way: Way,
    history: &History,
    runs: &[RunId],
    undid: Vec<RunId>,
    redoes: Option<EntryId>,
    found: Assessed,
    place: u64,
) -> Plan {
    let runs = history.runs.iter().filter(|run| runs.contains(&run.id)).cloned().collect();
    let Assessed { steps, conflicts, lost } = found;
    Plan {
        way,
        runs,
        steps,
        conflicts,
        lost,
        continues: false,
        undid,
        to: None,
        redoes,
        operation: None,
        place,
    }
}

/// The folders above a path, below the project.
pub(super) fn above(path: &Path) -> impl Iterator<Item = &Path> {
    path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty())
}
