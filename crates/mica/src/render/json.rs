//! A run as JSON: every event as a line, or one object at the end.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mica_agent::{Event, Listener, Outcome};
use mica_ai::Usage;
use serde::Serialize;

/// Writes every event as a line.
pub struct JsonLines {
    out: Mutex<Box<dyn Write + Send>>,
}

impl JsonLines {
    /// Writes to `out`.
    pub fn new(out: impl Write + Send + 'static) -> Arc<Self> {
        Arc::new(Self { out: Mutex::new(Box::new(out)) })
    }

    /// Writes one value as a line.
    pub fn line(&self, value: &impl Serialize) {
        let Ok(mut text) = serde_json::to_string(value) else { return };
        text.push('\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // A reader that went away is no reason to stop working: the session has it all.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

#[async_trait]
impl Listener for JsonLines {
    async fn event(&self, event: Event) {
        self.line(&event);
    }
}

/// What a run came to, as one object.
#[derive(Debug, Serialize)]
pub struct Summary<'a> {
    /// How it ended.
    #[serde(flatten)]
    pub outcome: &'a Outcome,
    /// The last answer's text.
    pub text: String,
    /// The session it is kept in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Turns it took.
    pub turns: u32,
    /// What it took.
    pub usage: Usage,
    /// Of it, what subagents took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagents: Option<Usage>,
}
