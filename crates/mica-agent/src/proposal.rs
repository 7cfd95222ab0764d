//! What may be remembered of a yes, so that the same is not asked again.
//!
//! A gate that asks says what it could remember; a person picks one, or none. What a proposal means is the gate's own
//! business: here it is a text for people and a key.

use std::fmt;

use serde::{Deserialize, Serialize};

/// For how long an approval is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Until the session ends.
    Session,
    /// In this project, until it is taken back.
    Project,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scope::Session => "session",
            Scope::Project => "project",
        })
    }
}

/// Something that could be remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// For how long.
    pub scope: Scope,
    /// What it means to the gate that proposes it. Together with the scope it names the proposal.
    pub key: String,
    /// What would not be asked any more, for people. Whoever picks a proposal need not repeat it.
    #[serde(default)]
    pub text: String,
}

impl Proposal {
    /// A proposal.
    pub fn new(scope: Scope, key: impl Into<String>, text: impl Into<String>) -> Self {
        Self { scope, key: key.into(), text: text.into() }
    }

    /// Whether both name the same. The text is for people, and may change.
    pub fn is(&self, other: &Proposal) -> bool {
        self.scope == other.scope && self.key == other.key
    }
}
