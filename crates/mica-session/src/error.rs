//! What can go wrong with sessions, by what can be done about it.

use std::io;
use std::path::{Path, PathBuf};

use crate::entry::Version;
use crate::tree::TreeError;

/// What can go wrong with sessions.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A file cannot be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An entry could not be appended. The file is as it was before.
    #[error("the entry was not saved in {}: {}", path.display(), append_advice(source))]
    Append {
        /// The session's file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else writes to the session.
    #[error("{} is open in another program{}: close it there, or open it for reading", path.display(), holder(*pid))]
    Locked {
        /// The session's file.
        path: PathBuf,
        /// The process that has it open, when it is known.
        pid: Option<u32>,
    },
    /// The file does not begin like a session. It is left as it is.
    #[error("{} is no session ({reason}): it was left as it is", path.display())]
    NotASession {
        /// The file.
        path: PathBuf,
        /// What is wrong with its first line.
        reason: String,
    },
    /// The file is of a version that this program cannot read.
    #[error(
        "{} has format version {found}, and this program reads {}: open it with {} program",
        path.display(), Version::CURRENT, other_program(*found)
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: Version,
    },
    /// The session was opened for reading.
    #[error("{} is open for reading only: open it with `Access::Write` to change it", path.display())]
    ReadOnly {
        /// The session's file.
        path: PathBuf,
    },
    /// The entry does not fit into the tree.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The entry is larger than an entry may be.
    #[error(
        "the entry takes {bytes} bytes, and {limit} is the limit: put large payloads into files and name those"
    )]
    TooLarge {
        /// Its size as a line.
        bytes: usize,
        /// What a line may have.
        limit: usize,
    },
    /// The entry cannot be written as JSON.
    #[error("the entry cannot be written: {source}")]
    Unwritable {
        /// What the writer said.
        source: serde_json::Error,
    },
    /// The entry is one that was read and not understood.
    #[error("an entry that was not understood cannot be appended: fork the session to copy it")]
    NotForAppending,
    /// The file is not what it was when it was opened.
    #[error("{} was changed by another program while it was open: open it again", path.display())]
    Changed {
        /// The session's file.
        path: PathBuf,
    },
    /// No session has this id.
    #[error(
        "no session has an id that begins or ends with {given:?}: list the sessions to see those that are there"
    )]
    NotFound {
        /// What was asked for.
        given: String,
    },
    /// Several sessions have such an id.
    #[error("{count} sessions have an id that begins or ends with {given:?}: give more of it")]
    Ambiguous {
        /// What was asked for.
        given: String,
        /// How many there are.
        count: usize,
    },
}

impl SessionError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| SessionError::Io { doing, path: path.to_owned(), source }
    }

    /// Whether there was no room left on the disk. Making room and trying again helps.
    pub fn is_disk_full(&self) -> bool {
        match self {
            SessionError::Io { source, .. } | SessionError::Append { source, .. } => is_full(source),
            _ => false,
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

fn append_advice(source: &io::Error) -> String {
    if is_full(source) { format!("{source}. Make room and try again") } else { source.to_string() }
}

fn other_program(found: Version) -> &'static str {
    if found > Version::CURRENT { "a newer" } else { "an older" }
}

fn holder(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
}
