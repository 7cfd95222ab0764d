//! What was found and handled while a session was opened or read: no errors, and nothing to keep from people either.

use std::fmt;
use std::path::PathBuf;

use crate::entry::Version;
use crate::id::EntryId;

/// Something that was not as it should be, and what was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The file ended in the middle of a line. The rest was moved to a file beside it.
    TornTail {
        /// How much was cut off.
        bytes: u64,
        /// Where it is now.
        saved: PathBuf,
    },
    /// The file ends in the middle of a line, and was opened for reading: a writer may be at work.
    UnfinishedTail {
        /// How much was left out.
        bytes: u64,
    },
    /// The last line was whole but for its line break, which was added.
    TailCompleted,
    /// A line is no entry. It is kept in its place.
    Malformed {
        /// The entry that stands for it.
        entry: EntryId,
        /// Where the line begins.
        offset: u64,
    },
    /// An entry names another one that is not there. It was hung where it stands in the file.
    Misplaced {
        /// The entry.
        entry: EntryId,
        /// The one that it names.
        names: EntryId,
    },
    /// What belongs into a message is missing or damaged on disk. The message says so in its place.
    BlobLost {
        /// The entry.
        entry: EntryId,
        /// The hash of what is missing.
        hash: String,
    },
    /// The file was of an older version, and was rewritten.
    Upcast {
        /// The version it had.
        from: Version,
        /// Where the file is as it was.
        kept: PathBuf,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::TornTail { bytes, saved } => write!(
                f,
                "The last entry was written in part only. Its {bytes} bytes are kept in {}.",
                saved.display()
            ),
            Notice::UnfinishedTail { bytes } => {
                write!(f, "The last {bytes} bytes are no whole entry yet and were left out.")
            }
            Notice::TailCompleted => f.write_str("The last line had no line break; it was added."),
            Notice::Malformed { entry, offset } => {
                write!(f, "The line at byte {offset} cannot be read. It is kept as entry {entry}.")
            }
            Notice::Misplaced { entry, names } => {
                write!(f, "Entry {entry} names {names}, which is not there. It was kept where it stands.")
            }
            Notice::BlobLost { entry, hash } => {
                write!(f, "A part of entry {entry} is missing or damaged (blob {hash}).")
            }
            Notice::Upcast { from, kept } => write!(
                f,
                "The session was of version {from} and was brought up to date. The old file is {}.",
                kept.display()
            ),
        }
    }
}
