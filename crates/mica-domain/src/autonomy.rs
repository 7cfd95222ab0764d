//! What happens to a call that a person would have to be asked about.
//!
//! [`Judge`] says whether a person would have to be asked, from what the product says of its tools. [`AutonomyGate`] makes a
//! verdict of it: the run waits, the call is captured, or it is done. Whatever breaks on the way means that a person is
//! asked.

mod gate;
mod judge;

pub use gate::AutonomyGate;
pub use judge::{Asked, Judge};

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

    /// Whether calls of any tool are captured.
    pub fn captures(&self) -> bool {
        self.usually == ApprovalMode::Capture
            || self.tools.values().any(|mode| *mode == ApprovalMode::Capture)
    }

    /// For a tool.
    pub fn of(&self, tool: &str) -> ApprovalMode {
        self.tools.get(tool).copied().unwrap_or(self.usually)
    }
}

#[cfg(test)]
mod tests;
