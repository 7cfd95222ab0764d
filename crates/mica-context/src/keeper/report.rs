//! What is in a window: the answer to "where do my tokens go".

use mica_agent::Context;
use mica_ai::Message;
use serde::Serialize;

use crate::compact::{WindowLimits, checkpoint};
use crate::tokens::{self, Fill};

/// How a window is filled. Parts are estimates; the whole is what the provider counted, as far as it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WindowReport {
    /// All of it.
    pub fill: Fill,
    /// What may be in it before something is done.
    pub threshold: u64,
    /// The model's window.
    pub window: u64,
    /// The tools.
    pub tools: u64,
    /// The parts of the system prompt.
    pub system: Vec<u64>,
    /// The summary of what was compacted away.
    pub summary: u64,
    /// What users said.
    pub user: u64,
    /// What the model said.
    pub assistant: u64,
    /// What tools said.
    pub results: u64,
}

impl WindowReport {
    pub(super) fn new(cx: &Context, fill: Fill, limits: WindowLimits) -> Self {
        let mut report = Self {
            fill,
            threshold: limits.threshold(),
            window: limits.window(),
            tools: cx.tools.definitions().iter().map(tokens::of_tool).sum(),
            system: cx.system.iter().map(|part| tokens::of_text(part)).collect(),
            summary: 0,
            user: 0,
            assistant: 0,
            results: 0,
        };
        for message in &cx.messages {
            let part = match message {
                Message::User(_) if checkpoint::is_checkpoint(message) => &mut report.summary,
                Message::User(_) => &mut report.user,
                Message::Assistant(_) => &mut report.assistant,
                Message::ToolResult(_) => &mut report.results,
            };
            *part += tokens::of_message(message);
        }
        report
    }
}
