//! Looking at and changing what is below the project, and nothing else: every step goes relative to an open folder, and
//! no link is followed on the way.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::state::{ContentHash, FileState, Name, Stamp, State};

/// Makes names of temporary files differ within the process.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// The project's folder.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    path: PathBuf,
}

/// What a stat says, for comparing.
pub(crate) fn stamp(facts: &Stat) -> Stamp {
    // The types of these fields differ between systems.
    #[allow(clippy::unnecessary_cast, clippy::cast_lossless, reason = "the types differ between systems")]
    Stamp {
        size: facts.st_size as u64,
        mtime: facts.st_mtime as i64 * 1_000_000_000 + facts.st_mtime_nsec as i64,
        ctime: facts.st_ctime as i64 * 1_000_000_000 + facts.st_ctime_nsec as i64,
        ino: facts.st_ino as u64,
    }
}

/// The permissions in a stat.
pub(crate) fn mode(facts: &Stat) -> u32 {
    #[allow(
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        reason = "the types differ between systems"
    )]
    let mode = facts.st_mode as u32;
    mode & 0o7777
}

/// Whether this is the name of a file that a writer here makes for an instant.
pub(crate) fn is_temporary(name: &[u8]) -> bool {
    name.starts_with(b".mica-") && name.ends_with(b".tmp")
}

impl Root {
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        if path.is_dir() { Ok(Self { path }) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A path relative to the project, when it is a plain way below it.
    pub(crate) fn relative(&self, path: &Path) -> Option<PathBuf> {
        let relative = if path.is_absolute() { path.strip_prefix(&self.path).ok()? } else { path };
        let plain: Option<PathBuf> = relative
            .components()
            .filter(|step| *step != Component::CurDir)
            .map(|step| if let Component::Normal(name) = step { Some(name) } else { None })
            .collect();
        plain.filter(|plain| !plain.as_os_str().is_empty())
    }

    /// Opens something below, without following a link.
    pub(crate) fn open(&self, relative: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let base = rustix::fs::open(
            &self.path,
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        if relative.as_os_str().is_empty() {
            return Ok(base);
        }
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::ResolveFlags;
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            match rustix::fs::openat2(&base, relative, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
                Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => {}
                done => return done,
            }
        }
        in_steps(base, relative, flags)
    }

    fn parent<'a>(&self, relative: &'a Path) -> rustix::io::Result<(OwnedFd, &'a OsStr)> {
        let name = relative.file_name().ok_or(Errno::INVAL)?;
        let folder = relative.parent().unwrap_or(Path::new(""));
        Ok((self.open(folder, OFlags::RDONLY | OFlags::DIRECTORY)?, name))
    }

