//! Spill: tool results too large for the window go to a file, and the model reads their head and tail and the path.
//!
//! This is the only module of the crate that touches a disk. Promises: a file appears whole or not at all, under a name
//! made here, directly in the folder; a result that cannot be written is shortened, never lost; reading a spilled file
//! does not spill again.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

mod hook;
mod log;
mod preview;

pub use hook::{Clock, Spill};
pub use log::SpillLog;
pub use preview::path_in;

/// When results are spilled, and how long they stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpillLimits {
    /// Results of more bytes are spilled.
    pub inline: usize,
    /// Bytes of the preview.
    pub preview: usize,
    /// Files of a session at most; the oldest go first.
    pub files: usize,
    /// Bytes of all of them at most.
    pub bytes: u64,
    /// How long a file stays.
    pub age: Duration,
}

impl Default for SpillLimits {
    /// 30 KiB are about 8,000 tokens, more than which one result should not take; 2 KiB show what it is. Fifty files, 20
    /// MiB and a week are enough to come back to, and too little to fill a disk.
    fn default() -> Self {
        Self {
            inline: 30 << 10,
            preview: 2 << 10,
            files: 50,
            bytes: 20 << 20,
            age: Duration::from_secs(7 * 24 * 60 * 60),
        }
    }
}

/// Why a result was not spilled.
#[derive(Debug, thiserror::Error)]
#[error("{action} {}: {source}", .path.display())]
pub struct SpillError {
    /// What was being done.
    pub action: &'static str,
    /// To what.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// Names tried before giving up on a folder that others write to.
const TRIES: u64 = 64;
/// What files are called while they are written.
const UNFINISHED: &str = ".spill-";
/// How long a file may be written. What is older was left behind by a crash.
const UNFINISHED_AGE: Duration = Duration::from_secs(60 * 60);

/// The folder of one session. Made when it is first needed.
#[derive(Debug)]
pub struct SpillFolder {
    root: PathBuf,
    limits: SpillLimits,
    next: Mutex<u64>,
}

impl SpillFolder {
    /// A folder at a path, which should be absolute: it is told to the model.
    pub fn new(root: impl Into<PathBuf>, limits: SpillLimits) -> Self {
        Self { root: root.into(), limits, next: Mutex::new(0) }
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Its limits.
    pub fn limits(&self) -> &SpillLimits {
        &self.limits
    }

    /// Writes a result to a file of its own, and removes what is beyond the limits.
    ///
    /// # Errors
    /// [`SpillError`] when it cannot be written. That something old could not be removed is no error.
    pub fn write(&self, tool: &str, text: &str, now: SystemTime) -> Result<PathBuf, SpillError> {
        let failed = |action, path: &Path| {
            let path = path.to_owned();
            move |source| SpillError { action, path, source }
        };
        std::fs::create_dir_all(&self.root).map_err(failed("making the folder", &self.root))?;
        let mut file = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempfile_in(&self.root)
            .map_err(failed("making a file in", &self.root))?;
        let kept = text.floor_char_boundary(usize::try_from(self.limits.bytes).unwrap_or(usize::MAX));
        file.write_all(text.get(..kept).unwrap_or_default().as_bytes())
            // By the clock that was given, so that ages are reckoned with one clock only.
            .and_then(|()| file.as_file().set_modified(now))
            .and_then(|()| file.as_file().sync_data())
            .map_err(failed("writing to", &self.root))?;
        let tool = safe(tool);
        let mut number = self.free_number();
        for _ in 0..TRIES {
            let path = self.root.join(format!("{number:06}-{tool}.txt"));
            match file.persist_noclobber(&path) {
                Ok(_) => {
                    self.sweep_around(now, Some(&path));
                    return Ok(path);
                }
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                    file = error.file;
                    number = self.free_number();
                }
                Err(error) => return Err(failed("naming", &path)(error.error)),
            }
        }
        Err(failed("finding a name in", &self.root)(io::ErrorKind::AlreadyExists.into()))
    }

    /// Begins a file that grows: for output whose end nobody knows yet. Its name says whose it is.
    ///
    /// # Errors
    /// [`SpillError`] when it cannot be made.
    pub fn begin(&self, of: &str, now: SystemTime) -> Result<SpillLog, SpillError> {
        let failed = |action, path: &Path| {
            let path = path.to_owned();
            move |source| SpillError { action, path, source }
        };
        std::fs::create_dir_all(&self.root).map_err(failed("making the folder", &self.root))?;
        let of = safe(of);
        for _ in 0..TRIES {
            let path = self.root.join(format!("{:06}-{of}.txt", self.free_number()));
            match std::fs::File::options().append(true).create_new(true).open(&path) {
                Ok(file) => {
                    self.sweep_around(now, Some(&path));
                    return Ok(SpillLog::new(file, path, self.limits.bytes / 2));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed("making", &path)(error)),
            }
        }
        Err(failed("finding a name in", &self.root)(io::ErrorKind::AlreadyExists.into()))
    }

