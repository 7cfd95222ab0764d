//! Approvals that are remembered: by the first words of a command, for a session or a project.

use std::fmt;
use std::str::FromStr;

use mica_agent::{Proposal, Scope};
use serde::{Deserialize, Serialize};

/// What the keys of remembered commands begin with.
const KEY: &str = "shell: ";

/// The first words of commands that were approved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prefix {
    /// The command, its sub-commands, and operands where they say what it does.
    pub words: Vec<String>,
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words.join(" "))
    }
}

/// A text that is no prefix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no prefix of commands; it should look like: mvn test")]
pub struct BadPrefix {
    /// The text.
    pub text: String,
}

impl FromStr for Prefix {
    type Err = BadPrefix;

    fn from_str(text: &str) -> Result<Self, BadPrefix> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() { Err(BadPrefix { text: text.to_owned() }) } else { Ok(Self { words }) }
    }
}

/// An approval that counts for later commands. It covers only what the tables would propose to remember: a prefix that
/// somebody wrote by hand for an interpreter or a deletion covers nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Remembered {
    /// The first words.
    pub prefix: Prefix,
    /// For how long.
    pub scope: Scope,
}

impl Remembered {
    /// As it is proposed to people.
    pub fn proposal(&self) -> Proposal {
        let prefix = &self.prefix;
        Proposal::new(self.scope, format!("{KEY}{prefix}"), format!("commands that begin with: {prefix}"))
    }

    /// What a proposal means, when it is about commands.
    pub fn of(proposal: &Proposal) -> Option<Self> {
        let prefix = proposal.key.strip_prefix(KEY)?.parse().ok()?;
        Some(Self { prefix, scope: proposal.scope })
    }
}
