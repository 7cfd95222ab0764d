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
    /// The command replaced a link that must not change, and the link is back.
    LinkPutBack {
        /// The link.
        path: PathBuf,
        /// Where what was in its place is now.
        aside: Option<PathBuf>,
    },
    /// The same, and the link could not be put back.
    LinkReplaced {
        /// The link.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The command made a hook in a new repository. It is there, and is not executed; one that was a link is gone.
    Disarmed {
        /// The hook.
        path: PathBuf,
    },
    /// The command made something that other programs may run things from, later and outside.
    Made {
        /// What.
        path: PathBuf,
    },
    /// The same as with what was replaced, and it could not be frozen or hidden again, so the command was ended.
    Open {
        /// Why.
        reason: String,
    },
}

impl Notice {
    /// Whether another one is only what came of this.
    pub(crate) fn explains(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::LinkPutBack { path, .. } | Self::LinkReplaced { path, .. },
                Self::Replaced { path: other },
            ) => other.starts_with(path),
            _ => false,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Replaced { path } => write!(
                f,
                "{} was replaced from outside while the command ran, and was out of the sandbox's protection for a moment",
                path.display()
            ),
            Self::LinkPutBack { path, aside } => {
                write!(
                    f,
                    "it replaced the link {}, which must not change; the link was put back",
                    path.display()
                )?;
                match aside {
                    Some(aside) => write!(f, ", and what it made is {}", aside.display()),
                    None => Ok(()),
                }
            }
            Self::LinkReplaced { path, reason } => write!(
                f,
                "it replaced the link {}, which must not change, and the link could not be put back: {reason}",
                path.display()
            ),
            Self::Disarmed { path } => write!(
                f,
                "it made the hook {}, which would run outside of the sandbox; it may not be executed until the user allows it",
                path.display()
            ),
            Self::Made { path } => write!(
                f,
                "it made {}, which other programs may run things from outside of the sandbox; the user should look at it",
                path.display()
            ),
            Self::Open { reason } => {
                write!(f, "the command was ended, because its boundary could not be kept: {reason}")
            }
        }
    }
}
