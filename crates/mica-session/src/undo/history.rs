//! From the lines of a log to what can be undone and redone. Pure: it looks at no disk.
//!
//! Everything comes down to one thing: restoring the state at a place in the log. For each path that changed since, that
//! is what the first change since found there. So it does not matter how often things were undone and redone between.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use jiff::Timestamp;

use super::folders;
use super::log::{Change, Line, Way};
use super::state::{Name, State};
use crate::entry::RunId;
use crate::id::EntryId;

/// A run that changed files, or may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// The session it belongs to.
    pub session: Option<String>,
    /// The first words of its prompt.
    pub words: Option<String>,
    /// When it first changed something.
    pub time: Timestamp,
    /// What it changed, from what to what, by path.
    pub changes: Vec<Change>,
    /// Whether it is undone.
    pub undone: bool,
    /// Where it begins in the log.
    pub(crate) line: usize,
}

impl Run {
    /// Whether a text names it: by all of it, by its beginning, or by four or more characters of its end.
    pub fn answers_to(&self, given: &str) -> bool {
        let (id, given) = (self.id.as_str(), given.trim());
        !given.is_empty() && (id.starts_with(given) || (given.len() >= 4 && id.ends_with(given)))
    }

    /// The end of its id.
    pub fn short(&self) -> &str {
        let id = self.id.as_str();
        id.len().checked_sub(8).and_then(|at| id.get(at..)).unwrap_or(id)
    }
}

/// A change with where it is.
#[derive(Debug, Clone)]
struct Step {
    line: usize,
    change: Change,
    /// Whether it is known to have been made.
    certain: bool,
    /// Whether it may have been somebody else's.
    perhaps: bool,
}

/// An undo or redo.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) id: EntryId,
    pub(crate) way: Way,
    pub(crate) undid: Vec<RunId>,
    /// The run before which it restored.
    pub(crate) to: Option<RunId>,
    pub(crate) redoes: Option<EntryId>,
    pub(crate) changes: Vec<Change>,
    pub(crate) line: usize,
    pub(crate) time: Timestamp,
}

/// What a path comes to when a place in the log is restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// What it had there.
    pub(crate) to: State,
    /// What it may be now when nobody else touched it, the likeliest first.
    pub(crate) left: Vec<State>,
    /// Whether somebody else changed it between recorded changes.
    pub(crate) between: bool,
}

/// What a log says.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Runs in the order of their first change.
    pub(crate) runs: Vec<Run>,
    steps: Vec<Step>,
    /// Runs in force, oldest first.
    pub(crate) done: Vec<RunId>,
    /// Undos that can be redone, the last one last.
    pub(crate) undone: Vec<Operation>,
    /// All undos and redos.
    pub(crate) operations: Vec<Operation>,
    /// An undo or redo that was not finished, with nothing after it.
    pub(crate) unfinished: Option<Operation>,
    /// Commands that were begun and have not ended: run, call and line.
    pub(crate) commands: Vec<(RunId, String, usize)>,
    /// The line since which there was always one of them. The scan on disk is not older.
    pub(crate) commands_since: usize,
}

