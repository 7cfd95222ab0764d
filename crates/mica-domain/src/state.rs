//! What a domain remembers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a domain remembers in a session. Plain data, so that whoever keeps the session can keep it too.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Where the user is. `None`: nowhere in particular.
    #[serde(default)]
    pub page: Option<String>,
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
    /// Whatever else the product and its domain agreed on.
    pub facts: Map<String, Value>,
}
