//! What a server printed and what happened to it, in a file that does not grow without end.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::words::line;

/// Bytes of a log. Beyond it, the older half goes.
const MOST: u64 = 256 * 1024;
/// Bytes of the newest lines that are told with an error.
const TAIL: usize = 2_000;

/// Bytes that wait to be written, at most. More would only push older ones out of the file again.
const WAITING: usize = 512 * 1024;

/// A log. Clones are handles to the same one. Whoever adds to it does not wait for the disk.
#[derive(Debug, Clone)]
pub struct Log {
    path: PathBuf,
    tail: Arc<Mutex<Vec<u8>>>,
    waiting: Arc<Mutex<Waiting>>,
    /// Held by the one who writes, so that everything is written in its order.
    writing: Arc<Mutex<()>>,
}

#[derive(Debug, Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// Whether somebody was sent to write them.
    is_sent: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Log {
    /// The log of a server, in the folder of all. Nothing is written before there is something to write.
    pub fn new(data: &Path, tag: &str) -> Self {
        Self {
            path: data.join("logs").join(format!("{tag}.log")),
            tail: Arc::default(),
            waiting: Arc::default(),
            writing: Arc::default(),
        }
    }

    /// What it says.
    ///
    /// # Errors
    /// When it cannot be read. One that is not there says nothing.
    pub fn read(&self) -> std::io::Result<String> {
        self.flush();
        match fs::read(&self.path) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(error),
        }
    }

    /// Takes it away.
    pub fn remove(&self) {
        self.flush();
        let _ = fs::remove_file(&self.path);
    }

    /// Adds what a server printed.
    pub(super) fn printed(&self, bytes: &[u8]) {
        let mut tail = lock(&self.tail);
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
        lock(&self.tail).clear();
    }

    /// The last lines that it printed, for an error.
    pub(super) fn last(&self) -> Option<String> {
        let tail = lock(&self.tail);
        let text = String::from_utf8_lossy(&tail).into_owned();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.iter().skip(lines.len().saturating_sub(3)).copied().collect::<Vec<_>>().join(" / ");
        Some(line(&last, 400)).filter(|last| !last.is_empty())
    }

    /// A log that cannot be written is no reason to fail.
    fn write(&self, bytes: &[u8]) {
        {
            let mut waiting = lock(&self.waiting);
            waiting.bytes.extend_from_slice(bytes);
            let over = waiting.bytes.len().saturating_sub(WAITING);
            waiting.bytes.drain(..over);
            if std::mem::replace(&mut waiting.is_sent, true) {
                return;
            }
        }
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => {
                let log = self.clone();
                runtime.spawn_blocking(move || log.flush());
            }
            Err(_) => self.flush(),
        }
    }

    /// Writes what waits.
    pub(super) fn flush(&self) {
        let _writing = lock(&self.writing);
        loop {
            let bytes = {
                let mut waiting = lock(&self.waiting);
                waiting.is_sent = !waiting.bytes.is_empty();
                std::mem::take(&mut waiting.bytes)
            };
            if bytes.is_empty() {
                return;
            }
            let _ = self.append(&bytes);
        }
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
        let mut options = OpenOptions::new();
        options.create(true).truncate(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&halved)?.write_all(rest.get(from..).unwrap_or_default())?;
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
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(folder.path().join("logs/x.log")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "also when the older half went");
        }
        let last = log.last().unwrap();
        assert!(last.starts_with("line 9997 ") && last.contains(" / line 9999 "), "{last}");
        log.begins();
        assert_eq!(log.last(), None);
    }
}
