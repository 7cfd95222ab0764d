//! What cannot be kept from a command by a mount, and is looked at when it has ended: links in frozen places, and frozen
//! places that were not there before.
//!
//! Nothing can lie on a link, so the command can replace one; it is put back. Nothing can lie on what is not there, so the
//! command can make a repository with hooks; they lose the right to be executed, and git passes over them. Everything
//! that the command started has ended by then, so nobody moves what is looked at.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::boundary::Boundary;
use crate::notice::Notice;

/// The rights to execute.
const EXECUTE: u32 = 0o111;
/// Parts of settings of git that name programs, or other files with settings.
const RUNS: &[&str] = &[
    "hookspath",
    "fsmonitor",
    "command",
    "pager",
    "editor",
    "helper",
    "textconv",
    "clean",
    "smudge",
    "process",
    "askpass",
    "program",
    "driver",
    "include",
    "alias",
];

/// What was there before a command.
#[derive(Debug, Default)]
pub(crate) struct Before {
    /// Links that are frozen, or on the way to what is, and what they said.
    links: Vec<(PathBuf, PathBuf)>,
    /// Frozen places that were missing.
    missing: Vec<PathBuf>,
    /// Writable folders that were no repositories.
    bare: Vec<PathBuf>,
}

impl Before {
    /// Looks at what a boundary freezes.
    pub(crate) fn of(boundary: &Boundary) -> Self {
        let mut before = Self::default();
        for path in &boundary.frozen {
            let Some(root) = boundary.writable.iter().find(|root| path.starts_with(root)) else { continue };
            let mut way: Vec<&Path> = path.ancestors().take_while(|part| part != root).collect();
            way.reverse();
            for part in way {
                if let Ok(to) = part.read_link()
                    && !before.links.iter().any(|(link, _)| link == part)
                {
                    before.links.push((part.to_owned(), to));
                }
            }
            let git = root.join(".git");
            if path.starts_with(&git) && git.symlink_metadata().is_err() {
                if !before.bare.contains(root) {
                    before.bare.push(root.clone());
                }
            } else if path.symlink_metadata().is_err() {
                before.missing.push(path.clone());
            }
        }
        before
    }

    /// Looks again, undoes what can be undone, and tells.
    pub(crate) fn after(self) -> Vec<Notice> {
        let mut notices = Vec::new();
        for (link, to) in self.links {
            if link.read_link().is_ok_and(|now| now == to) {
                continue;
            }
            notices.push(match put_back(&link, &to) {
                Ok(aside) => Notice::LinkPutBack { path: link, aside },
                Err(error) => Notice::LinkReplaced { path: link, reason: error.to_string() },
            });
        }
        for root in self.bare {
            disarm(&root, &mut notices);
        }
        let made = self.missing.into_iter().filter(|path| path.symlink_metadata().is_ok());
        notices.extend(made.map(|path| Notice::Made { path }));
        notices
    }
}

/// Puts a link back, and answers where what was in its place is now.
fn put_back(link: &Path, to: &Path) -> io::Result<Option<PathBuf>> {
    let mut aside = None;
    match link.symlink_metadata() {
        Ok(kind) if kind.is_symlink() => std::fs::remove_file(link)?,
        Ok(_) => {
            let free =
                (0..100).map(|number| beside(link, number)).find(|path| path.symlink_metadata().is_err());
            let free = free.ok_or(io::ErrorKind::AlreadyExists)?;
            std::fs::rename(link, &free)?;
            aside = Some(free);
        }
        Err(_) => {}
    }
    std::os::unix::fs::symlink(to, link)?;
    Ok(aside)
}

fn beside(path: &Path, number: usize) -> PathBuf {
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(if number == 0 { ".replaced".to_owned() } else { format!(".replaced-{number}") });
    path.with_file_name(name)
}

/// Takes the right to be executed from the hooks of a repository that is new.
fn disarm(root: &Path, notices: &mut Vec<Notice>) {
    let Some(git) = repository(root) else { return };
    let config = git.join("config");
    let settings = std::fs::read_to_string(&config).unwrap_or_default().to_lowercase();
    if settings.lines().any(|line| RUNS.iter().any(|word| line.contains(word))) {
        notices.push(Notice::Made { path: config });
    }
    let hooks = git.join("hooks");
    if hooks.symlink_metadata().is_ok_and(|kind| kind.is_symlink()) {
        // What it leads to may be the project's own, and need its rights.
        if std::fs::remove_file(&hooks).is_ok() {
            notices.push(Notice::Disarmed { path: hooks });
        }
        return;
    }
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(&hooks).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for hook in entries.into_iter().filter(|hook| hook.extension().is_none_or(|ending| ending != "sample")) {
        let Ok(meta) = hook.symlink_metadata() else { continue };
        let done = if meta.is_symlink() {
            std::fs::remove_file(&hook)
        } else if meta.is_file() && meta.permissions().mode() & EXECUTE != 0 {
            let rights = std::fs::Permissions::from_mode(meta.permissions().mode() & 0o7777 & !EXECUTE);
            std::fs::set_permissions(&hook, rights)
        } else {
            continue;
        };
        notices.push(match done {
            Ok(()) => Notice::Disarmed { path: hook },
            Err(_) => Notice::Made { path: hook },
        });
    }
}

/// Where a folder has its repository now: inside it, since the command could make none elsewhere.
fn repository(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    let folder = match std::fs::read_to_string(&git) {
        Ok(text) => root.join(text.strip_prefix("gitdir:")?.trim()),
        Err(_) => git,
    };
    let folder = folder.canonicalize().ok()?;
    (folder.is_dir() && folder.starts_with(root)).then_some(folder)
}
