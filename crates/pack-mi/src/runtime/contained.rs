//! Files of a folder, and of nowhere else.
//!
//! Projects and servers are written by programs that nobody trusts, and what is read here is read outside the sandbox. So
//! every step below the folder is opened without following a link, only regular files are read, opening never waits, and
//! no more is read than the caller can bear. What is written never goes through a link either.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Without NONBLOCK, opening a pipe would wait for a writer for ever.
const READING: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Opens a regular file below a folder.
///
/// # Errors
/// When it is missing, is no regular file, or a link is on the way.
pub(super) fn open(base: &Path, relative: &Path) -> io::Result<File> {
    let file = File::from(descend(base, relative, OFlags::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is no regular file")) }
}

/// The bytes of a file below a folder.
///
/// # Errors
/// Those of [`open`], and when there are more than `limit`.
pub(super) fn bytes(base: &Path, relative: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let taken = open(base, relative)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if taken as u64 > limit {
        return Err(io::Error::other(format!("it is larger than {limit} bytes")));
    }
    Ok(bytes)
}

/// The text of a file below a folder.
///
/// # Errors
/// Those of [`bytes`].
pub(super) fn text(base: &Path, relative: &Path, limit: u64) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&bytes(base, relative, limit)?).into_owned())
}

/// A folder below a folder, when it is there and no link leads to it.
///
/// # Errors
/// When something else is there, or a link is on the way.
pub(super) fn folder(base: &Path, relative: &Path) -> io::Result<Option<PathBuf>> {
    match descend(base, relative, OFlags::DIRECTORY) {
        Ok(_) => Ok(Some(base.join(relative))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Where a folder really is, when it is there. A link may lead to it, as long as it stays below the base.
///
/// # Errors
/// When it is elsewhere, or cannot be looked at.
pub(super) fn inside(base: &Path, relative: &Path) -> io::Result<Option<PathBuf>> {
    let real = match base.join(relative).canonicalize() {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if real.starts_with(base.canonicalize()?) {
        return Ok(Some(real));
    }
    Err(io::Error::other(format!("it leads to {}, which is outside", real.display())))
}

/// The same as [`folder`], made when it is missing.
///
/// # Errors
/// Those of [`folder`], and when it cannot be made.
pub(super) fn made(base: &Path, relative: &Path) -> io::Result<PathBuf> {
    let mut so_far = PathBuf::new();
    for step in relative.components() {
        so_far.push(step);
        if folder(base, &so_far)?.is_none() {
            std::fs::create_dir(base.join(&so_far))?;
        }
    }
    folder(base, relative)?.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Writes a file so that nobody sees half of it. A link in its place is replaced, not followed.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write(to: &Path, from: &mut impl Read) -> io::Result<()> {
    let mut part = to.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    match std::fs::remove_file(&part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let written = File::create_new(&part).and_then(|mut file| {
        io::copy(from, &mut file)?;
        file.flush()
    });
    written.and_then(|()| std::fs::rename(&part, to)).inspect_err(|_| {
        let _ = std::fs::remove_file(&part);
    })
}

fn descend(base: &Path, relative: &Path, last: OFlags) -> io::Result<OwnedFd> {
    let words = |error: Errno| match error {
        // What a link says where a file and where a folder was meant.
        Errno::LOOP | Errno::MLINK | Errno::NOTDIR => {
            io::Error::other("it is a link, or a link is on the way to it, and links are not followed")
        }
        Errno::NXIO => io::Error::other("it is no regular file"),
        error => error.into(),
    };
    let folder = READING | OFlags::DIRECTORY;
    let mut at = rustix::fs::open(base, folder, Mode::empty()).map_err(words)?;
    let steps: Vec<Component<'_>> = relative.components().filter(|step| *step != Component::CurDir).collect();
    for (number, step) in steps.iter().enumerate() {
        let Component::Normal(name) = step else {
            return Err(io::Error::other("it is outside the folder"));
        };
        let flags = if number + 1 == steps.len() { READING | last } else { folder };
        at = rustix::fs::openat(&at, *name, flags, Mode::empty()).map_err(words)?;
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests write files")]
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_regular_files_of_the_folder_itself_are_read() {
        let outer = tempfile::tempdir().unwrap();
        let base = outer.path().join("base");
        std::fs::create_dir_all(base.join("in")).unwrap();
        std::fs::create_dir_all(outer.path().join("out")).unwrap();
        std::fs::write(base.join("in/a"), "inside").unwrap();
        std::fs::write(outer.path().join("out/a"), "secret").unwrap();
        symlink(outer.path().join("out/a"), base.join("in/file-link")).unwrap();
        symlink(outer.path().join("out"), base.join("folder-link")).unwrap();
        symlink("/dev/zero", base.join("zeros")).unwrap();
        symlink(&base, outer.path().join("base-link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, base.join("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        let link = "it is a link, or a link is on the way to it, and links are not followed";
        for (path, limit, expected) in [
            ("in/a", 6, "inside"),
            ("./in/a", 6, "inside"),
            ("in/a", 5, "it is larger than 5 bytes"),
            ("in/file-link", 100, link),
            ("folder-link/a", 100, link),
            ("zeros", 100, link),
            ("pipe", 100, "it is no regular file"),
            ("in", 100, "it is no regular file"),
            ("../out/a", 100, "it is outside the folder"),
        ] {
            let got = text(&base, Path::new(path), limit).unwrap_or_else(|error| error.to_string());
            assert_eq!(got, expected, "{path}");
        }
        assert!(text(&outer.path().join("base-link"), Path::new("in/a"), 100).is_err());
        assert_eq!(folder(&base, Path::new("in")).unwrap(), Some(base.join("in")));
        assert_eq!(folder(&base, Path::new("nowhere")).unwrap(), None);
        assert!(folder(&base, Path::new("folder-link")).is_err());
        assert!(made(&base, Path::new("folder-link/new")).is_err());
        assert_eq!(made(&base, Path::new("new/one")).unwrap(), base.join("new/one"));
    }

    #[test]
    fn writing_replaces_links() {
        let outer = tempfile::tempdir().unwrap();
        let (theirs, to) = (outer.path().join("theirs"), outer.path().join("a"));
        std::fs::write(&theirs, "theirs").unwrap();
        symlink(&theirs, &to).unwrap();
        symlink(&theirs, outer.path().join("a.part")).unwrap();
        write(&to, &mut &b"ours"[..]).unwrap();
        assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "theirs");
        assert_eq!(std::fs::read_to_string(&to).unwrap(), "ours");
        assert!(!to.is_symlink());
    }
}
