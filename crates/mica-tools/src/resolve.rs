//! From a path that a model wrote to the one place it means, with every symbolic link resolved.
//!
//! Links are followed one by one, in our own code, so that each step is seen. What is found is opened by `open`, which
//! follows none any more.
//!
//! Invariant: a [`Place`] has no `..` and no symbolic link in it as far as it exists, and is inside a folder that may be
//! touched. A path that leads elsewhere is refused without saying whether something is there.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, FileType};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use crate::error::FileError;
use crate::guard;

/// As many as Linux follows.
const LINKS: u32 = 40;
/// Bytes of a path, and of one name in it, at most: what Linux takes.
const PATH: usize = 4_096;
const NAME: usize = 255;

/// A path that was resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The folder it may be opened beneath, canonical.
    pub(crate) base: PathBuf,
    /// The way from there. Empty for the folder itself.
    pub(crate) relative: PathBuf,
    /// Whether it may be written.
    pub(crate) reach: Reach,
    /// What is there.
    pub(crate) found: Found,
    /// Whether the path, as it was given, had the name of a secret in it. A link with such a name counts as what it says.
    pub(crate) alias: bool,
}

/// What may be done in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Reading and writing: the workspace itself.
    Write,
    /// Reading and writing, in a folder beside the workspace.
    Beside,
    /// Reading.
    Read,
}

/// What is at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// Something that is not opened: a device, a pipe, a socket.
    Other(&'static str),
    /// Nothing yet.
    Nothing,
}

impl Place {
    /// The canonical path.
    pub fn path(&self) -> PathBuf {
        if self.relative.as_os_str().is_empty() { self.base.clone() } else { self.base.join(&self.relative) }
    }

    /// What is there.
    pub fn found(&self) -> Found {
        self.found
    }

    /// The path as models and people are shown it: relative in the workspace, absolute elsewhere.
    pub fn shown(&self) -> String {
        match self.reach {
            Reach::Write if self.relative.as_os_str().is_empty() => ".".to_owned(),
            Reach::Write => self.relative.display().to_string(),
            Reach::Beside | Reach::Read => self.path().display().to_string(),
        }
    }
}

/// The folders that may be touched: the root first, then the others. All canonical.
pub(crate) struct Folders<'a> {
    pub(crate) root: &'a Path,
    pub(crate) others: &'a [(PathBuf, Reach)],
}

impl Folders<'_> {
    /// The folder that a canonical path is in. Of several, the deepest: what may only be read stays so inside the root.
    fn holding(&self, path: &Path) -> Option<(&Path, Reach)> {
        let others = self.others.iter().map(|(folder, reach)| (folder.as_path(), *reach));
        [(self.root, Reach::Write)]
            .into_iter()
            .chain(others)
            .filter(|(folder, _)| path.starts_with(folder))
            // The root itself stays writable when it is named twice.
            .max_by_key(|(folder, reach)| (folder.components().count(), *reach == Reach::Write))
    }

    /// The folder that a path is opened beneath: the root, or else the outermost. A folder inside another could be
    /// replaced by a link, and what is opened first is opened by its name.
    fn outermost(&self, path: &Path) -> Option<&Path> {
        let others = self.others.iter().map(|(folder, _)| folder.as_path());
        let holds = |folder: &&Path| path.starts_with(folder);
        let outer = others.filter(holds).min_by_key(|folder| folder.components().count());
        Some(self.root).filter(holds).or(outer)
    }

    /// Resolves a path.
    pub(crate) fn resolve(&self, given: &str) -> Result<Place, FileError> {
        let bad = |reason| Err(FileError::BadPath { path: given.to_owned(), reason });
        if given.is_empty() {
            return bad("it is empty");
        }
        if given.contains('\0') {
            return bad("it has a NUL character in it");
        }
        if given.len() > PATH {
            return bad("it is longer than a path may be (4,096 bytes)");
        }
        if given.split('/').any(|name| name.len() > NAME) {
            return bad("a name in it is longer than a name may be (255 bytes)");
        }
        if given == "~" || given.starts_with("~/") {
            return bad("`~` is not expanded here");
        }
        let outside = || FileError::Outside { path: given.to_owned(), root: self.root.to_owned() };
        let path = Path::new(given);
        let mut pending: VecDeque<OsString> = VecDeque::new();
        let mut at = if path.is_absolute() { PathBuf::from("/") } else { self.root.to_owned() };
        push_front(&mut pending, path);
        let mut links = 0;
        while let Some(step) = pending.pop_front() {
            if step == ".." {
                at.pop();
                continue;
            }
            let next = at.join(&step);
            match fs::symlink_metadata(&next) {
                Ok(facts) if facts.is_symlink() => {
                    links += 1;
                    let target = match fs::read_link(&next) {
                        _ if links > LINKS => return Err(FileError::Links { path: given.to_owned() }),
                        Ok(target) => target,
                        Err(_) if self.holding(&next).is_none() => return Err(outside()),
                        Err(error) => return Err(FileError::io("follow", given, error)),
                    };
                    if target.is_absolute() {
                        at = PathBuf::from("/");
                    }
                    push_front(&mut pending, &target);
                }
                Ok(_) => at = next,
                // What does not exist has no links in it, so going on by name alone is exact.
                Err(error) if error.kind() == ErrorKind::NotFound => at = next,
                // An error out there would tell what is out there.
                Err(_) if self.holding(&next).is_none() => return Err(outside()),
                Err(error) if error.kind() == ErrorKind::NotADirectory => {
                    return Err(FileError::NotAFolder { path: self.shown(&at) });
                }
                Err(error) => return Err(FileError::io("look at", given, error)),
            }
        }
        let (_, reach) = self.holding(&at).ok_or_else(outside)?;
        let base = self.outermost(&at).ok_or_else(outside)?;
        let relative = at.strip_prefix(base).map(Path::to_owned).unwrap_or_default();
        let found = match fs::symlink_metadata(&at) {
            Ok(facts) => kind(facts.file_type()),
            Err(error) if error.kind() == ErrorKind::NotFound => Found::Nothing,
            Err(error) => return Err(FileError::io("look at", given, error)),
        };
        let alias = guard::names_secret(given, found)?;
        let place = Place { base: base.to_owned(), relative, reach, found, alias };
        if given.ends_with('/') && matches!(found, Found::File | Found::Other(_)) {
            return Err(FileError::NotAFolder { path: place.shown() });
        }
        Ok(place)
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(self.root).unwrap_or(path).display().to_string()
    }
}

/// Puts the steps of a path before those that wait.
fn push_front(pending: &mut VecDeque<OsString>, path: &Path) {
    for component in path.components().rev() {
        match component {
            Component::Normal(name) => pending.push_front(name.to_owned()),
            Component::ParentDir => pending.push_front("..".into()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
}

/// What a file type is, for those who will open it.
pub(crate) fn kind(found: FileType) -> Found {
    use std::os::unix::fs::FileTypeExt;
    if found.is_file() {
        Found::File
    } else if found.is_dir() {
        Found::Folder
    } else if found.is_fifo() {
        Found::Other("a named pipe")
    } else if found.is_socket() {
        Found::Other("a socket")
    } else if found.is_symlink() {
        Found::Other("a symbolic link")
    } else {
        Found::Other("a device")
    }
}

#[cfg(test)]
mod tests;
