//! The deed of a restore: keep what is there, announce, do it, confirm.
//!
//! Promises: a file is replaced in one step. What is there now is kept before anything is touched. A restore that is cut
//! off is finished by the next one. What is in a folder and not on record stays, and so does the folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::log::{Change, Line, Locked};
use super::restore::{Conflict, Done, OnConflict, Plan, Step, above};
use super::state::{FileState, Name, State};
use super::{Inner, KEEP_PRESENT, Undo, UndoError, lean};
use crate::files::{Durability, Worth};
use crate::id::EntryId;

impl Undo {
    /// Does what a plan says.
    ///
    /// # Errors
    /// Conflicts, as `on_conflict` says; another process that runs something; files that changed since the plan was made.
    /// When a file cannot be written, what was done so far stands, and undoing again goes on.
    pub fn carry_out(&self, plan: &Plan, on_conflict: OnConflict) -> Result<Done, UndoError> {
        let inner = &*self.inner;
        let mut live = inner.live();
        let alone = inner.alone(&mut live)?;
        let done = self.carry_out_alone(plan, on_conflict);
        if let Ok(done) = &done {
            let now = inner.nanoseconds();
            for step in &done.restored {
                if let Ok((state, _)) = inner.root.look(step.path.path(), inner.limits.file) {
                    live.watching.note(&inner.root, step.path.path(), &state, now);
                }
            }
        }
        drop(alone);
        if !live.watching.is_idle() {
            inner.be_busy(&mut live)?;
        }
        done
    }

    fn carry_out_alone(&self, plan: &Plan, on_conflict: OnConflict) -> Result<Done, UndoError> {
        let inner = &*self.inner;
        let mut log = inner.log.lock()?;
        if log.length() != plan.place {
            return Err(UndoError::Moved { path: "the record of changes".to_owned() });
        }
        let mut done =
            Done { restored: Vec::new(), skipped: Vec::new(), folders: Vec::new(), for_good: Vec::new() };
        let mut steps = plan.steps.clone();
        match on_conflict {
            OnConflict::Refuse if !plan.conflicts.is_empty() => {
                return Err(UndoError::Conflicts { count: plan.conflicts.len() });
            }
            OnConflict::Force => {
                let blocked = plan.conflicts.iter().filter(|conflict| conflict.blocked).count();
                if blocked > 0 {
                    return Err(UndoError::Conflicts { count: blocked });
                }
                let forced = plan.conflicts.iter().map(|conflict| conflict.step.clone());
                if let Some(id) = plan.operation {
                    // The restore that was cut off does not know what somebody did since: that is a restore of its own.
                    self.restore(&mut log, steps, plan, Some(id), &mut done)?;
                    steps = forced.collect();
                    if steps.is_empty() {
                        return Ok(done);
                    }
                    self.restore(&mut log, steps, plan, None, &mut done)?;
                    return Ok(done);
                }
                steps.extend(forced);
            }
            OnConflict::Refuse | OnConflict::Skip => done.skipped.clone_from(&plan.conflicts),
        }
        self.restore(&mut log, steps, plan, plan.operation, &mut done)?;
        Ok(done)
    }

    /// Restores paths: keeps what is there, announces, does it, confirms. With an id it was announced before.
    fn restore(
        &self,
        log: &mut Locked<'_>,
        mut steps: Vec<Step>,
        plan: &Plan,
        announced: Option<EntryId>,
        done: &mut Done,
    ) -> Result<(), UndoError> {
        let inner = &*self.inner;
        self.add_folders(&mut steps, &mut done.skipped)?;
        steps.sort_by(|one, other| one.path.cmp(&other.path));
        done.for_good.extend(self.keep_present(&mut steps)?);
        let id = match announced {
            Some(id) => id,
            None => {
                let time = (inner.clock)();
                let id = EntryId::fresh(time);
                let changes = steps.iter().map(|step| Change {
                    path: step.path.clone(),
                    before: lean(step.from.clone()),
                    after: lean(step.to.clone()),
                });
                let line = Line::Restoring {
                    id,
                    way: plan.way,
                    undid: plan.undid.clone(),
                    to: plan.to.clone(),
                    redoes: plan.redoes,
                    changes: changes.collect(),
                    time,
                };
                log.append(&[line], Durability::Now)?;
                id
            }
        };
        done.folders.extend(inner.perform(&steps)?);
        log.append(&[Line::Restored { id }], Durability::Now)?;
        done.restored.append(&mut steps);
        Ok(())
    }

