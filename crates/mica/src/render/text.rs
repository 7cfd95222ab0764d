//! A run as text: the answer on standard output, what the agent does on standard error.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mica_agent::{Event, EventKind, Listener};
use mica_ai::message::ResultStatus;
use mica_ai::{Message, StreamEvent};
use serde_json::Value;

/// Whether what the model thinks is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thoughts {
    /// Dimly.
    Shown,
    /// Not.
    Hidden,
}

/// Prints events as they come.
pub struct TextPrinter {
    inner: Mutex<Inner>,
}

struct Inner {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    colour: bool,
    thoughts: Thoughts,
    /// Whether somebody watches `out`: then every piece is shown at once. A pipe gets whole lines, which costs a tenth.
    watched: bool,
    /// Whether the last thing printed to `out` left its line open.
    line_open: bool,
}

impl TextPrinter {
    /// Prints answers to `out` and everything else to `err`.
    pub fn new(
        out: impl Write + IsTerminal + Send + 'static,
        err: impl Write + Send + 'static,
        colour: bool,
        thoughts: Thoughts,
    ) -> Arc<Self> {
        let inner = Inner {
            watched: out.is_terminal(),
            out: Box::new(out),
            err: Box::new(err),
            colour,
            thoughts,
            line_open: false,
        };
        Arc::new(Self { inner: Mutex::new(inner) })
    }
}

#[async_trait]
impl Listener for TextPrinter {
    async fn event(&self, event: Event) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        // A reader that went away is no reason to stop working: the session has it all.
        let _ = inner.print(&event.kind);
    }
}

impl Inner {
    fn print(&mut self, event: &EventKind) -> std::io::Result<()> {
        match event {
            EventKind::Answer { delta, .. } => self.delta(delta)?,
            EventKind::AnswerEnd { .. } => self.end_line()?,
            EventKind::CallStart { label, arguments, .. } => {
                self.note("●", &format!("{label} {}", brief(arguments)))?;
            }
            EventKind::Message { message: Message::ToolResult(result) }
                if result.status == ResultStatus::Failed =>
            {
                let text: Vec<&str> = result
                    .content
                    .iter()
                    .filter_map(|content| match content {
                        mica_ai::Content::Text { text } => text.lines().next(),
                        mica_ai::Content::Image(_) => None,
                    })
                    .collect();
                self.note("✗", &format!("{}: {}", result.tool, text.join(" ")))?;
            }
            EventKind::Retry(retry) => {
                let wait = retry.wait.as_secs_f32();
                self.note(
                    "…",
                    &format!(
                        "{} (attempt {} of {}, again in {wait:.1} s)",
                        retry.error, retry.attempt, retry.attempts
                    ),
                )?;
            }
            EventKind::Window { change } => {
                self.note(
                    "…",
                    &format!(
                        "{}: {} ({} → {} tokens)",
                        change.kind, change.reason, change.before, change.after
                    ),
                )?;
            }
            EventKind::ApprovalAsked { ask } => {
                self.note("?", &format!("{} {}: {}", ask.call.name, brief(&ask.arguments), ask.reason))?;
            }
            EventKind::Notice { text } => self.note("…", text)?,
            _ => {}
        }
        Ok(())
    }

    fn delta(&mut self, delta: &StreamEvent) -> std::io::Result<()> {
        match delta {
            StreamEvent::TextDelta { text, .. } => {
                self.line_open = !text.ends_with('\n');
                self.out.write_all(text.as_bytes())?;
                if self.watched { self.out.flush() } else { Ok(()) }
            }
            StreamEvent::TextEnd { .. } => self.end_line(),
            StreamEvent::ThinkingDelta { text, .. } if self.thoughts == Thoughts::Shown => {
                let text = if self.colour { format!("\x1b[2m{text}\x1b[0m") } else { text.clone() };
                self.err.write_all(text.as_bytes())?;
                self.err.flush()
            }
            StreamEvent::ThinkingEnd { .. } if self.thoughts == Thoughts::Shown => writeln!(self.err),
            _ => Ok(()),
        }
    }

    fn end_line(&mut self) -> std::io::Result<()> {
        if self.line_open {
            self.line_open = false;
            writeln!(self.out)?;
            self.out.flush()?;
        }
        Ok(())
    }

    fn note(&mut self, mark: &str, text: &str) -> std::io::Result<()> {
        self.end_line()?;
        if self.colour {
            writeln!(self.err, "\x1b[2m{mark} {text}\x1b[0m")
        } else {
            writeln!(self.err, "{mark} {text}")
        }
    }
}

/// Arguments in one line.
pub fn brief(arguments: &Value) -> String {
    const LONGEST: usize = 120;
    let text = match arguments {
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| match value {
                Value::String(text) => format!("{key}={}", text.replace('\n', "⏎")),
                other => format!("{key}={other}"),
            })
            .collect::<Vec<_>>()
            .join(" "),
        other => other.to_string(),
    };
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
