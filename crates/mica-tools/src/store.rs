//! The one place where this crate changes files.
//!
//! Promise: a file is either as it was or as it was meant to be, never half of it. The new bytes go to a file beside it,
//! which then takes its name. Everything is done relative to an open folder that was reached without following links.

use std::fs::File;
use std::io::Write;
use std::path::{Component, Path};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::digest::Digest;
use crate::error::FileError;
use crate::journal::{Before, FileChange};
use crate::resolve::{Found, Place, Reach};
use crate::workspace::{Durability, Workspace};

/// Makes names of temporary files differ within the process; the process id makes them differ between processes.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Writes a change that was decided on `before`, and tells the journal. Refuses when the file is no longer that.
pub(crate) fn put(
    workspace: &Workspace,
    place: &Place,
    before: Option<Vec<u8>>,
    after: &[u8],
    cx: &mica_agent::ToolCx,
) -> Result<(), FileError> {
    let shown = || place.shown();
    workspace.may_write(place)?;
    let name =
        place.relative.file_name().ok_or_else(|| FileError::NotAFile { path: shown(), found: "a folder" })?;
    let parent = place.relative.parent().unwrap_or(Path::new(""));
    let change = FileChange {
        path: place.path(),
        run: cx.run.clone(),
        call: cx.call.clone(),
        before: before.map(|bytes| Before { digest: Digest::of(&bytes), bytes }),
        after: Digest::of(after),
    };
    // What lies beside the project is the agent's own, and no part of what is undone.
    let journal = Some(workspace.journal()).filter(|_| place.reach != Reach::Beside);
    if let Some(journal) = journal {
        journal.changing(&change).map_err(|reason| FileError::Journal { path: shown(), reason })?;
    }

    let folder = folder(place, parent)?;
    let failed = |doing| move |error: Errno| FileError::io(doing, shown(), error);
    // A file that few may read is at no moment readable for more.
    let mode = if change.before.is_some() { 0o600 } else { 0o666 };
    let (temporary, mut file) = beside(&folder, mode).map_err(failed("write beside"))?;
    let written = (|| {
        file.write_all(after).map_err(|error| FileError::io("write", shown(), error))?;
        if change.before.is_some() {
            let facts =
                rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed("look at"))?;
            let mode = Mode::from_raw_mode(facts.st_mode & 0o7777);
            rustix::fs::fchmod(&file, mode).map_err(failed("set the mode of"))?;
        }
        if workspace.durability() == Durability::Disk {
            file.sync_all().map_err(|error| FileError::io("write", shown(), error))?;
        }
        match &change.before {
            Some(before) => {
                // The last look before the swap. What an editor saves within this instant is lost, as between any two
                // editors; what it saved earlier is not.
                let now =
                    Place { found: Found::File, ..place.clone() }.read(workspace.limits().file_bytes)?;
                if Digest::of(&now) != before.digest {
                    return Err(FileError::Changed { path: shown() });
                }
                rustix::fs::renameat(&folder, temporary.as_str(), &folder, name).map_err(failed("replace"))
            }
            None => create(&folder, &temporary, name).map_err(|error| match error {
                Errno::EXIST => FileError::Changed { path: shown() },
                other => failed("create")(other),
            }),
        }
    })();
    if let Err(error) = written {
        // It may be gone already; then there is nothing left to clean up.
        let _ = rustix::fs::unlinkat(&folder, temporary.as_str(), AtFlags::empty());
        return Err(error);
    }
    if workspace.durability() == Durability::Disk {
        rustix::fs::fsync(&folder).map_err(failed("keep"))?;
    }
    if let Some(journal) = journal {
        journal.changed(change);
    }
    Ok(())
}

/// Gives a new file its name, unless the name is taken.
fn create(folder: &OwnedFd, temporary: &str, name: &std::ffi::OsStr) -> rustix::io::Result<()> {
    use rustix::fs::RenameFlags;
    match rustix::fs::renameat_with(folder, temporary, folder, name, RenameFlags::NOREPLACE) {
        // Some file systems cannot do it in one step.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => rustix::fs::renameat(folder, temporary, folder, name),
                Err(other) => Err(other),
                Ok(_) => Err(Errno::EXIST),
            }
        }
        done => done,
    }
}

/// A new, empty, hidden file in the folder.
fn beside(folder: &OwnedFd, mode: u32) -> rustix::io::Result<(String, File)> {
    loop {
        let name = format!(".mica-{}-{}.tmp", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(folder, name.as_str(), flags, Mode::from_raw_mode(mode)) {
            // Left behind by a process that was killed and had the same id.
            Err(Errno::EXIST) => {}
            opened => return opened.map(|file| (name, File::from(file))),
        }
    }
}

/// The open folder of a file, made if it is not there.
fn folder(place: &Place, parent: &Path) -> Result<OwnedFd, FileError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut made = Path::new("").to_owned();
    if place.reach == Reach::Beside {
        // It was given before it was there, and what does not exist has no links in it.
        std::fs::create_dir_all(&place.base)
            .map_err(|error| FileError::io("make the folder of", place.shown(), error))?;
    }
    let mut folder = place.beneath(&made, flags, "open the folder of")?;
    for step in parent.components() {
        let Component::Normal(name) = step else { continue };
        made.push(name);
        match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(FileError::io("make the folder of", place.shown(), error)),
        }
        folder = place.beneath(&made, flags, "open the folder of")?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests;
