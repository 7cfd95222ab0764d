//! A tool that a script brings.
//!
//! Nothing is believed of what it does, unless it says that it only looks: it runs in the order of writes, is never run
//! again after a crash, and a person is asked. What it says itself is still judged by modes and rules.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::{Access, Approval, Args, Effect, Patience, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use mica_ai::Content;
use mica_policy::validate::Schema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::running::{Script, Under};
use super::{LoadError, wire};

/// Letters of a description. The model reads it with every request.
const DESCRIPTION: usize = 4000;

/// The longest that a call may take.
const LONGEST: Duration = Duration::from_secs(600);

/// What names of tools of MCP servers begin with. What a person allowed one of those is not for a script that calls itself
/// so.
const OF_SERVERS: &str = "mcp__";

/// Names that mean something to the program itself, whether it has a tool of the name at the moment or not.
const RESERVED: [&str; 3] = ["load_tools", "call_tool", "load_skill"];

/// Why a tool may not be called so. Asked here and not of the script, which may tell another name later than it did first.
fn misnamed(name: &str) -> Option<String> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
        return Some("its name must have 1 to 64 letters of A-Z a-z 0-9 _ -".to_owned());
    }
    let small = name.to_ascii_lowercase();
    if small.starts_with(OF_SERVERS) {
        return Some(format!("names that begin with {OF_SERVERS} are those of tools of MCP servers"));
    }
    RESERVED.contains(&small.as_str()).then(|| "the program itself uses this name".to_owned())
}

/// What is known of a tool.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolFacts {
    name: String,
    label: Option<String>,
    description: String,
    parameters: Value,
    read_only: bool,
    /// Milliseconds.
    timeout: Option<f64>,
}

/// A tool that a script brings.
pub(super) struct ScriptTool {
    script: Arc<Script>,
    spec: ToolSpec,
}

impl ScriptTool {
    pub(super) fn new(script: &Arc<Script>, facts: ToolFacts) -> Result<Self, LoadError> {
        let wrong = |message: String| LoadError::Tool { tool: facts.name.clone(), message };
        if let Some(reason) = misnamed(&facts.name) {
            return Err(wrong(reason));
        }
        if facts.description.chars().count() > DESCRIPTION {
            return Err(wrong(format!("its description has more than {DESCRIPTION} letters")));
        }
        if facts.parameters.get("type").and_then(Value::as_str) != Some("object") {
            return Err(wrong("its parameters must be a schema of an object".to_owned()));
        }
        Schema::compile(&facts.parameters).map_err(|bad| wrong(bad.to_string()))?;
        let mut spec = ToolSpec::new(facts.name, facts.description, facts.parameters);
        if let Some(label) = facts.label.filter(|label| !label.trim().is_empty()) {
            spec.label = label;
        }
        if !facts.read_only {
            (spec.access, spec.effect, spec.approval) = (Access::Write, Effect::Unsafe, Approval::Needed);
        }
        if let Some(ms) = facts.timeout.filter(|ms| ms.is_finite() && *ms > 0.0) {
            spec.deadline = Duration::from_secs_f64((ms / 1e3).min(LONGEST.as_secs_f64()));
        }
        Ok(Self { script: Arc::clone(script), spec })
    }
}

/// What a call gave.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Gave {
    content: Value,
    details: Option<Value>,
    #[serde(default)]
    is_error: bool,
}

#[async_trait]
impl Tool for ScriptTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let told = cx.clone();
        let under = Under {
            patience: Patience::of_call(cx),
            cancel: cx.cancel.clone(),
            progress: Some(Arc::new(move |news| told.progress(news))),
        };
        let call = json!({ "name": self.spec.name, "id": cx.call, "params": args });
        let failed = |reason: String| ToolError::new(format!("{} failed: {reason}", self.spec.name));
        let text = self.script.call("tool", &call, under).await.map_err(failed)?.unwrap_or_default();
        let gave: Gave = serde_json::from_str(&text)
            .map_err(|error| failed(format!("what it gave cannot be read: {error}")))?;
        let content = wire::content(gave.content).map_err(failed)?;
        if gave.is_error {
            let texts = content.iter().filter_map(|part| match part {
                Content::Text { text } => Some(text.as_str()),
                Content::Image(_) => None,
            });
            let message = texts.collect::<Vec<_>>().join("\n");
            return Err(ToolError { message, details: gave.details });
        }
        Ok(ToolOutput { content, details: gave.details })
    }
}