    /// What the system says of a path, without following a link. `None`: nothing is there, or no way leads there.
    pub(crate) fn stat(&self, relative: &Path) -> io::Result<Option<Stat>> {
        let found = self
            .parent(relative)
            .and_then(|(folder, name)| rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW));
        match found {
            Ok(facts) => Ok(Some(facts)),
            // A file or a link where a folder was: what was in that folder is not there.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV | Errno::MLINK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What is at a path. The bytes of a file of at most `limit` bytes come along. What nobody may read is a file without
    /// a hash; where nobody may look, something else is.
    pub(crate) fn look(&self, relative: &Path, limit: u64) -> io::Result<(State, Option<Vec<u8>>)> {
        let facts = match self.stat(relative) {
            Ok(Some(facts)) => facts,
            Ok(None) => return Ok((State::Absent, None)),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok((State::Other, None)),
            Err(error) => return Err(error),
        };
        Ok(match FileType::from_raw_mode(facts.st_mode) {
            FileType::Directory => (State::Folder { mode: Some(mode(&facts)) }, None),
            FileType::Symlink => (State::Link { target: self.target(relative)? }, None),
            FileType::RegularFile => {
                let (hash, bytes, facts) = match self.read(relative, limit) {
                    Ok(Some((bytes, facts))) => (Some(ContentHash::of(&bytes)), Some(bytes), facts),
                    Ok(None) => (None, None, facts),
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => (None, None, facts),
                    Err(error) => return Err(error),
                };
                let stamp = stamp(&facts);
                let size = bytes.as_ref().map_or(stamp.size, |bytes| bytes.len() as u64);
                (State::File(FileState { hash, size, mode: Some(mode(&facts)), stamp: Some(stamp) }), bytes)
            }
            _ => (State::Other, None),
        })
    }

    pub(crate) fn target(&self, relative: &Path) -> io::Result<Name> {
        let (folder, name) = self.parent(relative)?;
        let target = rustix::fs::readlinkat(folder, name, Vec::new())?;
        Ok(Name(PathBuf::from(std::ffi::OsString::from_vec(target.into_bytes()))))
    }

    /// The bytes of a regular file and what it was while they were read. `None`: it is larger than the limit.
    pub(crate) fn read(&self, relative: &Path, limit: u64) -> io::Result<Option<(Vec<u8>, Stat)>> {
        // Without NONBLOCK, a pipe that took the file's place would be waited for.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::from(self.open(relative, flags)?);
        let facts = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if stamp(&facts).size > limit {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(stamp(&facts).size).unwrap_or(0));
        (&file).take(limit + 1).read_to_end(&mut bytes)?;
        Ok((bytes.len() as u64 <= limit).then_some((bytes, facts)))
    }

    /// Removes a file or a link. What is not there is removed already.
    pub(crate) fn remove_file(&self, relative: &Path) -> io::Result<()> {
        let (folder, name) = match self.parent(relative) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
            other => other?,
        };
        match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a folder when it is empty. Answers whether it is gone.
    pub(crate) fn remove_folder(&self, relative: &Path) -> io::Result<bool> {
        let (folder, name) = match self.parent(relative) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(true),
            other => other?,
        };
        match rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes a folder. One that is there stays.
    pub(crate) fn make_folder(&self, relative: &Path) -> io::Result<()> {
        let (folder, name) = self.parent(relative)?;
        match rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn set_folder_mode(&self, relative: &Path, mode: u32) -> io::Result<()> {
        let mode = Mode::from_raw_mode(mode);
        match self.open(relative, OFlags::RDONLY | OFlags::DIRECTORY) {
            Ok(folder) => Ok(rustix::fs::fchmod(folder, mode)?),
            Err(Errno::ACCESS) => Ok(self.set_closed_folder_mode(relative, mode)?),
            Err(error) => Err(error.into()),
        }
    }

    /// For a folder that its owner may not open. It is held by a handle that cannot be read from, so that no link can take
    /// its place.
    #[cfg(target_os = "linux")]
    fn set_closed_folder_mode(&self, relative: &Path, mode: Mode) -> rustix::io::Result<()> {
        use std::os::fd::AsRawFd;
        let folder = self.open(relative, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW)?;
        rustix::fs::chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), mode)
    }

    #[cfg(not(target_os = "linux"))]
    fn set_closed_folder_mode(&self, relative: &Path, mode: Mode) -> rustix::io::Result<()> {
        let (folder, name) = self.parent(relative)?;
        rustix::fs::chmodat(folder, name, mode, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Puts a file there, in one step: others see what was there before or all of it.
    pub(crate) fn put_file(&self, relative: &Path, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
        self.swap_in(relative, |folder, temporary| {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            // A file that few may read is at no moment readable for more.
            let first = if mode.is_some() { 0o600 } else { 0o666 };
            let mut file =
                File::from(rustix::fs::openat(folder, temporary, flags, Mode::from_raw_mode(first))?);
            file.write_all(bytes)?;
            if let Some(mode) = mode {
                rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
            }
            // Not waited for on the disk, as no tool does: its bytes are kept until they are.
            Ok(())
        })
    }

    /// Puts a link there, in one step.
    pub(crate) fn put_link(&self, relative: &Path, target: &Path) -> io::Result<()> {
        self.swap_in(relative, |folder, temporary| Ok(rustix::fs::symlinkat(target, folder, temporary)?))
    }

    fn swap_in(
        &self,
        relative: &Path,
        make: impl FnOnce(&OwnedFd, &str) -> io::Result<()>,
    ) -> io::Result<()> {
        let (folder, name) = self.parent(relative)?;
        let temporary =
            format!(".mica-{}-u{}.tmp", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        // Left behind by a process that was killed and had the same id.
        let _ = rustix::fs::unlinkat(&folder, temporary.as_str(), AtFlags::empty());
        let put = make(&folder, &temporary)
            .and_then(|()| Ok(rustix::fs::renameat(&folder, temporary.as_str(), &folder, name)?));
        if put.is_err() {
            let _ = rustix::fs::unlinkat(&folder, temporary.as_str(), AtFlags::empty());
        }
        put
    }
}

/// Step by step: each folder is opened in the one before, and nothing that is a link.
fn in_steps(mut folder: OwnedFd, relative: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let mut steps = relative.components().peekable();
    while let Some(step) = steps.next() {
        let Component::Normal(name) = step else { return Err(Errno::XDEV) };
        let last = steps.peek().is_none();
        let flags = if last { flags } else { OFlags::RDONLY | OFlags::DIRECTORY };
        folder = rustix::fs::openat(
            folder.as_fd(),
            name,
            flags | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
    }
    Ok(folder)
}
