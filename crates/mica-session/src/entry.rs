//! What a session is made of: a header, then entries.
//!
//! The types here are the file format: their fields are the fields of `docs/sessions.md`. An entry of a kind that this
//! version does not know keeps its bytes, and so does a line that is no entry at all; nothing is dropped by reading.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use mica_ai::{Dialect, Message};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{EntryId, SessionId};

/// The first line of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format.
    pub version: Version,
    /// Names the session.
    pub id: SessionId,
    /// When it was begun.
    pub created: Timestamp,
    /// The folder that it is about.
    pub project: String,
    /// What people called it when it was begun. A `name` entry overrides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom>,
    /// Whose subagent had this conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_of: Option<ChildOf>,
}

/// Where the session of a subagent was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildOf {
    /// The session of the agent that sent it.
    pub session: SessionId,
    /// The run that it was sent in.
    pub run: RunId,
    /// The call that it was sent with.
    pub call: String,
}

/// Where a fork branched off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedFrom {
    /// The session that was forked.
    pub session: SessionId,
    /// The last entry that was copied.
    pub entry: EntryId,
}

/// The version of the file format, written as `"1.0"`. A new minor version only adds kinds and fields; a new major
/// version changes what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    /// Changes when older programs cannot read the file.
    pub major: u32,
    /// Changes when they can.
    pub minor: u32,
}

impl Version {
    /// What this crate writes.
    pub const CURRENT: Version = Version { major: 1, minor: 0 };
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl From<Version> for String {
    fn from(version: Version) -> String {
        version.to_string()
    }
}

impl TryFrom<String> for Version {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts = text.split_once('.').and_then(|(major, minor)| {
            Some(Version { major: major.parse().ok()?, minor: minor.parse().ok()? })
        });
        parts.ok_or_else(|| format!("{text:?} is no version: it looks like \"1.0\""))
    }
}

/// One node of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Names it.
    pub id: EntryId,
    /// The entry that it follows. `None` begins the conversation.
    pub parent: Option<EntryId>,
    /// When it was appended.
    pub time: Timestamp,
    /// What it says.
    pub body: Body,
}

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Body {
    /// A message of the conversation.
    Message {
        /// The message.
        message: Message,
    },
    /// From here on another model answers.
    ModelChange(ModelChange),
    /// From here on runs may do more, or less.
    ModeChange {
        /// The mode.
        mode: Mode,
    },
    /// What is older is represented by a summary.
    Compaction(Compaction),
    /// What happened on a branch that was left.
    BranchSummary(BranchSummary),
    /// A person marks an entry.
    Label {
        /// The entry that is marked.
        target: EntryId,
        /// The mark. `None` takes it away.
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<String>,
    },
    /// A person names the session.
    Name {
        /// The name.
        name: String,
    },
    /// Something of an extension or a domain. What it means, and whether a model sees it, is theirs to say.
    Custom {
        /// Whose it is.
        custom: String,
        /// What it is.
        value: Value,
    },
    /// A run begins.
    RunStart {
        /// The run.
        run: RunId,
    },
    /// A run has ended.
    RunEnd {
        /// The run.
        run: RunId,
        /// How, in a word that a program can compare.
        outcome: String,
    },
    /// A model call is about to be made. When nothing follows, it was cut off.
    TurnOpen {
        /// The run that it belongs to.
        #[serde(skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
    },
    /// The conversation goes on elsewhere.
    Leaf {
        /// The new leaf. `None` is before the first entry.
        target: Option<EntryId>,
    },
    /// An entry of a kind that this version does not know, as it was written.
    #[serde(skip)]
    Unknown {
        /// What it calls itself.
        kind: String,
        /// The whole line.
        line: Vec<u8>,
    },
    /// A line that is no entry, as it was found.
    #[serde(skip)]
    Malformed {
        /// The whole line.
        line: Vec<u8>,
        /// What is wrong with it.
        reason: String,
    },
}

impl Body {
    /// Whether the entry stands beside the conversation: it is kept in the tree, and the leaf does not move to it.
    pub fn is_aside(&self) -> bool {
        matches!(self, Body::Label { .. } | Body::Name { .. } | Body::Leaf { .. })
    }
}

impl From<Message> for Body {
    fn from(message: Message) -> Self {
        Body::Message { message }
    }
}

/// Which model answers from here on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelChange {
    /// The endpoint, by the name that the configuration gives it.
    pub endpoint: String,
    /// The model or deployment.
    pub model: String,
    /// The wire.
    pub dialect: Dialect,
    /// How hard it thinks, as the person chose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
}

/// A summary in the place of older entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// What stands for the entries that are not kept.
    pub summary: String,
    /// The oldest entry that stays as it is. `None` keeps nothing of what came before.
    pub first_kept: Option<EntryId>,
    /// Tokens in the window before.
    pub tokens_before: u64,
    /// Tokens in the window after, as far as they were known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<u64>,
    /// What was done to files before the first kept entry, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, FileUse>,
    /// Why it was made.
    pub reason: String,
}

/// What was done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileUse {
    /// It was read.
    Read,
    /// It was changed.
    Changed,
}

/// What happened on a branch that was left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchSummary {
    /// The leaf of the branch.
    pub from: EntryId,
    /// What happened there.
    pub summary: String,
    /// What was done to files there, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, FileUse>,
}

macro_rules! text {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text! {
    /// How much a run may do: `ask`, `plan` or `edit`. Text here, because what a mode allows is decided elsewhere.
    Mode
}

text! {
    /// Names a run. Whoever starts runs makes it up.
    RunId
}
