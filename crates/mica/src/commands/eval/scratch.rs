//! The folder for the worlds of cases. It goes with the program, however that ends.
//!
//! Promise: a folder goes when its run ends, also when somebody stops it twice. What a run leaves behind that was killed
//! goes with the next one. A folder of a run that goes on is never touched: whoever has one holds a lock in it, which the
//! system lets go with the process, and a folder has its name only once it is locked.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, TryLockError};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// What the names of such folders begin with.
const PREFIX: &str = "mica-eval-";

/// The file in it that its run holds.
const LOCK: &str = "lock";

/// A folder for the worlds of cases.
pub struct Scratch {
    path: PathBuf,
    _held: File,
}

impl Scratch {
    /// A folder of its own below one for temporary things, from which goes what killed runs left behind.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub fn new(temporary: &Path) -> Result<Self> {
        let name = name(std::process::id());
        let path = temporary.join(&name);
        let cannot = || format!("{} cannot be made: is there a folder for temporary files?", path.display());
        // It is nobody's business, and no leftover either, while it has no lock.
        let unborn = temporary.join(format!(".{name}"));
        DirBuilder::new().mode(0o700).create(&unborn).with_context(cannot)?;
        let held = File::create_new(unborn.join(LOCK)).with_context(cannot)?;
        // Where nothing can be locked nobody can take it for left behind either.
        let _ = held.try_lock();
        std::fs::rename(&unborn, &path).with_context(cannot)?;
        let path = path.canonicalize().with_context(cannot)?;
        let owner = path.metadata().with_context(cannot)?.uid();
        sweep(temporary, owner);
        Ok(Self { path, _held: held })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// The name of a folder. Models read paths below it, and what they read is counted, so all names are of one length. They stay
/// short: paths of sockets may lie below.
fn name(process: u32) -> String {
    // The end of an id is what is random in it.
    let id = mica_ai::id::fresh();
    format!("{PREFIX}{process:07}-{}", id.rsplit('-').next().unwrap_or(&id))
}

/// Empties a folder and takes it away. What cannot go is no reason to fail at the end: the next run finds it, since the lock
/// goes last.
pub fn remove(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name() != LOCK) {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let _ = if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    }
    let _ = std::fs::remove_dir_all(folder);
}

/// Takes away what runs of the same person left behind that are gone.
fn sweep(temporary: &Path, owner: u32) {
    for entry in std::fs::read_dir(temporary).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_theirs = entry.metadata().is_ok_and(|facts| facts.is_dir() && facts.uid() == owner);
        if !is_theirs || !is_named(&entry.file_name()) {
            continue;
        }
        let lock = match File::open(path.join(LOCK)) {
            Ok(lock) => lock,
            // It was being taken away already.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                remove(&path);
                continue;
            }
            Err(_) => continue,
        };
        match lock.try_lock() {
            Ok(()) => remove(&path),
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
        }
    }
}

/// Whether a folder is called as these are: by the number of a process, and an id.
fn is_named(name: &OsStr) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    let parts = rest.and_then(|rest| rest.split_once('-'));
    parts.is_some_and(|(process, id)| process.parse::<u32>().is_ok() && !id.is_empty())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests make files")]

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn names_are_of_one_length() {
        let lengths = [1, 9_762, 10_004, 4_194_303].map(|process| {
            let name = name(process);
            assert!(is_named(OsStr::new(&name)), "{name}");
            name.len()
        });
        assert_eq!(lengths, [PREFIX.len() + 7 + 1 + 12; 4]);
    }

    #[test]
    fn only_what_nobody_holds_goes() {
        let folder = tempfile::tempdir().unwrap();
        let temporary = folder.path();
        let first = Scratch::new(temporary).unwrap();
        std::fs::create_dir_all(first.path().join("0/deep")).unwrap();
        // A run that was killed, one that was killed while it cleaned up, and things of others.
        for (name, has_lock) in [("mica-eval-12-dead", true), ("mica-eval-13-dead", false)] {
            std::fs::create_dir_all(temporary.join(name).join("0/home")).unwrap();
            std::fs::write(temporary.join(name).join("0/home/x"), "x").unwrap();
            if has_lock {
                std::fs::write(temporary.join(name).join(LOCK), "").unwrap();
            }
        }
        let others = ["mica-eval-14", "mica-eval-x-y", "mica-evaluation", "other"];
        others.iter().for_each(|name| std::fs::create_dir(temporary.join(name)).unwrap());
        std::os::unix::fs::symlink(temporary.join("other"), temporary.join("mica-eval-15-link")).unwrap();
        let second = Scratch::new(temporary).unwrap();
        let kept = [first.path(), second.path()].map(|path| path.file_name().unwrap().to_str().unwrap());
        let mut expected: Vec<&str> = others.into_iter().chain(kept).chain(["mica-eval-15-link"]).collect();
        expected.sort_unstable();
        assert_eq!(names(temporary), expected);
        assert!(first.path().join("0/deep").is_dir());
        drop((first, second));
        assert_eq!(
            names(temporary),
            ["mica-eval-14", "mica-eval-15-link", "mica-eval-x-y", "mica-evaluation", "other"]
        );
    }
}
