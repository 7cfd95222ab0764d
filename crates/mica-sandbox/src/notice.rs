//! What a command did, or what happened to its boundary, that somebody should know although the command was not denied it.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// Something to know about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "what")]
pub enum Notice {
    /// Somebody outside replaced what is frozen or hidden. It was open for a moment, and then frozen or hidden again.
    Replaced {
        /// What.
        path: PathBuf,
    },
    /// The same, and it could not be frozen or hidden again, so the command was ended.
    Open {
        /// Why.
        reason: String,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replaced { path } => write!(
                f,
                "{} was replaced from outside while the command ran, and was out of the sandbox's protection for a moment",
                path.display()
            ),
            Self::Open { reason } => {
                write!(f, "the command was ended, because its boundary could not be kept: {reason}")
            }
        }
    }
}
