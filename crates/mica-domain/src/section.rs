//! Pieces of the prompt, and how often they change.

use serde::{Deserialize, Serialize};

/// How often a section changes. In the order in which they are sent: what changes least comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Never, for one version of the pack and one set of tools.
    Static,
    /// With the organisation or the project.
    Org,
    /// With every turn. Never part of the system prompt: it would uncache everything behind it.
    Turn,
}

/// A piece of the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Names it, in reports about the cache and in tests.
    pub id: String,
    /// How often it changes.
    pub tier: Tier,
    /// What it says.
    pub text: String,
}

impl Section {
    /// A section.
    pub fn new(id: impl Into<String>, tier: Tier, text: impl Into<String>) -> Self {
        Self { id: id.into(), tier, text: text.into() }
    }
}
