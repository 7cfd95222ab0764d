//! One writer for each session: an advisory lock on a file beside it.
//!
//! The lock is the system's, so it ends with the process however that ends. The file says who holds it, for the
//! message to whoever comes second. Readers do not ask.

use std::fs::{File, TryLockError};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::SessionError;
use crate::files;

/// The right to write to a session, for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    file: Option<File>,
}

impl Lock {
    /// Takes the lock of a session, or says who has it.
    pub(crate) fn take(session: &Path) -> Result<Self, SessionError> {
        let path = beside(session);
        // The holder removes the file when it is done. Whoever opened it before that has locked a file without a name
        // and must try again with the one that is there now. Each try lets another writer through, so a few suffice.
        for _ in 0..16 {
            let mut file = files::open_lock(&path).map_err(SessionError::io("make the lock", &path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(SessionError::Locked { path: session.to_owned(), pid: holder(&mut file) });
                }
                Err(TryLockError::Error(source)) => {
                    return Err(SessionError::Io { doing: "lock", path, source });
                }
            }
            if is_at(&file, &path) {
                // Who holds it is a courtesy; the lock holds without.
                let _ = files::write_holder(&mut file, std::process::id());
                return Ok(Self { path, file: Some(file) });
            }
        }
        Err(SessionError::Locked { path: session.to_owned(), pid: None })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The name goes while the lock is still held: nobody can have locked this file by then.
        let _ = files::remove(&self.path);
        self.file = None;
    }
}

/// Whether somebody writes to a session now. Looks only: makes no file.
pub(crate) fn is_held(session: &Path) -> bool {
    let Ok(file) = File::open(beside(session)) else { return false };
    // A lock file that nobody holds is locked and let go again; shared, so that looking twice at once is no holder.
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Where the lock of a session is.
pub(crate) fn beside(session: &Path) -> PathBuf {
    crate::paths::sidecar(session, "lock")
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    // Another writer's file: no more is read of it than a number has.
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(ours), Ok(there)) = (file.metadata(), std::fs::metadata(path)) else { return false };
    (ours.dev(), ours.ino()) == (there.dev(), there.ino())
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    // Here a file that is open cannot be removed.
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_writer_is_told_who_is_first() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path().join("s.jsonl");
        let first = Lock::take(&session).unwrap();
        match Lock::take(&session).unwrap_err() {
            SessionError::Locked { pid, .. } => assert_eq!(pid, Some(std::process::id())),
            other => panic!("{other}"),
        }
        assert!(is_held(&session));
        drop(first);
        assert!(!is_held(&session));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        Lock::take(&session).unwrap();
    }

    #[test]
    fn a_lock_file_that_nobody_holds_is_no_lock() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path().join("s.jsonl");
        files::write_new(&beside(&session), b"4711\n").unwrap();
        Lock::take(&session).unwrap();
    }

    #[test]
    fn of_many_writers_at_once_one_writes() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path().join("s.jsonl");
        let inside = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..4000 {
                        if let Ok(lock) = Lock::take(&session) {
                            use std::sync::atomic::Ordering::SeqCst;
                            assert_eq!(inside.fetch_add(1, SeqCst), 0);
                            std::thread::yield_now();
                            assert_eq!(inside.fetch_sub(1, SeqCst), 1);
                            drop(lock);
                        }
                    }
                });
            }
        });
    }
}
