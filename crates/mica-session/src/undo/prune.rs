//! What goes when it is old, or when there is too much of it: the oldest runs first, the newest never.
//!
//! Only the beginning of a log is dropped, so every run that stays can be restored as before: that needs what changed
//! since, and nothing earlier.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use super::blobs::Blobs;
use super::history::History;
use super::log::{Change, Line, Log};
use super::state::{ContentHash, State};
use super::{Undo, UndoError, cache};
use crate::files;

/// How much is kept. What is `None` limits nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UndoRetention {
    /// Runs that changed files longer ago go.
    pub older_than: Option<SignedDuration>,
    /// So many bytes are kept for each project.
    pub bytes: Option<u64>,
}

/// What went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Runs that can no longer be undone.
    pub runs: usize,
    /// Bytes that are free again.
    pub freed: u64,
    /// Bytes that are still taken.
    pub kept: u64,
}

impl Undo {
    /// Drops what is too old or too much.
    ///
    /// # Errors
    /// When somebody is at work in the project, or files cannot be read or written.
    pub fn prune(&self, retention: &UndoRetention, now: Timestamp) -> Result<Pruned, UndoError> {
        let mut live = self.inner.live();
        if !self.inner.log.path().exists() {
            return Ok(Pruned::default());
        }
        if live.busy.is_some() {
            return Err(UndoError::Busy);
        }
        let _alone = self.inner.alone(&mut live)?;
        prune(&self.inner.folder, retention, now)
    }
}

/// Drops what is too old or too much in every project below a folder. A project that somebody works in is left for the
/// next time.
pub fn prune_all(
    folder: &Path,
    retention: &UndoRetention,
    now: Timestamp,
) -> Vec<(PathBuf, Result<Pruned, UndoError>)> {
    let projects = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let logs = projects.filter(|project| project.join("log.jsonl").is_file());
    logs.map(|project| {
        let lock = project.join("busy.lock");
        let pruned =
            files::open_lock(&lock).map_err(UndoError::io("make the lock", &lock)).and_then(|file| {
                file.try_lock().map_err(|_| UndoError::Busy)?;
                prune(&project, retention, now)
            });
        (project, pruned)
    })
    .collect()
}

/// Nobody else may be at work.
fn prune(folder: &Path, retention: &UndoRetention, now: Timestamp) -> Result<Pruned, UndoError> {
    let log = Log::new(folder.join("log.jsonl"), Path::new(""));
    let blobs = Blobs::new(folder.join("contents"));
    let scan = folder.join("scan");
    let mut log = log.lock()?;
    let lines = log.since(0)?;
    let mut runs = History::of(&lines).runs;
    runs.sort_by_key(|run| run.line);
    let sizes: HashMap<ContentHash, u64> = blobs.sizes().into_iter().collect();
    let size = |hash: &ContentHash| sizes.get(hash).copied().unwrap_or(0);

    let is_old = |time: Timestamp| retention.older_than.is_some_and(|limit| now.duration_since(time) > limit);
    let project_is_gone = matches!(
        lines.first(),
        Some(Line::Undo { project, .. }) if !project.is_empty() && !Path::new(project).exists()
    );
    if project_is_gone && runs.iter().all(|run| is_old(run.time)) {
        let freed = sizes.values().sum();
        drop(log);
        files::remove(folder).map_err(UndoError::io("remove", folder))?;
        return Ok(Pruned { runs: runs.len(), freed, kept: 0 });
    }

    let mut scanned: HashSet<ContentHash> = cache::load(&scan)
        .map(|scan| scan.entries.values().filter_map(|entry| hash_of(&entry.state)).collect())
        .unwrap_or_default();
    let newest = runs.len().saturating_sub(1);
    let old = runs.iter().take_while(|run| is_old(run.time)).count().min(newest);
    // How many of the newest runs there is room for.
    let mut first = newest;
    if let Some(limit) = retention.bytes {
        let mut counted = HashSet::new();
        let mut taken = |hashes: &mut dyn Iterator<Item = ContentHash>| -> u64 {
            hashes.filter(|hash| counted.insert(*hash)).map(|hash| size(&hash)).sum()
        };
        let from = |number: usize| runs.get(number).map_or(lines.len(), |run| run.line);
        let of = |from: usize, to: usize| lines.get(from..to).unwrap_or_default().iter().flat_map(hashes);
        let mut total = taken(&mut of(from(newest), lines.len()));
        // The scan is what makes commands cheap, and can be made again.
        let scan_takes = taken(&mut scanned.iter().copied());
        if total + scan_takes > limit {
            files::remove(&scan).map_err(UndoError::io("remove", &scan))?;
            scanned.clear();
        } else {
            total += scan_takes;
        }
        while first > 0 {
            total += taken(&mut of(from(first - 1), from(first)));
            if total > limit {
                break;
            }
            first -= 1;
        }
    } else {
        first = 0;
    }
    let first = first.max(old);
    let cut = runs.get(first).map_or(0, |run| run.line);
    if first > 0 {
        log.drop_before(cut)?;
    }
    let mut live = scanned;
    live.extend(lines.get(if first > 0 { cut } else { 0 }..).unwrap_or_default().iter().flat_map(hashes));
    let swept = blobs.sweep(&live);
    Ok(Pruned { runs: first, freed: swept.removed_bytes, kept: swept.kept_bytes + log.length() })
}

/// The contents that a line refers to.
fn hashes(line: &Line) -> Vec<ContentHash> {
    let of = |change: &Change| [hash_of(&change.before), hash_of(&change.after)].into_iter().flatten();
    match line {
        Line::Changing { change, .. } => of(change).collect(),
        Line::Changed { after, .. } => hash_of(after).into_iter().collect(),
        Line::Commanded { changes, .. } | Line::Restoring { changes, .. } => {
            changes.iter().flat_map(of).collect()
        }
        _ => Vec::new(),
    }
}

fn hash_of(state: &State) -> Option<ContentHash> {
    if let State::File(file) = state { file.hash } else { None }
}
