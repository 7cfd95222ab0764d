//! Opening what was resolved, in such a way that it is still what was resolved.
//!
//! Between resolving a path and opening it, somebody may put a symbolic link in its way. Therefore everything is opened
//! step by step beneath its folder, and no link is followed any more: a resolved path has none. Linux does this in one
//! call (`openat2`); where that call is missing or forbidden, the steps are taken one by one.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::error::FileError;
use crate::resolve::{Found, Place, kind};

/// Without NONBLOCK, opening a pipe that took the file's place would wait for a writer forever.
const READING: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

impl Place {
    /// Opens the file for reading. Pipes and devices are refused, and opening one never waits.
    ///
    /// Files that hold secrets are refused, whatever the tool.
    pub(crate) fn open(&self) -> Result<File, FileError> {
        self.may_read()?;
        self.open_unguarded()
    }

    /// Opens the file for reading. The caller has asked whether it may be read, or tells nothing of what it says.
    pub(crate) fn open_unguarded(&self) -> Result<File, FileError> {
        self.regular()?;
        let file = self.beneath(&self.relative, READING, "open")?;
        self.checked(File::from(file))
    }

    /// Opens the folder that everything is opened beneath, for many files.
    pub(crate) fn open_base(&self) -> Result<OwnedFd, FileError> {
        base(&self.base).map_err(|error| self.failed(error, "open"))
    }

    /// Opens the file for reading, like [`Place::open_unguarded`], when the base is open already.
    pub(crate) fn open_from(&self, base: &OwnedFd) -> Result<File, FileError> {
        self.regular()?;
        let opened = match at_once(base.as_fd(), &self.relative, READING) {
            Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => open(&self.base, &self.relative, READING),
            done => done,
        };
        self.checked(File::from(opened.map_err(|error| self.failed(error, "open"))?))
    }

    fn regular(&self) -> Result<(), FileError> {
        match self.found {
            Found::Other(found) => return Err(FileError::NotAFile { path: self.shown(), found }),
            Found::Folder => return Err(FileError::NotAFile { path: self.shown(), found: "a folder" }),
            Found::File | Found::Nothing => {}
        }
        Ok(())
    }

    fn checked(&self, file: File) -> Result<File, FileError> {
        let facts = file.metadata().map_err(|error| FileError::io("look at", self.shown(), error))?;
        match kind(facts.file_type()) {
            Found::File => Ok(file),
            Found::Folder => Err(FileError::NotAFile { path: self.shown(), found: "a folder" }),
            Found::Other(found) => Err(FileError::NotAFile { path: self.shown(), found }),
            Found::Nothing => Err(FileError::Missing { path: self.shown(), near: Vec::new() }),
        }
    }

    /// Reads the whole file, if it is not larger than `limit`.
    pub(crate) fn read(&self, limit: u64) -> Result<Vec<u8>, FileError> {
        self.may_read()?;
        self.read_unguarded(limit)
    }

    /// Reads the whole file, for a caller that tells nothing secret of it.
    pub(crate) fn read_unguarded(&self, limit: u64) -> Result<Vec<u8>, FileError> {
        let file = self.open_unguarded()?;
        let size = file.metadata().map_err(|error| FileError::io("look at", self.shown(), error))?.len();
        let too_large = |size| FileError::TooLarge { path: self.shown(), size, limit };
        if size > limit {
            return Err(too_large(size));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        // A file may grow while it is read, and files of the kernel say they are empty.
        let taken = file.take(limit + 1).read_to_end(&mut bytes);
        let taken = taken.map_err(|error| FileError::io("read", self.shown(), error))? as u64;
        if taken > limit { Err(too_large(taken)) } else { Ok(bytes) }
    }

    /// Opens the folder itself.
    pub(crate) fn open_folder(&self) -> Result<OwnedFd, FileError> {
        if self.found != Found::Folder {
            return Err(FileError::NotAFolder { path: self.shown() });
        }
        self.beneath(&self.relative, OFlags::RDONLY | OFlags::DIRECTORY, "list")
    }

    /// Whether the place can be reached from its base without following a link.
    pub(crate) fn is_beneath(&self) -> bool {
        let flags = OFlags::PATH | OFlags::NOFOLLOW;
        open(&self.base, &self.relative, flags).is_ok()
    }

    /// Opens something beneath the base.
    pub(crate) fn beneath(
        &self,
        relative: &Path,
        flags: OFlags,
        doing: &'static str,
    ) -> Result<OwnedFd, FileError> {
        open(&self.base, relative, flags).map_err(|error| self.failed(error, doing))
    }

    fn failed(&self, error: Errno, doing: &'static str) -> FileError {
        match error {
            Errno::NOENT => FileError::Missing { path: self.shown(), near: Vec::new() },
            // A link, or a way out, where there was none: it was put there after the path was resolved.
            Errno::LOOP | Errno::XDEV | Errno::MLINK => FileError::Changed { path: self.shown() },
            // What opening a socket, or a device without a driver, says.
            Errno::NXIO => FileError::NotAFile { path: self.shown(), found: "a socket or a device" },
            other => FileError::io(doing, self.shown(), other),
        }
    }
}

/// Opens a base. It is canonical: a link in its place was put there later.
fn base(base: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(base, flags, Mode::empty())
}

fn open(base: &Path, relative: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let folder = self::base(base)?;
    if relative.as_os_str().is_empty() {
        return Ok(folder);
    }
    match at_once(folder.as_fd(), relative, flags) {
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => in_steps(folder, relative, flags),
        done => done,
    }
}

/// In one call. The kernel refuses every way out, also when a folder is moved meanwhile.
#[cfg(target_os = "linux")]
fn at_once(folder: BorrowedFd<'_>, relative: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(folder, relative, flags | OFlags::CLOEXEC, Mode::empty(), resolve)
}

#[cfg(not(target_os = "linux"))]
fn at_once(_: BorrowedFd<'_>, _: &Path, _: OFlags) -> rustix::io::Result<OwnedFd> {
    Err(Errno::NOSYS)
}

/// Step by step: each folder is opened in the one before, and nothing that is a link.
fn in_steps(mut folder: OwnedFd, relative: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let mut steps = relative.components().peekable();
    while let Some(step) = steps.next() {
        let Component::Normal(name) = step else { return Err(Errno::XDEV) };
        let last = steps.peek().is_none();
        let flags = if last { flags } else { OFlags::RDONLY | OFlags::DIRECTORY };
        let opened =
            rustix::fs::openat(&folder, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
        folder = match opened {
            // A link where a folder should be is told as "not a folder".
            Err(Errno::NOTDIR) if !last => return Err(Errno::LOOP),
            opened => opened?,
        };
    }
    Ok(folder)
}

#[cfg(test)]
mod tests;
