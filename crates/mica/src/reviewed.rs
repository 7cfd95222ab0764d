//! What extensions make of results and of the window, looked at behind them: values of secrets are taken out of it.
//!
//! Extensions have the last word about both, and programs of theirs may have read what nobody should. What they left as it
//! was is not looked at again.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Result;
use async_trait::async_trait;
use mica_agent::event::WindowChange;
use mica_agent::hooks::Point;
use mica_agent::{Context, Hooks, ToolError, ToolOutput, ToolSpec};
use mica_ai::message::ToolCall;
use mica_ai::{Content, Message};
use mica_tools::Redaction;

/// Takes values of secrets out of what extensions make of results and of the window.
pub struct Reviewed {
    redaction: Redaction,
    by: Vec<Arc<dyn Hooks>>,
}

impl Reviewed {
    /// Looks at what these make.
    pub fn new(redaction: Redaction, by: Vec<Arc<dyn Hooks>>) -> Self {
        Self { redaction, by }
    }
}

#[async_trait]
impl Hooks for Reviewed {
    fn says(&self, at: Point) -> bool {
        matches!(at, Point::AfterCall | Point::Transform) && self.by.iter().any(|hooks| hooks.says(at))
    }

    async fn after_call(&self, call: &ToolCall, spec: &ToolSpec, made: &mut Result<ToolOutput, ToolError>) {
        match made {
            Ok(output) => self.redaction.after_tool(call, spec, output).await,
            Err(error) => self.redaction.after_failure(call, spec, error).await,
        }
    }

    async fn transform(&self, messages: &mut Vec<Message>, cx: &Context) -> Vec<WindowChange> {
        let before: HashMap<String, &Message> =
            cx.messages.iter().map(|message| (message.id().to_string(), message)).collect();
        for message in messages {
            if before.get(&message.id().to_string()).is_some_and(|before| *before == message) {
                continue;
            }
            // Answers of the model cannot be changed by an extension.
            let content = match message {
                Message::User(user) => &mut user.content,
                Message::ToolResult(result) => &mut result.content,
                Message::Assistant(_) => continue,
            };
            for part in content {
                if let Content::Text { text } = part {
                    *text = self.redaction.clean(std::mem::take(text)).await;
                }
            }
        }
        Vec::new()
    }
}
