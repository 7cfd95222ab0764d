//! Pieces of the prompt, and how often they change.

pub use mica_context::section::TierKind as Tier;

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
