//! The folder that tools work in, what they may read besides, and what they know of its files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mica_agent::Resource;

use crate::error::FileError;
use crate::guard;
use crate::journal::{Journal, NoJournal};
use crate::limits::Limits;
use crate::near;
use crate::resolve::{Folders, Found, Place, Reach};
use crate::seen::Seen;
use crate::text::{self, Decoded};

/// The folder that tools work in. Cheap to clone; all tools of a session share one, because what one has read another
/// may overwrite.
#[derive(Clone)]
pub struct Workspace {
    root: Arc<Path>,
    /// Folders beside the root, and what may be done there.
    others: Arc<[(PathBuf, Reach)]>,
    limits: Arc<Limits>,
    durability: Durability,
    seen: Arc<Seen>,
    journal: Arc<dyn Journal>,
    /// What people trust as it is, of what tools may write.
    trusted: Option<Arc<IsTrusted>>,
}

/// Whether a path is, or is in, something that people trust as it is.
pub type IsTrusted = dyn Fn(&Path) -> bool + Send + Sync;

/// When a write counts as done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// When the system has it. A crash of the machine may lose it; never half of it.
    #[default]
    System,
    /// When the disk has it.
    Disk,
}

impl Workspace {
    /// A workspace in a folder that exists.
    ///
    /// # Errors
    /// [`FileError`] when it does not, or is not a folder.
    pub fn new(root: impl AsRef<Path>) -> Result<Self, FileError> {
        Ok(Self {
            root: folder(root.as_ref())?.into(),
            others: Arc::new([]),
            limits: Arc::default(),
            durability: Durability::default(),
            seen: Arc::default(),
            journal: Arc::new(NoJournal),
            trusted: None,
        })
    }

    /// Lets tools read, but not write, another folder: where large results are put, for example. It may be made later;
    /// a link that is put there instead leads nowhere.
    ///
    /// # Errors
    /// [`FileError`] when something that is no folder is there; and as long as nothing is there, when its path is not
    /// absolute or has `..` in the part that is missing.
    pub fn with_readable(self, other: impl AsRef<Path>) -> Result<Self, FileError> {
        self.with_other(other.as_ref(), Reach::Read)
    }

    /// Lets tools read and write another folder: where plans are kept, for example. It is made with the first file.
    ///
    /// # Errors
    /// Those of [`Workspace::with_readable`].
    pub fn with_writable(self, other: impl AsRef<Path>) -> Result<Self, FileError> {
        self.with_other(other.as_ref(), Reach::Beside)
    }

    fn with_other(mut self, other: &Path, reach: Reach) -> Result<Self, FileError> {
        self.others = self.others.iter().cloned().chain([(coming(other)?, reach)]).collect();
        Ok(self)
    }

