//! Empty folders that hold the places of those that are missing and must not be made by a command.
//!
//! They are made before a command and removed after the last one that needs them, of this program or another: everybody
//! who needs one has a shared lock on it, and it is removed by whoever gets the lock alone. Nobody locks a folder that was
//! there before, so one that is locked is held. Only an empty folder can be removed, so what somebody else put there
//! meanwhile stays.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{FlockOperation, Mode, OFlags};

/// How often it is tried again when somebody else removes a folder just then.
const TRIES: usize = 8;

/// The folders that are held now, by how many commands, and the lock of each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Holder(Arc<Mutex<HashMap<PathBuf, (usize, OwnedFd)>>>);

/// Holds some, until it is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    holder: Holder,
    paths: Vec<PathBuf>,
}

impl Holder {
    /// Holds those of `wanted` that are missing and whose folder is there, and those that another program holds.
    pub(crate) fn hold(&self, wanted: &[PathBuf]) -> Held {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut paths = Vec::new();
        for path in wanted {
            // One that was removed by somebody in spite of us is held anew.
            if held.get(path).is_some_and(|(_, folder)| !is_at(folder, path))
                && let (Some(folder), Some((_, old))) = (lock(path), held.get_mut(path))
            {
                *old = folder;
            }
            if let Some((count, _)) = held.get_mut(path) {
                *count += 1;
            } else if let Some(folder) = lock(path) {
                held.insert(path.clone(), (1, folder));
            } else {
                continue;
            }
            paths.push(path.clone());
        }
        Held { holder: self.clone(), paths }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut held = self.holder.0.lock().unwrap_or_else(PoisonError::into_inner);
        for path in &self.paths {
            let Some((count, _)) = held.get_mut(path) else { continue };
            *count -= 1;
            if *count > 0 {
                continue;
            }
            if let Some((_, folder)) = held.remove(path)
                && rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok()
                && is_at(&folder, path)
            {
                let _ = std::fs::remove_dir(path);
            }
        }
    }
}

/// Makes a folder and locks it, or locks one that another program made. None when it was there before, or cannot be.
fn lock(path: &Path) -> Option<OwnedFd> {
    for _ in 0..TRIES {
        let is_made = std::fs::create_dir(path).is_ok();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(rustix::io::Errno::NOENT) if path.parent().is_some_and(Path::is_dir) => continue,
            Err(_) => return None,
        };
        let alone = || rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok();
        if !is_made && alone() {
            // Nobody holds it. If it is still there, it is somebody's own.
            if is_at(&folder, path) {
                return None;
            }
            continue;
        }
        // Whoever has it alone now is removing it.
        if rustix::fs::flock(&folder, FlockOperation::NonBlockingLockShared).is_ok() && is_at(&folder, path) {
            return Some(folder);
        }
    }
    None
}

/// Whether a folder that was opened is the one that is there now.
fn is_at(folder: &OwnedFd, path: &Path) -> bool {
    let (Ok(opened), Ok(there)) = (rustix::fs::fstat(folder), rustix::fs::lstat(path)) else { return false };
    (opened.st_dev, opened.st_ino) == (there.st_dev, there.st_ino)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_there_as_long_as_they_are_held() {
        let folder = tempfile::tempdir().unwrap();
        let (missing, there) = (folder.path().join("missing"), folder.path().join("there"));
        std::fs::create_dir(&there).unwrap();
        let holder = Holder::default();
        let wanted = [missing.clone(), there.clone(), folder.path().join("no/parent")];
        let (one, two) = (holder.hold(&wanted), holder.hold(&wanted));
        assert!(missing.is_dir() && !folder.path().join("no").exists());
        drop(one);
        assert!(missing.is_dir());
        drop(two);
        assert!(!missing.exists() && there.is_dir());
    }

    /// Two holders lock as two programs do.
    #[test]
    fn the_last_of_all_programs_removes_it() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = [folder.path().join("missing")];
        let (here, there) = (Holder::default(), Holder::default());
        for first_here in [true, false] {
            let (one, two) = (here.hold(&wanted), there.hold(&wanted));
            let (first, last) = if first_here { (one, two) } else { (two, one) };
            drop(first);
            assert!(wanted[0].is_dir(), "somebody still needs it");
            drop(last);
            assert!(!wanted[0].exists());
        }
    }

    #[test]
    fn what_somebody_put_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = [folder.path().join("missing")];
        let holder = Holder::default();
        let held = holder.hold(&wanted);
        std::fs::create_dir(wanted[0].join("inside")).unwrap();
        drop(held);
        assert!(wanted[0].join("inside").is_dir());
        drop(holder.hold(&wanted));
        assert!(wanted[0].is_dir());
    }
}
