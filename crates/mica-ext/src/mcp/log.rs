//! What a server printed and what happened to it, in a file that does not grow without end.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::words::line;

/// Bytes of a log. Beyond it, the older half goes.
const MOST: u64 = 256 * 1024;
/// Bytes of the newest lines that are told with an error.
const TAIL: usize = 2_000;

/// A log. Clones are handles to the same one.
#[derive(Debug, Clone)]
pub struct Log {
    path: PathBuf,
    tail: Arc<Mutex<Vec<u8>>>,
}

impl Log {
    /// The log of a server, in the folder of all. Nothing is written before there is something to write.
    pub fn new(data: &Path, tag: &str) -> Self {
        Self { path: data.join("logs").join(format!("{tag}.log")), tail: Arc::default() }
    }

    /// What it says.
    ///
    /// # Errors
    /// When it cannot be read. One that is not there says nothing.
    pub fn read(&self) -> std::io::Result<String> {
        match fs::read(&self.path) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(error),
        }
    }

    /// Takes it away.
    pub fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }

    /// Adds what a server printed.
    pub(super) fn printed(&self, bytes: &[u8]) {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(bytes);
        let over = tail.len().saturating_sub(TAIL);
        tail.drain(..over);
        drop(tail);
        self.write(bytes);
    }

    /// Adds what happened.
    pub(super) fn happened(&self, what: &str) {
        self.write(format!("— {}\n", line(what, 2_000)).as_bytes());
    }

    /// A server begins anew: what one before it printed explains nothing any more.
    pub(super) fn begins(&self) {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The last lines that it printed, for an error.
    pub(super) fn last(&self) -> Option<String> {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&tail).into_owned();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.iter().skip(lines.len().saturating_sub(3)).copied().collect::<Vec<_>>().join(" / ");
        Some(line(&last, 400)).filter(|last| !last.is_empty())
    }

    /// A log that cannot be written is no reason to fail.
    fn write(&self, bytes: &[u8]) {
        let _ = self.append(bytes);
    }

    fn append(&self, bytes: &[u8]) -> std::io::Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&self.path)?;
        file.write_all(bytes)?;
        if file.metadata()?.len() > MOST {
            self.halve()?;
        }
        Ok(())
    }

    fn halve(&self) -> std::io::Result<()> {
        let mut file = File::open(&self.path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(MOST / 2)))?;
        let mut rest = Vec::new();
        file.take(MOST).read_to_end(&mut rest)?;
        let from = rest.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let halved = self.path.with_extension("log.new");
        File::create(&halved)?.write_all(rest.get(from..).unwrap_or_default())?;
        fs::rename(&halved, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_does_not_grow_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::new(folder.path(), "x");
        assert_eq!(log.read().unwrap(), "");
        for at in 0..10_000 {
            log.printed(format!("line {at} {}\n", "x".repeat(40)).as_bytes());
        }
        log.happened("it ended");
        let text = log.read().unwrap();
        assert!(text.len() as u64 <= MOST && text.len() as u64 > MOST / 4, "{}", text.len());
        assert!(text.starts_with("line ") && text.ends_with("— it ended\n"));
        let last = log.last().unwrap();
        assert!(last.starts_with("line 9997 ") && last.contains(" / line 9999 "), "{last}");
        log.begins();
        assert_eq!(log.last(), None);
    }
}
