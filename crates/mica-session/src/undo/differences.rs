//! What differs between two scans, and what of it is on record already.

use std::collections::HashMap;
use std::path::Path;

use super::beneath::{self, Root};
use super::log::{Change, Line};
use super::scan::Scan;
use super::state::{Name, Stamp, State};
use super::{folders, lean};

/// Whether a scan would find something at a path: it looks neither into folders that tools fill nor into histories.
pub(super) fn looks_at(scan: &Scan, path: &Path) -> bool {
    !is_off_limits(path) && !is_closed(scan, path)
}

/// Whether a path is, or is in, a folder that no scan has anything to do with.
fn is_off_limits(path: &Path) -> bool {
    path.iter().any(|name| folders::is_off_limits(&name.to_string_lossy()))
}

/// Whether a path is in a folder that a scan did not look into.
fn is_closed(scan: &Scan, path: &Path) -> bool {
    let mut above = path.ancestors().skip(1);
    above.any(|folder| scan.entries.get(folder.as_os_str()).is_some_and(|entry| entry.state == State::Other))
}

/// What differs between two scans, as changes, by path.
pub(super) fn differences(root: &Root, before: &Scan, after: &Scan, limit: u64) -> Vec<Change> {
    let change = |path: &Path, before: State, after: State| Change {
        path: Name::from(path),
        before: lean(before),
        after: lean(after),
    };
    let mut changes = Vec::new();
    // What is in a folder that the first scan did not look into cannot be compared.
    for (path, now) in &after.entries {
        let was = before.entries.get(path);
        let path = Path::new(path);
        match was {
            Some(was) if !was.state.differs(&now.state) => {}
            Some(was) => match (&was.state, &now.state) {
                (State::Other, State::Folder { .. }) => {}
                // It became a folder that is not looked into. Its mode may be why.
                (was @ State::Folder { .. }, State::Other) => {
                    if let Some(now) = closed_since(root, path, was, None, limit) {
                        changes.push(change(path, was.clone(), now));
                    }
                }
                (was, now) => changes.push(change(path, was.clone(), now.clone())),
            },
            None if before.complete && now.state != State::Other && !is_closed(before, path) => {
                changes.push(change(path, State::Absent, now.state.clone()));
            }
            None => {}
        }
    }
    for (path, was) in &before.entries {
        let gone = !after.entries.contains_key(path);
        let path = Path::new(path);
        if !gone || is_off_limits(path) {
            continue;
        }
        if is_closed(after, path) {
            if let Some(now) = closed_since(root, path, &was.state, was.stamp, limit) {
                changes.push(change(path, was.state.clone(), now));
            }
            continue;
        }
        if after.complete || matches!(root.stat(path), Ok(None)) {
            changes.push(change(path, was.state.clone(), State::Absent));
        }
    }
    changes.sort_by(|one, other| one.path.cmp(&other.path));
    changes
}

/// What became of something in a folder that was looked into, and is no longer. `None`: nothing, or nobody may know.
fn closed_since(root: &Root, path: &Path, was: &State, stamp: Option<Stamp>, limit: u64) -> Option<State> {
    let facts = root.stat(path).ok()?;
    let same = |facts: &rustix::fs::Stat| match was {
        State::File(file) => file.mode == Some(beneath::mode(facts)) && stamp == Some(beneath::stamp(facts)),
        State::Other => true,
        _ => false,
    };
    if facts.as_ref().is_some_and(same) {
        return None;
    }
    let (now, _) = root.look(path, limit).ok()?;
    was.differs(&now).then_some(now)
}

/// Leaves out what these lines have already: another process recorded it, or a tool.
pub(super) fn without_recorded(changes: Vec<Change>, lines: &[Line]) -> Vec<Change> {
    let mut last: HashMap<&Name, &State> = HashMap::new();
    let mut announced = HashMap::new();
    let made = State::Folder { mode: None };
    for line in lines {
        match line {
            Line::Changing { id, change, folders, .. } => {
                announced.insert(*id, &change.path);
                // It may be made, and not confirmed yet.
                last.insert(&change.path, &change.after);
                last.extend(folders.iter().map(|folder| (folder, &made)));
            }
            Line::Changed { id, after } => {
                if let Some(path) = announced.get(id) {
                    last.insert(path, after);
                }
            }
            Line::Commanded { changes, .. } | Line::Restoring { changes, .. } => {
                last.extend(changes.iter().map(|change| (&change.path, &change.after)));
            }
            _ => {}
        }
    }
    let recorded = |change: &Change| last.get(&change.path).is_some_and(|after| after.fits(&change.after));
    changes.into_iter().filter(|change| !recorded(change)).collect()
}
