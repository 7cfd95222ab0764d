//! Spilling as a hook: after a tool, before the model reads what it came to.

use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use mica_agent::{Hooks, ToolOutput, ToolSpec};
use mica_ai::Content;
use mica_ai::message::ToolCall;
use serde_json::Value;

use super::{SpillFolder, preview};

/// Tells the time. Only programs have a clock; they hand it over.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// Sends results that are too large to a folder. Stands behind hooks that add to results.
pub struct Spill {
    folder: Arc<SpillFolder>,
    clock: Clock,
}

impl Spill {
    /// Spills to a folder.
    pub fn new(folder: Arc<SpillFolder>, clock: Clock) -> Self {
        Self { folder, clock }
    }

    /// Whether a call reads what was spilled: one of its arguments names a file of the folder.
    fn reads_spilled(&self, call: &ToolCall) -> bool {
        call.arguments.parse().is_ok_and(|arguments| arguments.values().any(|value| self.names(value)))
    }

    fn names(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.folder.names(text),
            Value::Array(values) => values.iter().any(|value| self.names(value)),
            _ => false,
        }
    }

    async fn written(&self, tool: String, text: String) -> Result<std::path::PathBuf, String> {
        let (folder, now) = (Arc::clone(&self.folder), (self.clock)());
        let written = tokio::task::spawn_blocking(move || folder.write(&tool, &text, now)).await;
        match written {
            Ok(Ok(path)) => Ok(path),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("writing it was interrupted".to_owned()),
        }
    }
}

#[async_trait]
impl Hooks for Spill {
    async fn after_tool(&self, call: &ToolCall, spec: &ToolSpec, output: &mut ToolOutput) {
        let limits = *self.folder.limits();
        let texts: Vec<&str> = output
            .content
            .iter()
            .filter_map(|part| match part {
                Content::Text { text } => Some(text.as_str()),
                Content::Image(_) => None,
            })
            .collect();
        if texts.iter().map(|text| text.len()).sum::<usize>() <= limits.inline {
            return;
        }
        let text = texts.join("\n");
        let shown = if self.reads_spilled(call) {
            let why = "it is read from a spilled result. Read a smaller part of it, or search in it.";
            preview::shortened(&text, limits.inline, why)
        } else {
            match self.written(spec.name.clone(), text.clone()).await {
                Ok(path) => preview::spilled(&text, &path, limits.preview),
                Err(error) => {
                    tracing::warn!(tool = %spec.name, error, "a large result was not spilled");
                    let why = format!("the rest could not be saved ({error}). Ask for less at once.");
                    preview::shortened(&text, limits.inline, &why)
                }
            }
        };
        output.content.retain(|part| matches!(part, Content::Image(_)));
        output.content.insert(0, Content::text(shown));
    }
}
