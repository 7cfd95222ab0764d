//! What extensions keep for longer than a session, and what they print: files of this program, one of each for each
//! extension, both with an end.
//!
//! Promise: both are for their owner alone. What extensions keep may be a token, and what they print anything.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mica_session::{Readers, Worth, replace_file};
use serde_json::Value;

/// Bytes that one extension may keep.
const MOST: usize = 1 << 20;

/// Bytes of a log. When it is full, the older half goes.
const LOG: usize = 256 << 10;

/// Characters of one line of a log.
const LINE: usize = 4096;

/// The files of all extensions.
pub struct Store {
    folder: PathBuf,
    /// One writer at a time: what is kept is read, changed and written as one.
    turn: Mutex<()>,
}

impl Store {
    /// In a folder, which is made with the first file.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), turn: Mutex::new(()) }
    }

    /// Where the log of an extension is.
    pub fn log_file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.log"))
    }

    fn kept_file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }

    /// Everything that an extension keeps.
    ///
    /// # Errors
    /// A file that cannot be read, in words.
    pub fn all(&self, name: &str) -> Result<BTreeMap<String, Value>, String> {
        let path = self.kept_file(name);
        match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
            Err(error) => Err(format!("{} cannot be read: {error}", path.display())),
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| format!("{} is damaged: {error}", path.display())),
        }
    }

    /// Keeps a value under a key, or takes it away.
    ///
    /// # Errors
    /// In words: too much of it, or a disk that refuses. What was kept stays.
    pub fn keep(&self, name: &str, key: &str, value: Option<Value>) -> Result<(), String> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = self.all(name)?;
        match value {
            Some(value) => drop(all.insert(key.to_owned(), value)),
            None => drop(all.remove(key)),
        }
        let text = serde_json::to_string(&all).map_err(|error| error.to_string())?;
        if text.len() > MOST {
            return Err(format!(
                "it would keep {} bytes, and {MOST} is the most: take something away first",
                text.len()
            ));
        }
        written(&self.kept_file(name), text.as_bytes(), Readers::Owner)
    }

    /// Adds a line to the log of an extension. A log that cannot be written is no reason to stop.
    #[allow(clippy::disallowed_methods, reason = "the files of extensions are this module's own")]
    pub fn log(&self, name: &str, time: &str, mark: &str, line: &str) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.log_file(name);
        let _ = std::fs::create_dir_all(&self.folder);
        let line: String = line.chars().take(LINE).collect();
        let mut options = std::fs::OpenOptions::new();
        options.create(true).append(true);
        for_owner(&mut options);
        let Ok(mut file) = options.open(&path) else { return };
        let _ = writeln!(file, "{time} {mark}{}", line.trim_end());
        if file.metadata().is_ok_and(|facts| facts.len() > LOG as u64) {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let half = text.floor_char_boundary(text.len().saturating_sub(LOG / 2));
            let newer =
                text.get(half..).and_then(|rest| rest.split_once('\n')).map_or("", |(_, newer)| newer);
            let _ = written(&path, newer.as_bytes(), Readers::Owner);
        }
    }
}

/// A file that only its owner reads.
fn for_owner(options: &mut std::fs::OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _ = options;
}

/// Writes a file whole, or not at all.
///
/// # Errors
/// In words.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), String> {
    written(path, bytes, Readers::Usual)
}

fn written(path: &Path, bytes: &[u8], readers: Readers) -> Result<(), String> {
    replace_file(path, bytes, Worth::Bytes, readers)
        .map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

#[cfg(test)]
mod tests;