    /// Adds the folders that are needed and gone. What would be below something that stays is skipped.
    fn add_folders(&self, steps: &mut Vec<Step>, skipped: &mut Vec<Conflict>) -> Result<(), UndoError> {
        let stays: BTreeSet<Name> = skipped
            .iter()
            .filter(|conflict| !matches!(conflict.step.from, State::Folder { .. } | State::Absent))
            .map(|conflict| conflict.step.path.clone())
            .collect();
        let below = |step: &Step| above(step.path.path()).any(|folder| stays.contains(&Name::from(folder)));
        let (out, rest): (Vec<Step>, Vec<Step>) =
            std::mem::take(steps).into_iter().partition(|step| step.to != State::Absent && below(step));
        *steps = rest;
        skipped.extend(out.into_iter().map(|step| {
            let left = step.from.clone();
            Conflict { step, left, blocked: false }
        }));
        let mut planned: BTreeSet<Name> = steps.iter().map(|step| step.path.clone()).collect();
        let needed: Vec<PathBuf> = steps
            .iter()
            .filter(|step| step.to != State::Absent)
            .flat_map(|step| above(step.path.path()).map(Path::to_owned))
            .collect();
        for folder in needed {
            let path = Name(folder);
            if !planned.insert(path.clone()) {
                continue;
            }
            let from = self.look(&path);
            if !matches!(from, State::Folder { .. }) {
                steps.push(Step { path, from, to: State::Folder { mode: None }, between: false });
            }
        }
        Ok(())
    }

    /// Keeps what is there now. Answers what is too large for that.
    fn keep_present(&self, steps: &mut [Step]) -> Result<Vec<PathBuf>, UndoError> {
        let inner = &*self.inner;
        let mut for_good = Vec::new();
        for step in steps {
            let path = step.path.path();
            let (now, bytes) = inner.root.look(path, KEEP_PRESENT).map_err(UndoError::io("look at", path))?;
            if !step.from.fits(&now) {
                return Err(UndoError::Moved { path: step.path.to_string() });
            }
            match (&now, bytes) {
                (State::File(FileState { hash: Some(hash), .. }), Some(bytes)) => {
                    inner.blobs.keep(hash, &bytes, Worth::Bytes).map_err(UndoError::io("keep", path))?;
                }
                (State::File(_), _) => for_good.push(path.to_owned()),
                _ => {}
            }
            step.from = now;
        }
        Ok(for_good)
    }
}

impl Inner {
    /// Makes each path what it should be. Answers the folders that stay because something else is in them.
    fn perform(&self, steps: &[Step]) -> Result<Vec<PathBuf>, UndoError> {
        let root = &self.root;
        let is_folder = |state: &State| matches!(state, State::Folder { .. });
        let mut stay = Vec::new();
        for step in steps {
            if let (State::Folder { .. }, State::Folder { mode: Some(mode) }) = (&step.from, &step.to) {
                // Open for its owner first: what is in it may have to change.
                let path = step.path.path();
                root.set_folder_mode(path, mode | 0o700).map_err(UndoError::io("set the mode of", path))?;
            }
        }
        // What is deepest goes first; what is above comes first.
        for step in steps.iter().rev() {
            let path = step.path.path();
            match (&step.from, &step.to) {
                (State::Folder { .. }, to) if !is_folder(to) => {
                    let gone = root.remove_folder(path).map_err(UndoError::io("remove", path))?;
                    if !gone {
                        stay.push(path.to_owned());
                    }
                }
                (
                    State::File(_) | State::Link { .. } | State::Other,
                    State::Absent | State::Folder { .. },
                ) => {
                    root.remove_file(path).map_err(UndoError::io("remove", path))?;
                }
                _ => {}
            }
        }
        for step in steps {
            let path = step.path.path();
            match &step.to {
                State::Folder { .. } if !is_folder(&step.from) => {
                    root.make_folder(path).map_err(UndoError::io("make", path))?;
                }
                State::File(file) => {
                    let missing = || std::io::Error::other("what it was is not kept any more");
                    let bytes = match &file.hash {
                        Some(hash) => self.blobs.read(hash).map_err(UndoError::io("read", path))?,
                        None => None,
                    };
                    let bytes = bytes.ok_or_else(missing).map_err(UndoError::io("restore", path))?;
                    root.put_file(path, &bytes, file.mode).map_err(UndoError::io("write", path))?;
                }
                State::Link { target } => {
                    root.put_link(path, target.path()).map_err(UndoError::io("link", path))?;
                }
                _ => {}
            }
        }
        for step in steps.iter().rev() {
            if let State::Folder { mode: Some(mode) } = &step.to {
                let path = step.path.path();
                root.set_folder_mode(path, *mode).map_err(UndoError::io("set the mode of", path))?;
            }
        }
        Ok(stay)
    }
}
