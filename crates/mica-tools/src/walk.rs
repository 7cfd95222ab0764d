//! The files of a folder and its subfolders, in an order that is always the same.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::types::{Types, TypesBuilder};
use ignore::{WalkBuilder, WalkState};
use mica_agent::ToolError;
use tokio_util::sync::CancellationToken;

use crate::error::FileError;
use crate::guard;
use crate::resolve::{Found, Place};

/// Which files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those that a project is made of: not hidden, not ignored.
    Project,
    /// All but those of git itself.
    All,
}

/// Whether files that hold secrets are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secrets {
    /// By name: names are no secrets.
    Named,
    /// They are counted, and left out.
    LeftOut,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// The regular files, relative to the folder, in the order of paths.
    pub(crate) names: Vec<PathBuf>,
    /// Folders that could not be read.
    pub(crate) unread: usize,
    /// Files and folders that were left out because they hold secrets.
    pub(crate) secret: usize,
}

/// Threads that are worth it: more than this wait for each other.
const THREADS: usize = 8;

/// How many threads a search has.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(THREADS)
}

/// A file of a folder as a place that can be opened.
pub(crate) fn below(folder: &Place, relative: &Path) -> Place {
    if relative.as_os_str().is_empty() {
        return folder.clone();
    }
    Place { relative: folder.relative.join(relative), found: Found::File, ..folder.clone() }
}

/// The regular files below a folder that fit, by path. Links are not followed.
pub(crate) fn files(
    folder: &Place,
    scope: Scope,
    types: Option<Types>,
    secrets: Secrets,
    cancel: &CancellationToken,
    fits: &(dyn Fn(&Path) -> bool + Sync),
) -> Result<Files, FileError> {
    let root = folder.path();
    let places = guard::names()?;
    let secret = Arc::new(AtomicUsize::new(0));
    let unread = AtomicUsize::new(0);
    let mut builder = walk(&root, scope, types);
    {
        let (places, secret) = (Arc::clone(&places), Arc::clone(&secret));
        builder.filter_entry(move |entry| {
            let name = entry.file_name();
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            if secrets == Secrets::LeftOut && is_folder && places.is_secret_folder(&name.to_string_lossy()) {
                secret.fetch_add(1, Ordering::Relaxed);
                return false;
            }
            name != ".git"
        });
    }
    // Each thread keeps what it found, and hands it over when it ends.
    let found: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());
    builder.threads(threads()).build_parallel().run(|| {
        let mut kept = Kept { names: Vec::new(), all: &found };
        let (root, places, secret, unread) = (&root, &places, &secret, &unread);
        Box::new(move |entry| {
            if cancel.is_cancelled() {
                return WalkState::Quit;
            }
            let Ok(entry) = entry else {
                unread.fetch_add(1, Ordering::Relaxed);
                return WalkState::Continue;
            };
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                return WalkState::Continue;
            }
            let Ok(relative) = entry.path().strip_prefix(root) else { return WalkState::Continue };
            if !fits(relative) {
                return WalkState::Continue;
            }
            if secrets == Secrets::LeftOut && places.is_secret_name(&entry.file_name().to_string_lossy()) {
                secret.fetch_add(1, Ordering::Relaxed);
                return WalkState::Continue;
            }
            kept.names.push(key(relative));
            WalkState::Continue
        })
    });
    let mut names = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    names.sort_unstable();
    let names = names.into_iter().map(path).collect();
    Ok(Files { names, unread: unread.into_inner(), secret: secret.load(Ordering::Relaxed) })
}

/// What one thread found.
struct Kept<'a> {
    names: Vec<Vec<u8>>,
    all: &'a Mutex<Vec<Vec<u8>>>,
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.names);
    }
}

/// Bytes that are in order when the paths are: a slash comes before all letters. No name has a NUL in it.
fn key(path: &Path) -> Vec<u8> {
    let mut key = path.as_os_str().as_bytes().to_vec();
    key.iter_mut().filter(|byte| **byte == b'/').for_each(|byte| *byte = 0);
    key
}

fn path(mut key: Vec<u8>) -> PathBuf {
    key.iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = b'/');
    PathBuf::from(OsString::from_vec(key))
}

fn walk(root: &Path, scope: Scope, types: Option<Types>) -> WalkBuilder {
    let project = scope == Scope::Project;
    let mut builder = WalkBuilder::new(root);
    builder
        .standard_filters(false)
        .hidden(project)
        .parents(project)
        .ignore(project)
        .git_ignore(project)
        .git_exclude(project)
        // The user's own list is in the home folder, which libraries do not read.
        .git_global(false)
        // A list in a folder counts whether or not the folder is under git.
        .require_git(false)
        .follow_links(false);
    if let Some(types) = types {
        builder.types(types);
    }
    builder
}

/// A kind of files by its name, such as `rust` or `xml`.
pub(crate) fn types(name: &str) -> Result<Types, ToolError> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    builder.select(name);
    builder.build().map_err(|_| {
        ToolError::new(format!(
            "There is no file type {name:?}. Types are named like languages (rust, js, ts, py, java, xml, yaml, md); or \
             use glob, for example \"*.{name}\"."
        ))
    })
}
