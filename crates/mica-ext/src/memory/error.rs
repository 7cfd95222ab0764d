//! What goes wrong with notes, and what to do about it.

use std::io;
use std::path::PathBuf;

/// Why notes are not read or not changed.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The project brought it, and nobody looked at it yet.
    #[error("{} is not used, because it is not trusted: read it, then run `mica trust`", path.display())]
    Untrusted {
        /// The file.
        path: PathBuf,
    },
    /// The words cannot be a note.
    #[error("this cannot be remembered: {reason}")]
    Words {
        /// Why, and what to do.
        reason: String,
    },
    /// It is there already.
    #[error("this is remembered already: {line}")]
    Known {
        /// As it stands there.
        line: String,
    },
    /// There is no room.
    #[error(
        "the memory is full ({has}; {most} at most): forget what is no longer needed, or shorten it with `mica memory edit`"
    )]
    Full {
        /// What it would have.
        has: String,
        /// What it may have.
        most: String,
    },
    /// There is more than is told to a model.
    #[error("{} has more than {most}, and the rest is told to nobody: shorten it with `mica memory edit`", path.display())]
    Long {
        /// The file.
        path: PathBuf,
        /// What it may have.
        most: String,
    },
    /// No note fits.
    #[error("no note has these words: {words:?}")]
    Missing {
        /// The words.
        words: String,
    },
    /// Several notes fit.
    #[error("several notes have these words; say more of the one that is meant:\n{}", lines.join("\n"))]
    Several {
        /// The first of them.
        lines: Vec<String>,
    },
    /// A link leads out of the project.
    #[error("{} is a link that leads out of the project, and is not used", path.display())]
    Outside {
        /// The file.
        path: PathBuf,
    },
    /// It is no text, or too large.
    #[error("{} is not used: {reason}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The disk said no.
    #[error("{} cannot be {doing}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was done with it.
        doing: &'static str,
        /// What it said.
        source: io::Error,
    },
    /// Somebody else writes it all the time.
    #[error("{} is being written by another program; try again", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// That the user wrote it cannot be kept.
    #[error("the project's memory was not changed, because trust in it cannot be kept: {reason}")]
    Trust {
        /// Why.
        reason: String,
    },
}

impl MemoryError {
    /// For people and models: with what the disk said.
    pub fn told(&self) -> String {
        match self {
            Self::Io { source, .. } => format!("{self}: {source}"),
            other => other.to_string(),
        }
    }
}
