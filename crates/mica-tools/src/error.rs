//! What can go wrong with files, in words for logs and in words for the model.

use std::io;
use std::path::PathBuf;

use mica_agent::ToolError;

/// Why a file could not be read, found or changed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The path is no path.
    #[error("not a usable path {path:?}: {reason}")]
    BadPath {
        /// As it was given.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The path leads out of what may be touched. Whether something is there is not said.
    #[error("{path:?} is outside of the workspace {root}")]
    Outside {
        /// As it was given.
        path: String,
        /// The folder that paths must stay in.
        root: PathBuf,
    },
    /// The path is in a folder that may be read and not written.
    #[error("{path} may be read, not written")]
    ReadOnly {
        /// The path.
        path: String,
        /// The folder that may be written.
        root: PathBuf,
    },
    /// The file holds secrets.
    #[error("{path} holds secrets")]
    Secret {
        /// The path.
        path: String,
        /// Whether it is a list of variables, whose names may be told.
        variables: bool,
    },
    /// The path decides what tools and agents do later.
    #[error("{path} is not changed by tools")]
    Guarded {
        /// The path.
        path: String,
    },
    /// People trust it as it is.
    #[error("{path} is trusted as it is, and not changed by tools")]
    Trusted {
        /// The path.
        path: String,
    },
    /// The table of protected names cannot be read.
    #[error("{reason}")]
    Table {
        /// What is wrong with it.
        reason: String,
    },
    /// Nothing is there.
    #[error("there is no {path}")]
    Missing {
        /// The path.
        path: String,
        /// Names beside it that look like it.
        near: Vec<String>,
    },
    /// A file is needed, and something else is there.
    #[error("{path} is {found}, not a file")]
    NotAFile {
        /// The path.
        path: String,
        /// What is there.
        found: &'static str,
    },
    /// A folder is needed, and something else is there.
    #[error("{path} is not a folder")]
    NotAFolder {
        /// The path.
        path: String,
    },
    /// The file has more bytes than a tool takes in.
    #[error("{path} has {size} bytes, more than the {limit} that are read at once")]
    TooLarge {
        /// The path.
        path: String,
        /// Its size.
        size: u64,
        /// The most that is read.
        limit: u64,
    },
    /// Symbolic links that lead to each other.
    #[error("{path}: too many symbolic links")]
    Links {
        /// The path.
        path: String,
    },
    /// The file is not as it was when it was looked at.
    #[error("{path} changed meanwhile")]
    Changed {
        /// The path.
        path: String,
    },
    /// The journal did not take the change, so it was not made.
    #[error("{path} was not changed, because the change could not be recorded: {reason}")]
    Journal {
        /// The path.
        path: String,
        /// What the journal said.
        reason: String,
    },
    /// The system said no.
    #[error("cannot {doing} {path}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The path.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

impl FileError {
    /// An error of the system, with what was being done.
    pub(crate) fn io(doing: &'static str, path: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::Io { doing, path: path.into(), source: source.into() }
    }

    /// What happened and what to do instead, for the model.
    pub fn for_model(&self) -> String {
        match self {
            Self::BadPath { path, reason } => {
                format!("{path:?} is not a usable path: {reason}. Give a path relative to the workspace.")
            }
            Self::Outside { path, root } => format!(
                "{path:?} is outside of the workspace, so it was not touched. Allowed are paths inside {}, relative or \
                 absolute; symbolic links that lead out of it are not followed.",
                root.display()
            ),
            Self::ReadOnly { path, root } => {
                format!("{path} may be read but not written. Write inside {} instead.", root.display())
            }
            Self::Secret { path, variables: true } => format!(
                "{path} holds variables with secret values. Its variable names can be had by reading the file; its values \
                 are for people only, and so is changing it. Ask the user where a value is needed."
            ),
            Self::Secret { path, variables: false } => format!(
                "{path} is where secrets are kept, so it was neither read nor changed. Ask the user for what you need; do \
                 not look for another way to it."
            ),
            Self::Guarded { path } => format!(
                "{path} decides what tools and agents do later, so tools read it and do not change it. Tell the user what \
                 to change there."
            ),
            Self::Trusted { path } => format!(
                "The user trusts {path} as it is, and a change would take it out of use, so tools read it and do not change \
                 it. Tell the user what to change there, or write another file."
            ),
            Self::Table { reason } => format!("{reason}. Nothing was done."),
            Self::Missing { path, near } if near.is_empty() => {
                format!("There is no {path}. Look for the right path by name.")
            }
            Self::Missing { path, near } => {
                format!("There is no {path}. Near names: {}.", near.join(", "))
            }
            Self::NotAFile { path, found } => format!("{path} is {found}, not a file. Nothing was done."),
            Self::NotAFolder { path } => format!("{path} is not a folder."),
            Self::TooLarge { path, size, limit } => format!(
                "{path} has {size} bytes; at most {limit} are read at once. Search it for the \
                 part you need instead."
            ),
            Self::Links { path } => format!("{path} goes through too many symbolic links."),
            Self::Changed { path } => format!(
                "{path} was changed by someone else just now. Nothing was written. Read it again, then repeat the call."
            ),
            Self::Journal { .. } => format!("{self}. Nothing was written."),
            Self::Io { .. } => format!("{self}."),
        }
    }
}

impl From<FileError> for ToolError {
    fn from(error: FileError) -> Self {
        ToolError::new(error.for_model())
    }
}
