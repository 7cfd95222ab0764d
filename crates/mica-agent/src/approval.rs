//! Asking a person before a call runs, and what they answered.

use mica_ai::message::ToolCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use mica_ai::id::CallId;

/// A gate's answer about a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// No opinion. When nobody has one, the tool's own specification decides whether a person is asked.
    Pass,
    /// It may run, also when the tool's specification would ask.
    Allow,
    /// A person decides.
    Ask {
        /// Why they are asked.
        reason: String,
        /// The rule that asks, for people who want to change it.
        rule: Option<String>,
    },
    /// It may not run.
    Deny {
        /// Why, and what to do instead. The model reads it.
        reason: String,
        /// The rule that denies.
        rule: Option<String>,
    },
}

/// A question to a person about one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// The call as the model made it.
    pub call: ToolCall,
    /// The arguments it would run with.
    pub arguments: Value,
    /// Why a person is asked.
    pub reason: String,
    /// The rule that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What would happen, as the tool sees it now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
}

/// What a call would do, for the person who is asked about it. Nothing is promised: what it is about may change before
/// the call runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Preview {
    /// A text would change.
    Diff {
        /// What it is called, a path for example.
        title: String,
        /// The change, as a unified diff.
        diff: String,
        /// Lines that come.
        added: usize,
        /// Lines that go.
        removed: usize,
    },
    /// As things are now, it would come to nothing.
    Fails {
        /// Why, as the model would be told.
        reason: String,
    },
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Decision {
    /// Run it.
    Allow,
    /// Run it with these arguments instead. They pass the gate again.
    AllowWith {
        /// The arguments.
        arguments: Value,
    },
    /// Do not run it.
    Deny {
        /// Why. The model reads it.
        reason: String,
    },
}

/// Answers to the questions of a suspended run, by call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Decisions(pub Vec<(CallId, Decision)>);

impl Decisions {
    /// The answer for a call.
    pub fn of(&self, call: &CallId) -> Option<&Decision> {
        self.0.iter().find(|(known, _)| known == call).map(|(_, decision)| decision)
    }
}
