//! The sessions of a folder: begin, open, find, list, fork, rename, delete.

mod children;
mod retention;
mod summary;

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::blob::Limits;
use crate::entry::{ForkedFrom, Header, Version};
use crate::error::SessionError;
use crate::files;
use crate::id::{EntryId, SessionId};
use crate::lock::{self, Lock};
use crate::paths;
use crate::session::{self, Access, Clock, Means, Session};
use crate::tree::TreeError;
use crate::upcast;

pub use retention::{Goes, Plan, Retention, Spared, Why};
pub use summary::{Listing, Summary};

/// All sessions below one folder.
#[derive(Clone)]
pub struct Sessions {
    folder: PathBuf,
    means: Means,
}

impl Sessions {
    /// The sessions below a folder, which need not be there yet. `clock` tells the time of what is appended.
    pub fn new(folder: impl Into<PathBuf>, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        let clock: Clock = std::sync::Arc::new(clock);
        Self {
            folder: folder.into(),
            means: Means { clock, limits: Limits::default(), steps: upcast::STEPS },
        }
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.means.limits = limits;
        self
    }

    #[cfg(test)]
    pub(crate) fn with_steps(mut self, steps: &'static [upcast::Upcaster]) -> Self {
        self.means.steps = steps;
        self
    }

    /// Begins a session. Its file is there, with its header, when this returns.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn create(&self, project: &Path, name: Option<&str>) -> Result<Session, SessionError> {
        let header = self.header(project.to_string_lossy().into_owned(), name.map(str::to_owned), None);
        session::create(&self.place(project, &header), &header, &[], &self.means)
    }

    /// Begins a session that leaves nothing behind until something is said: its id and its path are known, and its file
    /// is made, and locked, with the first entry.
    pub fn draft(&self, project: &Path, name: Option<&str>) -> Session {
        let header = self.header(project.to_string_lossy().into_owned(), name.map(str::to_owned), None);
        session::draft(&self.place(project, &header), header, &self.means)
    }

    /// Opens a session's file. With [`Access::Write`] a torn tail is mended.
    ///
    /// # Errors
    /// When it is no session, is of a version that is too new, or, for writing, when somebody else writes to it.
    pub fn open(&self, path: &Path, access: Access) -> Result<Session, SessionError> {
        session::open(path, access, &self.means)
    }

    /// Begins a session with a copy of the path from the root to an entry, marks included. The entries keep their ids.
    ///
    /// # Errors
    /// When the entry is not there, or the files cannot be read or made.
    pub fn fork(&self, from: &Session, entry: EntryId) -> Result<Session, SessionError> {
        match from.tree().node(entry) {
            None => return Err(TreeError::NoEntry { id: entry }.into()),
            Some(node) if node.kind.is_aside() => {
                return Err(TreeError::Aside { id: entry, kind: node.kind }.into());
            }
            Some(_) => {}
        }
        let source = from.header();
        let name = from.name().map(str::to_owned);
        let forked_from = ForkedFrom { session: source.id, entry };
        let header = self.header(source.project.clone(), name, Some(forked_from));
        let path = self.place(Path::new(&source.project), &header);
        let (lines, hashes) = from.raw_path(entry)?;
        // Blobs first, so that no line refers to one that is not there.
        let (theirs, ours) = (paths::blobs(from.path()), paths::blobs(&path));
        if !hashes.is_empty() {
            files::make_folder(&ours).map_err(SessionError::io("make", &ours))?;
        }
        for hash in hashes {
            let (from, to) = (theirs.join(&hash), ours.join(&hash));
            match files::duplicate(&from, &to) {
                // What is missing there is missing here, and is told when it is read.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                other => other.map_err(SessionError::io("copy", &from))?,
            }
        }
        let mut fork = session::create(&path, &header, &lines, &self.means)?;
        let marks: Vec<(EntryId, String)> =
            from.tree().labels().map(|(id, label)| (id, label.to_owned())).collect();
        for (id, label) in marks {
            if fork.tree().node(id).is_some() {
                fork.label(id, Some(&label))?;
            }
        }
        fork.sync()?;
        Ok(fork)
    }

    /// The session that a text names: see [`SessionId::answers_to`].
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn find(&self, given: &str) -> Result<PathBuf, SessionError> {
        let mut found = self.matching(given);
        let given = given.to_owned();
        match (found.len(), found.pop()) {
            (1, Some(path)) => Ok(path),
            (0, _) => Err(SessionError::NotFound { given }),
            (count, _) => Err(SessionError::Ambiguous { given, count }),
        }
    }

    /// All sessions that a text names, in no particular order.
    pub fn matching(&self, given: &str) -> Vec<PathBuf> {
        let fits = |path: &PathBuf| paths::id_in_name(path).is_some_and(|id| id.answers_to(given));
        let all = self.files(None);
        let found: Vec<PathBuf> = all.iter().filter(|path| fits(path)).cloned().collect();
        // What somebody said themselves is meant rather than what a subagent said.
        if found.is_empty() {
            return all.iter().flat_map(|path| self.child_files(path)).filter(fits).collect();
        }
        found
    }

    /// Whether somebody writes to a session now.
    pub fn is_open(&self, path: &Path) -> bool {
        lock::is_held(path)
    }

    /// Names a session that is not open.
    ///
    /// # Errors
    /// As [`Sessions::open`].
    pub fn rename(&self, path: &Path, name: &str) -> Result<(), SessionError> {
        self.open(path, Access::Write)?.rename(name).map(drop)
    }

    /// Deletes a session with all that belongs to it: index, blobs, what was torn off, older versions, the lock.
    ///
    /// # Errors
    /// When somebody writes to it, or a file cannot be removed. What is left can be deleted again.
    pub fn delete(&self, path: &Path) -> Result<(), SessionError> {
        if !path.is_file() {
            return Err(SessionError::NotFound { given: path.display().to_string() });
        }
        let _lock = Lock::take(path)?;
        // The session's own file goes last: as long as anything is left, it can be found and deleted again.
        for file in paths::companions(path).iter().map(PathBuf::as_path).chain([path]) {
            files::remove(file).map_err(SessionError::io("remove", file))?;
        }
        files::sync_parent(path).map_err(SessionError::io("sync", path))
    }

    fn header(&self, project: String, name: Option<String>, forked_from: Option<ForkedFrom>) -> Header {
        let now = (self.means.clock)();
        let created = now.round(jiff::Unit::Millisecond).unwrap_or(now);
        Header {
            version: Version::CURRENT,
            id: SessionId::fresh(created),
            created,
            project,
            name,
            forked_from,
            child_of: None,
        }
    }

    fn place(&self, project: &Path, header: &Header) -> PathBuf {
        let folder = self.folder.join(paths::project_key(project));
        folder.join(paths::file_name(header.created, header.id))
    }

    /// The files of sessions, of one project or of all, in no particular order.
    fn files(&self, project: Option<&Path>) -> Vec<PathBuf> {
        let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
        let folders = match project {
            Some(project) => vec![self.folder.join(paths::project_key(project))],
            None => entries(&self.folder).map(|entry| entry.path()).collect(),
        };
        let files = folders.iter().flat_map(|folder| entries(folder)).map(|entry| entry.path());
        files.filter(|path| paths::id_in_name(path).is_some()).collect()
    }
}

#[cfg(test)]
mod tests;
