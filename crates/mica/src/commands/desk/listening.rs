//! Tells what the copilot does while it does it: one row for each call.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use mica_agent::{Event, EventKind, Listener};
use mica_ai::message::ResultStatus;
use mica_ai::{Content, Message};

use crate::render::question::plain;
use crate::render::text::brief;

/// Prints calls, and how they failed.
pub struct Listening {
    colour: bool,
    /// How many runs tell something at the moment that somebody sees.
    calls: AtomicUsize,
}

impl Listening {
    /// To standard output, with colours or without.
    pub fn new(colour: bool) -> Self {
        Self { colour, calls: AtomicUsize::new(0) }
    }

    #[allow(clippy::print_stdout, reason = "a program speaks")]
    fn row(&self, row: &str) {
        if self.colour {
            println!("\x1b[2m{row}\x1b[0m");
        } else {
            println!("{row}");
        }
    }
}

#[async_trait]
impl Listener for Listening {
    async fn event(&self, event: Event) {
        match event.kind {
            EventKind::CallStart { tool, arguments, .. } => {
                self.calls.fetch_add(1, Ordering::Relaxed);
                self.row(&format!("· {} {}", plain(&tool), brief(&arguments, 90)));
            }
            // Whatever the model makes of it: it was not done.
            EventKind::CallEnd { details: Some(details), .. }
                if details.pointer("/captured/action").is_some() =>
            {
                self.row("  proposed, not done: a person decides (/bundles)");
            }
            EventKind::CallProgress { news, .. } => self.row(&format!("  {}", plain(news.trim()))),
            EventKind::Message { message: Message::ToolResult(result) }
                if result.status != ResultStatus::Ok =>
            {
                let text = result.content.iter().find_map(|content| match content {
                    Content::Text { text } => text.lines().next(),
                    Content::Image(_) => None,
                });
                self.row(&format!("  ✗ {}", plain(text.unwrap_or("it failed"))));
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
                | EventKind::Message { .. }
        )
    }
}
