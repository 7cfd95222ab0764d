//! What can go wrong with undoing, by what can be done about it.

use std::io;
use std::path::{Path, PathBuf};

/// What can go wrong with undoing.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// A file cannot be read or written.
    #[error("cannot {doing} {}: {source}{}", path.display(), advice(source))]
    Io {
        /// What was tried, as a verb.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line cannot be written as JSON.
    #[error("the change cannot be written down: {source}")]
    Unwritable {
        /// What the writer said.
        source: serde_json::Error,
    },
    /// The log is of a version that this program cannot read.
    #[error("{} has format version {found}: use a newer program", path.display())]
    Version {
        /// The log.
        path: PathBuf,
        /// Its version.
        found: String,
    },
    /// The path is not below the project.
    #[error("{} is not below {}: only what is in the project can be undone", path.display(), root.display())]
    Outside {
        /// The path.
        path: PathBuf,
        /// The project.
        root: PathBuf,
    },
    /// Nothing is left to undo or redo.
    #[error("{0}")]
    Nothing(String),
    /// No run has this id.
    #[error(
        "no run that changed files has an id that begins or ends with {given:?}: list the runs to see those there are"
    )]
    NoRun {
        /// What was asked for.
        given: String,
    },
    /// Several runs have such an id.
    #[error("{count} runs have an id that begins or ends with {given:?}: give more of it")]
    Ambiguous {
        /// What was asked for.
        given: String,
        /// How many there are.
        count: usize,
    },
    /// A run is going on in the project.
    #[error("a run is going on in this project: wait until it has ended, or undo from where it runs")]
    Busy,
    /// Files are not what the last recorded change left.
    #[error("{count} of the files were changed since by someone else: nothing was touched")]
    Conflicts {
        /// How many.
        count: usize,
    },
    /// A file changed between looking and doing.
    #[error("{path} changed just now: nothing more was touched; try again")]
    Moved {
        /// The file.
        path: String,
    },
}

impl UndoError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| UndoError::Io { doing, path: path.to_owned(), source }
    }

    /// Whether there was no room left on the disk.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, UndoError::Io { source, .. } if is_full(source))
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

fn advice(source: &io::Error) -> &'static str {
    if is_full(source) { ". Make room and try again" } else { "" }
}
