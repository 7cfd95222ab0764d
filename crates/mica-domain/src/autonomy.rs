//! What happens to a call that a person would have to be asked about.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What happens to a call that a person would have to be asked about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    /// The run waits for a person.
    #[default]
    Pause,
    /// It is not done: what it would come to is predicted, and a person decides later about all of them.
    Capture,
    /// It is done.
    Auto,
}

/// What happens to the calls of each tool that a person would have to be asked about. Calls that nobody is asked about run
/// in any case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Autonomy {
    /// Of tools that are not named.
    pub usually: ApprovalMode,
    /// By tool.
    pub tools: BTreeMap<String, ApprovalMode>,
}

impl Autonomy {
    /// The same for all tools.
    pub fn all(usually: ApprovalMode) -> Self {
        Self { usually, tools: BTreeMap::new() }
    }

    /// Otherwise for one tool.
    #[must_use]
    pub fn with(mut self, tool: impl Into<String>, mode: ApprovalMode) -> Self {
        self.tools.insert(tool.into(), mode);
        self
    }

    /// For a tool.
    pub fn of(&self, tool: &str) -> ApprovalMode {
        self.tools.get(tool).copied().unwrap_or(self.usually)
    }
}
