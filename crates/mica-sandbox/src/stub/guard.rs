//! Keeps what is frozen or hidden so while the command runs.
//!
//! A mount lies on a file, not on a name. When somebody outside replaces the file (`git config` writes a new one and
//! renames it) or removes and remakes the folder, the kernel takes the mount away, and what is at the name now is as open
//! as the folder around it. The keeper hears of that and puts the mount back. It cannot be faster than the command in
//! between, so it also tells that it happened.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

use super::{Stop, mounts};
use crate::plan::{Plan, Report};

/// Room for many events at a time.
const EVENTS: usize = 8 * 1024;

/// What is watched, and how.
pub(crate) struct Guard<'a> {
    plan: &'a Plan,
    /// Those that were there when the command began. What it makes itself is its own.
    frozen: Vec<&'a Path>,
    /// Folders in writable roots in which something is, or is on the way to something.
    folders: BTreeSet<PathBuf>,
    /// The names in those that matter.
    names: BTreeSet<OsString>,
    /// Tells of changes at once. Without, they are found when everything is looked at now and then.
    news: Option<OwnedFd>,
}

impl<'a> Guard<'a> {
    /// Begins to watch, when the exceptions have been made.
    pub(crate) fn of(plan: &'a Plan) -> Self {
        let is_there = |path: &&Path| path.symlink_metadata().is_ok();
        let frozen: Vec<&Path> = plan.frozen.iter().map(PathBuf::as_path).filter(is_there).collect();
        let (mut folders, mut names) = (BTreeSet::new(), BTreeSet::new());
        for path in frozen.iter().copied().chain(plan.hidden.iter().map(PathBuf::as_path)) {
            let Some(root) = mounts::root_of(plan, path) else { continue };
            for part in path.ancestors().take_while(|part| *part != root) {
                folders.extend(part.parent().map(Path::to_owned));
                names.extend(part.file_name().map(OsStr::to_owned));
            }
        }
        let news = if folders.is_empty() {
            None
        } else {
            inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()
        };
        let guard = Self { plan, frozen, folders, names, news };
        guard.listen();
        guard
    }

    /// Where changes are told.
    pub(crate) fn news(&self) -> Option<BorrowedFd<'_>> {
        self.news.as_ref().map(AsFd::as_fd)
    }

    /// Takes what was told, and answers whether a name that matters was in it.
    pub(crate) fn has_heard(&self) -> bool {
        let Some(news) = &self.news else { return false };
        let mut space = [MaybeUninit::uninit(); EVENTS];
        let mut events = inotify::Reader::new(news, &mut space);
        let mut matters = false;
        while let Ok(event) = events.next() {
            let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
            // Without a name it is the folder itself, or there was more than could be told.
            matters |= name.is_none_or(|name| self.names.contains(name));
            if events.is_buffer_empty() {
                break;
            }
        }
        matters
    }

    /// Puts back what is missing, and answers what was.
    ///
    /// # Errors
    /// When it cannot be put back. Then the command must end.
    pub(crate) fn renew(&self) -> Result<Vec<Report>, Stop> {
        // Before anything is looked at: what comes to be in a new folder after that is told.
        self.listen();
        let mut renewed = Vec::new();
        for path in &self.frozen {
            // Behind a link, it is where that leads now.
            let Ok(real) = path.canonicalize() else { continue };
            if mounts::root_of(self.plan, &real).is_some()
                && is_open(&real)
                && put_back(&real, || mounts::freeze(self.plan, &real))?
            {
                renewed.push(Report::Replaced { path: path.to_path_buf() });
            }
        }
        for path in &self.plan.hidden {
            let Ok(real) = path.canonicalize() else { continue };
            if is_open(&real) && put_back(&real, || mounts::cover(std::slice::from_ref(&real)))? {
                renewed.push(Report::Replaced { path: path.clone() });
            }
        }
        Ok(renewed)
    }

    /// Folders that were replaced are other ones now. Those that are the same are not listened to twice.
    fn listen(&self) {
        let Some(news) = &self.news else { return };
        let changes = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
        for folder in &self.folders {
            let _ = inotify::add_watch(news, folder, changes);
        }
    }
}

/// Does it, and answers whether it was done: what is gone by then needs nothing.
fn put_back(path: &Path, how: impl FnOnce() -> Result<(), Stop>) -> Result<bool, Stop> {
    match how() {
        Ok(()) => Ok(true),
        Err(_) if path.symlink_metadata().is_err() => Ok(false),
        Err(stop) => Err(stop),
    }
}

/// Whether something is there, and no mount lies on it.
fn is_open(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|kind| !kind.is_symlink()) && !mounts::is_mount(path)
}