    /// Changes the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = Arc::new(limits);
        self
    }

    /// Says when a write counts as done.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Tells changes to a journal.
    #[must_use]
    pub fn with_journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = journal;
        self
    }

    /// Keeps tools from changing what people trust: a change would take it out of use, and with it whatever it watches over.
    /// Asked only about what tools may write although it decides what agents do later.
    #[must_use]
    pub fn with_trusted(mut self, is_trusted: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        self.trusted = Some(Arc::new(is_trusted));
        self
    }

    /// Refuses what may not be written.
    pub(crate) fn may_write(&self, place: &Place) -> Result<(), FileError> {
        place.may_write()?;
        match &self.trusted {
            Some(is_trusted) if guard::is_taught(place)? && is_trusted(&place.path()) => {
                Err(FileError::Trusted { path: place.shown() })
            }
            _ => Ok(()),
        }
    }

    /// The same folder for another agent: what this one has read, that one has not.
    #[must_use]
    pub fn for_another(&self) -> Self {
        Self { seen: Arc::default(), ..self.clone() }
    }

    /// The canonical root folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Files were put back by somebody else: the model must read them again before it may overwrite them.
    pub fn forget<'a>(&self, paths: impl IntoIterator<Item = &'a Path>) {
        paths.into_iter().for_each(|path| self.seen.forget(&self.root.join(path)));
    }

    pub(crate) fn durability(&self) -> Durability {
        self.durability
    }

    pub(crate) fn seen(&self) -> &Seen {
        &self.seen
    }

    /// Who is told what changes.
    pub fn journal(&self) -> &dyn Journal {
        &*self.journal
    }

    /// The place that a path means, whether or not something is there.
    ///
    /// # Errors
    /// [`FileError`] when the path is unusable or leads out of what may be touched.
    pub fn resolve(&self, path: &str) -> Result<Place, FileError> {
        Folders { root: &self.root, others: &self.others }.resolve(path)
    }

    /// The place of a path that exists.
    ///
    /// # Errors
    /// Those of [`Workspace::resolve`], and [`FileError::Missing`] with names that look like it.
    pub fn existing(&self, path: &str) -> Result<Place, FileError> {
        let place = self.resolve(path)?;
        match place.found() {
            Found::Nothing => Err(FileError::Missing { path: place.shown(), near: near::names(&place) }),
            _ => Ok(place),
        }
    }

    /// The place of a path that exists and may be read: no file that holds secrets, by the table that all tools keep to.
    ///
    /// # Errors
    /// Those of [`Workspace::existing`], and [`FileError::Secret`].
    pub fn readable(&self, path: &str) -> Result<Place, FileError> {
        let place = self.existing(path)?;
        place.may_read()?;
        Ok(place)
    }

    /// The place of a path that may be written.
    ///
    /// # Errors
    /// Those of [`Workspace::resolve`], and that it is a folder, no regular file, or may only be read.
    pub fn writable(&self, path: &str) -> Result<Place, FileError> {
        let place = self.resolve(path)?;
        if place.reach == Reach::Read {
            return Err(FileError::ReadOnly { path: place.shown(), root: self.root.to_path_buf() });
        }
        self.may_write(&place)?;
        if place.found() == Found::Nothing {
            new_name(path, &place)?;
        }
        if path.ends_with('/') {
            return Err(FileError::NotAFile { path: path.to_owned(), found: "the name of a folder" });
        }
        match place.found() {
            Found::Folder => Err(FileError::NotAFile { path: place.shown(), found: "a folder" }),
            Found::Other(found) => Err(FileError::NotAFile { path: place.shown(), found }),
            Found::File | Found::Nothing => Ok(place),
        }
    }

    /// The text of a file of at most `limit` bytes; `None` when it is no text.
    ///
    /// # Errors
    /// [`FileError`] when it cannot be read.
    pub fn text(&self, path: &str, limit: u64) -> Result<Option<String>, FileError> {
        let bytes = self.existing(path)?.read(limit)?;
        Ok(match text::decode(&bytes) {
            Decoded::Text(text) => Some(text.text),
            Decoded::Lossy { text, .. } => Some(text),
            Decoded::Binary => None,
        })
    }

    /// What a call on a path touches. A path that means nothing touches, to be safe, everything.
    pub fn touched(&self, path: Option<&str>) -> Vec<Resource> {
        let place = path.and_then(|path| self.resolve(path).ok());
        place.map(|place| Resource::file(place.path())).into_iter().collect()
    }
}

/// Refuses names that some disks read as another name, and that people cannot see.
fn new_name(given: &str, place: &Place) -> Result<(), FileError> {
    let bad = |reason| Err(FileError::BadPath { path: given.to_owned(), reason });
    for step in place.relative.components() {
        let name = step.as_os_str().to_string_lossy();
        if name.chars().any(char::is_control) {
            return bad("a new name may have no control characters in it");
        }
        if name.ends_with([' ', '.']) || name.starts_with(' ') {
            return bad("a new name may not begin with a blank, or end with a blank or a dot");
        }
    }
    Ok(())
}

/// The canonical path of a folder, as far as it exists. What does not exist has no links in it.
fn coming(path: &Path) -> Result<PathBuf, FileError> {
    let shown = || path.display().to_string();
    if fs::symlink_metadata(path).is_ok() {
        return folder(path);
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if path.is_absolute() => Ok(coming(parent)?.join(name)),
        // What `..` means below a folder that is not there, nobody can say.
        _ => Err(FileError::BadPath {
            path: shown(),
            reason: "it is not absolute, or has `..` in what is not there",
        }),
    }
}

fn folder(path: &Path) -> Result<PathBuf, FileError> {
    let shown = || path.display().to_string();
    let canonical = fs::canonicalize(path).map_err(|error| FileError::io("open", shown(), error))?;
    if canonical.is_dir() { Ok(canonical) } else { Err(FileError::NotAFolder { path: shown() }) }
}
