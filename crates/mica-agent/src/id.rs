//! Ids of runs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Names one run, from a prompt until the agent stops; also across a suspension.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// A fresh id: UUID version 7, so ids sort by the time they were made. Counted within
    /// [`mica_ai::id::Counted`].
    pub fn fresh() -> Self {
        Self(mica_ai::id::fresh())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for RunId {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
