//! The head of a document: what it is called, what it is about, and for which runtimes it is true.

use serde::Deserialize;
use synapse_lang::model::Version;

/// The head as it is written between the two lines of plus signs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) description: String,
    #[serde(default)]
    pub(super) aliases: Vec<String>,
    #[serde(default)]
    pub(super) min_runtime: Option<Version>,
    #[serde(default)]
    pub(super) max_runtime: Option<Version>,
    #[serde(default)]
    pub(super) section: Vec<SectionHead>,
}

/// A section as the head declares it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SectionHead {
    pub(super) name: String,
    pub(super) description: String,
    /// Words that questions about it have and its text has not.
    #[serde(default)]
    pub(super) keywords: Vec<String>,
    #[serde(default)]
    pub(super) min_runtime: Option<Version>,
    #[serde(default)]
    pub(super) max_runtime: Option<Version>,
}

/// The runtimes that something is true for: both ends belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The first version, when there is one.
    pub min: Option<Version>,
    /// The last version, when there is one.
    pub max: Option<Version>,
}

impl Span {
    /// Whether a version lies in it.
    #[must_use]
    pub fn has(self, version: Version) -> bool {
        self.min.is_none_or(|min| version >= min) && self.max.is_none_or(|max| version <= max)
    }

    /// What lies in both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let min = self.min.max(other.min);
        let max = match (self.max, other.max) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        Self { min, max }
    }

    /// In words: `4.4.0 or later`; nothing when every version lies in it.
    #[must_use]
    pub fn words(self) -> Option<String> {
        match (self.min, self.max) {
            (Some(min), Some(max)) => Some(format!("{min} to {max}")),
            (Some(min), None) => Some(format!("{min} or later")),
            (None, Some(max)) => Some(format!("{max} or earlier")),
            (None, None) => None,
        }
    }
}