    /// Whose the files are that are there: what they were written or begun with.
    pub fn owners(&self) -> Vec<String> {
        let owner = |entry: Entry| {
            let (_, rest) = entry.path.file_name()?.to_str()?.split_once('-')?;
            Some(rest.strip_suffix(".txt")?.to_owned()).filter(|_| !entry.is_unfinished)
        };
        self.entries().into_iter().filter_map(owner).collect()
    }

    /// Removes what is beyond the limits, oldest first. Returns how many files went.
    pub fn sweep(&self, now: SystemTime) -> usize {
        self.sweep_around(now, None)
    }

    /// Whether a text names a file of this folder: what the recursion guard asks. A relative path does when it ends
    /// like this folder does.
    pub fn names(&self, text: &str) -> bool {
        let path = Path::new(text);
        let clean: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
        let (Some(name), Some(folder)) = (clean.file_name(), clean.parent()) else { return false };
        if Entry::number(name).is_none() {
            return false;
        }
        if path.is_absolute() {
            let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
            return real(folder) == real(&self.root);
        }
        folder.components().all(|part| matches!(part, Component::Normal(_)))
            && folder != Path::new("")
            && self.root.ends_with(folder)
    }

    fn free_number(&self) -> u64 {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if *next == 0 {
            // A session that goes on numbers on.
            *next = self
                .entries()
                .iter()
                .filter_map(|entry| Entry::number(entry.path.file_name()?))
                .max()
                .unwrap_or(0);
        }
        *next += 1;
        *next
    }

    fn sweep_around(&self, now: SystemTime, spared: Option<&Path>) -> usize {
        let age = |entry: &Entry| now.duration_since(entry.modified).unwrap_or(Duration::ZERO);
        let mut entries = self.entries();
        // Newest first, and by number where the clock is too coarse to tell.
        entries.sort_by(|one, other| (other.modified, &other.path).cmp(&(one.modified, &one.path)));
        let (mut files, mut bytes, mut removed) = (0, 0, 0);
        for entry in &entries {
            let gone = if entry.is_unfinished {
                age(entry) > UNFINISHED_AGE
            } else {
                files += 1;
                bytes += entry.bytes;
                let beyond =
                    files > self.limits.files || bytes > self.limits.bytes || age(entry) > self.limits.age;
                beyond && spared != Some(entry.path.as_path())
            };
            if gone {
                match std::fs::remove_file(&entry.path) {
                    Ok(()) => removed += 1,
                    Err(error) => {
                        tracing::warn!(path = %entry.path.display(), %error, "a spilled result was not removed");
                    }
                }
            }
        }
        removed
    }

    /// The files in the folder that were made here. Links and folders are none of them.
    fn entries(&self) -> Vec<Entry> {
        let Ok(folder) = std::fs::read_dir(&self.root) else { return Vec::new() };
        folder
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let name = entry.file_name();
                let is_unfinished = name.to_str()?.starts_with(UNFINISHED);
                if !is_unfinished && Entry::number(&name).is_none() {
                    return None;
                }
                // Of the entry itself, not of what a link leads to.
                let metadata = entry.metadata().ok()?;
                let modified = metadata.modified().ok()?;
                metadata.is_file().then(|| Entry {
                    path: entry.path(),
                    bytes: metadata.len(),
                    modified,
                    is_unfinished,
                })
            })
            .collect()
    }
}

#[derive(Debug)]
struct Entry {
    path: PathBuf,
    bytes: u64,
    modified: SystemTime,
    is_unfinished: bool,
}

impl Entry {
    /// The number in a name that was made here.
    fn number(name: &OsStr) -> Option<u64> {
        let (number, rest) = name.to_str()?.split_once('-')?;
        let tool = rest.strip_suffix(".txt")?;
        let made_here = number.len() >= 6 && tool == safe(tool);
        number.parse().ok().filter(|_| made_here)
    }
}

/// A tool's name as part of a file's: nothing in it can leave the folder.
fn safe(tool: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '_' || letter == '-' { letter } else { '_' }
    };
    let name: String = tool.chars().take(48).map(letter).collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}

#[cfg(test)]
mod tests;
