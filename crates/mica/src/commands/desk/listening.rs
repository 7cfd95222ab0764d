//! Tells what the copilot does while it does it: one row for each call.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Event, EventKind, Listener};
use mica_ai::message::ResultStatus;
use mica_ai::{Content, Message};

use super::screen::Screen;
use crate::render::text::brief;

/// Columns of the arguments of a call at most.
const WIDTH: usize = 90;
/// And at least, however narrow the terminal is.
const LEAST: usize = 34;

/// Tells calls, and how they failed.
pub struct Listening(pub Arc<Screen>);

#[async_trait]
impl Listener for Listening {
    async fn event(&self, event: Event) {
        match event.kind {
            EventKind::CallStart { tool, arguments, .. } => {
                // With the mark before it, and a space on both sides of the tool.
                let columns = self.0.columns().unwrap_or(usize::MAX).saturating_sub(tool.len() + 3);
                let shown = brief(&arguments, columns.clamp(LEAST, WIDTH));
                self.0.note("·", format!("{tool} {shown}").trim_end());
            }
            EventKind::CallProgress { news, .. } => self.0.note(" ", news.trim()),
            EventKind::Retry(retry) => {
                self.0
                    .note("…", &format!("{} (attempt {} of {})", retry.error, retry.attempt, retry.attempts));
            }
            // Whatever the model makes of it: it was not done.
            EventKind::CallEnd { details: Some(details), .. }
                if details.pointer("/captured/action").is_some() =>
            {
                self.0.note(" ", "proposed, not done: a person decides (/bundles)");
            }
            EventKind::Message { message: Message::ToolResult(result) }
                if result.status != ResultStatus::Ok =>
            {
                let text = result.content.iter().find_map(|content| match content {
                    Content::Text { text } => text.lines().next(),
                    Content::Image(_) => None,
                });
                self.0.note("  ✗", &clipped(text.unwrap_or("it failed")));
            }
            _ => {}
        }
    }

    fn hears(&self, kind: &EventKind) -> bool {
        matches!(
            kind,
            EventKind::CallStart { .. }
                | EventKind::CallEnd { .. }
                | EventKind::CallProgress { .. }
                | EventKind::Retry(_)
                | EventKind::Message { .. }
        )
    }
}

/// A text that fits a row.
fn clipped(text: &str) -> String {
    if text.chars().count() <= WIDTH {
        return text.to_owned();
    }
    text.chars().take(WIDTH).chain(['…']).collect()
}
