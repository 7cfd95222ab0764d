//! What a domain remembers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::refs::Refs;

/// What a domain remembers in a session. Plain data, so that whoever keeps the session can keep it too.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Where the user is. `None`: nowhere in particular.
    #[serde(default)]
    pub page: Option<String>,
    /// What the user has in front of them, and what they mention.
    #[serde(default, skip_serializing_if = "Refs::is_empty")]
    pub refs: Refs,
    /// Until the session ends.
    #[serde(default)]
    pub kept: Map<String, Value>,
    /// Until the next run begins: what the tools of this one came to.
    #[serde(default)]
    pub run: Map<String, Value>,
}

/// What a product says with a message: where the user is, and what is in front of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Surroundings {
    /// Where the user is.
    pub page: Option<String>,
    /// What they have in front of them, and what they mention.
    #[serde(skip_serializing_if = "Refs::is_empty")]
    pub refs: Refs,
    /// Whatever else the product and its domain agreed on.
    pub facts: Map<String, Value>,
}

impl Surroundings {
    /// A place, with nothing particular in it.
    pub fn on(page: impl Into<String>) -> Self {
        Self { page: Some(page.into()), ..Self::default() }
    }

    /// With something in front of the user, or mentioned by them.
    #[must_use]
    pub fn with(mut self, one: crate::refs::Ref) -> Self {
        self.refs.add(one);
        self
    }

    /// Whether it says nothing at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