impl History {
    pub(crate) fn of(lines: &[Line]) -> Self {
        let mut history = Self::default();
        let mut known: HashMap<&RunId, (usize, &Line)> = HashMap::new();
        let mut announced: HashMap<EntryId, (std::ops::RangeInclusive<usize>, &RunId)> = HashMap::new();
        for (number, line) in lines.iter().enumerate() {
            match line {
                Line::Run { run, .. } => {
                    known.entry(run).or_insert((number, line));
                }
                Line::Changing { id, run, change, folders, time, .. } => {
                    history.ran(run, number, *time, &known);
                    let made = State::Folder { mode: None };
                    for folder in folders {
                        let change =
                            Change { path: folder.clone(), before: State::Absent, after: made.clone() };
                        history.steps.push(Step { line: number, change, certain: false, perhaps: false });
                    }
                    let at = history.steps.len();
                    announced.insert(*id, (at - folders.len()..=at, run));
                    history.announced(number, change);
                    history.unfinished = None;
                }
                Line::Changed { id, after } => {
                    let Some((at, run)) = announced.remove(id) else { continue };
                    // It may have been undone meanwhile by a hand that was quicker; then it is in force again.
                    history.in_force(run);
                    history.undone.clear();
                    let last = *at.end();
                    for step in history.steps.get_mut(at).unwrap_or_default() {
                        step.certain = true;
                    }
                    if let Some(step) = history.steps.get_mut(last) {
                        step.change.after = after.clone();
                    }
                }
                Line::Command { run, call, .. } => {
                    if history.commands.is_empty() {
                        history.commands_since = number;
                    }
                    history.commands.push((run.clone(), call.clone(), number));
                }
                Line::Commanded { run, call, ended, perhaps, changes, time } => {
                    if *ended {
                        history.commands.retain(|(of, open, _)| (of, open) != (run, call));
                    }
                    if changes.is_empty() {
                        continue;
                    }
                    history.ran(run, number, *time, &known);
                    // What may be somebody else's decides nothing; it stands against restoring what it touched.
                    if !perhaps {
                        history.in_force(run);
                        history.end_redo(run, changes);
                        history.unfinished = None;
                    }
                    history.steps.extend(changes.iter().map(|change| Step {
                        line: number,
                        change: change.clone(),
                        certain: true,
                        perhaps: *perhaps,
                    }));
                }
                Line::Restoring { id, way, undid, to, redoes, changes, time } => {
                    let operation = Operation {
                        id: *id,
                        way: *way,
                        undid: undid.clone(),
                        to: to.clone(),
                        redoes: *redoes,
                        changes: changes.clone(),
                        line: number,
                        time: *time,
                    };
                    history.restored(&operation);
                    for change in changes {
                        history.announced(number, change);
                    }
                    history.operations.push(operation.clone());
                    history.unfinished = Some(operation);
                }
                Line::Restored { id } => {
                    if let Some(operation) = history.unfinished.take_if(|open| open.id == *id) {
                        let made = |step: &&mut Step| step.line == operation.line;
                        history.steps.iter_mut().filter(made).for_each(|step| step.certain = true);
                    }
                }
                Line::Undo { .. } | Line::Unknown => {}
            }
        }
        history.sum_up(lines);
        history
    }

    /// A run is about to change something.
    fn ran(&mut self, run: &RunId, number: usize, time: Timestamp, known: &HashMap<&RunId, (usize, &Line)>) {
        if !self.runs.iter().any(|known| known.id == *run) {
            let (mut line, mut session, mut words, mut began) = (number, None, None, time);
            if let Some((at, Line::Run { session: of, words: said, time, .. })) = known.get(run) {
                (line, session, words, began) = (*at, of.clone(), said.clone(), *time);
            }
            self.runs.push(Run {
                id: run.clone(),
                session,
                words,
                time: began,
                changes: Vec::new(),
                undone: false,
                line,
            });
            self.done.push(run.clone());
        }
    }

    /// A run that was taken back goes on, or has changed something since.
    fn in_force(&mut self, run: &RunId) {
        if !self.done.contains(run) {
            self.done.push(run.clone());
        }
    }

    fn announced(&mut self, line: usize, change: &Change) {
        self.steps.push(Step { line, change: change.clone(), certain: false, perhaps: false });
    }

    /// A command changed something. That ends what can be redone, unless it goes on from before the undo and wrote
    /// something else: a server that writes its log is no reason to lose a redo.
    fn end_redo(&mut self, run: &RunId, changes: &[Change]) {
        let began = self.line_of(run).unwrap_or(usize::MAX);
        let concerns = |undo: &Operation| {
            began > undo.line
                || changes.iter().any(|change| undo.changes.iter().any(|undone| undone.path == change.path))
        };
        if self.undone.iter().any(concerns) {
            self.undone.clear();
        }
    }

    fn restored(&mut self, operation: &Operation) {
        match operation.way {
            Way::Undo => {
                self.done.retain(|run| !operation.undid.contains(run));
                self.undone.push(operation.clone());
            }
            Way::Redo => {
                if let Some(at) = self.undone.iter().rposition(|undo| Some(undo.id) == operation.redoes) {
                    let taken = self.undone.drain(at..).flat_map(|undo| undo.undid);
                    let mut back: Vec<RunId> = taken.collect();
                    let order: HashMap<&RunId, usize> =
                        self.runs.iter().map(|run| (&run.id, run.line)).collect();
                    back.retain(|run| !self.done.contains(run));
                    self.done.append(&mut back);
                    self.done.sort_by_key(|run| order.get(run).copied().unwrap_or(usize::MAX));
                }
            }
        }
    }

    /// What each run changed, from its first state to its last.
    fn sum_up(&mut self, lines: &[Line]) {
        let whose: HashMap<usize, &RunId> = lines
            .iter()
            .enumerate()
            .filter_map(|(number, line)| match line {
                Line::Changing { run, .. } | Line::Commanded { run, .. } => Some((number, run)),
                _ => None,
            })
            .collect();
        let mut sums: HashMap<&RunId, BTreeMap<&Name, Change>> = HashMap::new();
        for step in &self.steps {
            let Some(run) = whose.get(&step.line) else { continue };
            sums.entry(run)
                .or_default()
                .entry(&step.change.path)
                .and_modify(|sum| sum.after = step.change.after.clone())
                .or_insert_with(|| step.change.clone());
        }
        let in_force: HashSet<&RunId> = self.done.iter().collect();
        for run in &mut self.runs {
            run.undone = !in_force.contains(&run.id);
            let changes = sums.remove(&run.id).unwrap_or_default().into_values();
            run.changes = changes.filter(|change| change.before.differs(&change.after)).collect();
        }
    }

    /// The run that a text names.
    pub(crate) fn matching(&self, given: &str) -> Vec<&Run> {
        let exact: Vec<&Run> = self.runs.iter().filter(|run| run.id.as_str() == given.trim()).collect();
        if !exact.is_empty() {
            return exact;
        }
        self.runs.iter().filter(|run| run.answers_to(given)).collect()
    }

    /// What every path that changed since a line comes to when that place is restored.
    pub(crate) fn since(&self, line: usize, files: &[Name]) -> BTreeMap<Name, Target> {
        let mut targets: BTreeMap<Name, Target> = BTreeMap::new();
        for step in self.steps.iter().filter(|step| step.line >= line) {
            let Change { path, before, after } = &step.change;
            if !is_meant(path.path(), files) || is_settings(path.path(), before, after) {
                continue;
            }
            let target = targets.entry(path.clone()).or_insert_with(|| Target {
                to: before.clone(),
                left: vec![before.clone()],
                between: false,
            });
            target.between |= !target.left.iter().any(|left| left.fits(before));
            if step.perhaps {
                // As if somebody else did it: what was left there is what was there before.
            } else if step.certain {
                target.left = vec![after.clone()];
            } else {
                // Announced, and perhaps made.
                target.left.insert(0, after.clone());
                if !target.left.contains(before) {
                    target.left.push(before.clone());
                }
            }
        }
        targets
    }

    /// The line before which a path stands, when the last thing that happened to it was that it was restored there:
    /// undoing it further goes back from there.
    pub(crate) fn stands_at(&self, path: &Name) -> Option<usize> {
        let mut until = usize::MAX;
        for step in self.steps.iter().rev().filter(|step| step.change.path == *path) {
            if step.line >= until {
                continue;
            }
            let operation = self.operations.iter().find(|operation| operation.line == step.line)?;
            match (operation.way, operation.redoes) {
                (Way::Undo, _) => return self.line_of(operation.to.as_ref()?),
                (Way::Redo, Some(undo)) => {
                    until = self.operations.iter().find(|operation| operation.id == undo)?.line;
                }
                (Way::Redo, None) => return None,
            }
        }
        None
    }

    /// Whether an undo or redo from a line on restored a path.
    pub(crate) fn was_restored_since(&self, line: usize, path: &Name) -> bool {
        let since = self.operations.iter().filter(|operation| operation.line >= line);
        since.flat_map(|operation| &operation.changes).any(|change| change.path == *path)
    }

    /// The first line of a run.
    pub(crate) fn line_of(&self, run: &RunId) -> Option<usize> {
        self.runs.iter().find(|known| known.id == *run).map(|run| run.line)
    }

    /// Runs in force that begin at a line or later.
    pub(crate) fn in_force_since(&self, line: usize) -> Vec<RunId> {
        let since = |run: &&RunId| self.line_of(run).is_some_and(|at| at >= line);
        self.done.iter().filter(since).cloned().collect()
    }
}

/// Whether this is the folder of the agent's settings, coming or going. A command may rely on it being there, so it stays.
fn is_settings(path: &Path, before: &State, after: &State) -> bool {
    let is_folder = |state: &State| matches!(state, State::Folder { .. });
    path.ends_with(folders::SETTINGS) && (is_folder(before) || is_folder(after))
}

/// Whether a path is one of those that are meant, or below one. None named: all are.
pub(crate) fn is_meant(path: &Path, files: &[Name]) -> bool {
    files.is_empty() || files.iter().any(|file| path.starts_with(file.path()))
}
