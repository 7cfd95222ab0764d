//! `remember` and `forget`: a model proposes what should be known in later sessions, and a person agrees or not.

use async_trait::async_trait;
use mica_agent::{
    Access, Approval, Args, Effect, Preview, Resource, Tool, ToolCx, ToolError, ToolOutput, ToolSpec,
};
use mica_tools::arguments::{blocking, read};
use serde::Deserialize;
use serde_json::json;

use super::gate::{ended, found};
use super::{Memory, MemoryError, Scope, Section};

/// The name of the tool that adds a note.
pub const REMEMBER: &str = "remember";
/// The name of the tool that takes one out.
pub const FORGET: &str = "forget";

/// What to remember.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RememberArgs {
    pub(super) text: String,
    #[serde(default = "project")]
    pub(super) scope: Scope,
    #[serde(default = "context")]
    pub(super) section: Section,
}

/// What to forget.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ForgetArgs {
    pub(super) text: String,
    #[serde(default)]
    pub(super) scope: Option<Scope>,
}

fn project() -> Scope {
    Scope::Project
}

fn context() -> Section {
    Section::Context
}

/// Adds a note.
pub struct Remember {
    memory: Memory,
    spec: ToolSpec,
}

impl Remember {
    /// A tool that writes to this memory.
    pub fn new(memory: &Memory) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "text": { "type": "string", "description": "One sentence that makes sense without this conversation." },
                "scope": {
                    "type": "string",
                    "enum": ["project", "global"],
                    "description": "For this project (the default), or for all of the user's projects."
                },
                "section": {
                    "type": "string",
                    "enum": ["preferences", "context", "learned_patterns"],
                    "description": "How the user wants things done; what is so (the default); what worked and what did not."
                }
            },
            "required": ["text"],
            "additionalProperties": false
        });
        let description = "Adds a note to the memory that later sessions are told. Use it when the user says that you should \
                           remember something, or corrects you in a way that will matter again. Not for what the files of the \
                           project say, not for what is only true today, and never for secrets. The user is shown the words and \
                           agrees or not.";
        Self { memory: memory.clone(), spec: spec(REMEMBER, "Remember", description, schema) }
    }
}

fn spec(name: &str, label: &str, description: &str, schema: serde_json::Value) -> ToolSpec {
    let mut spec = ToolSpec::new(name, description, schema);
    spec.label = label.to_owned();
    spec.access = Access::Write;
    spec.effect = Effect::Idempotent;
    spec.approval = Approval::Needed;
    spec
}

#[async_trait]
impl Tool for Remember {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn touches(&self, _: &Args) -> Vec<Resource> {
        vec![Resource::named("memory", "all")]
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        let RememberArgs { text, scope, section } = read(args.clone()).ok()?;
        Some(match self.memory.could_add(scope, section, &text) {
            Ok(line) => Preview::Text { title: title("Remember", scope, Some(section)), text: line },
            Err(error) => Preview::Fails { reason: ended(&error.told()) },
        })
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let RememberArgs { text, scope, section } = read(args)?;
        let memory = self.memory.clone();
        blocking(cx, move |_| {
            let line = memory.add(scope, section, &text).map_err(|error| failed(&error))?;
            let details =
                json!({ "added": line, "scope": scope, "section": section, "path": memory.path(scope) });
            Ok(ToolOutput::text(format!("Remembered for {}: {line}", whom(scope))).with_details(details))
        })
        .await
    }
}

/// Takes a note out.
pub struct Forget {
    memory: Memory,
    spec: ToolSpec,
}

impl Forget {
    /// A tool that writes to this memory.
    pub fn new(memory: &Memory) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "text": { "type": "string", "description": "The note, or words that only it has." },
                "scope": { "type": "string", "enum": ["project", "global"], "description": "Where; both are looked at when left out." }
            },
            "required": ["text"],
            "additionalProperties": false
        });
        let description = "Takes a note out of the memory that later sessions are told, when the user says so or it is no longer \
                           true. The user is shown the note and agrees or not.";
        Self { memory: memory.clone(), spec: spec(FORGET, "Forget", description, schema) }
    }
}

#[async_trait]
impl Tool for Forget {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn touches(&self, _: &Args) -> Vec<Resource> {
        vec![Resource::named("memory", "all")]
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        let args: ForgetArgs = read(args.clone()).ok()?;
        Some(match found(&self.memory, &args) {
            Ok((scope, line)) => Preview::Text { title: title("Forget", scope, None), text: line },
            Err(reason) => Preview::Fails { reason: ended(&reason) },
        })
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: ForgetArgs = read(args)?;
        let memory = self.memory.clone();
        blocking(cx, move |_| {
            let (scope, _) = found(&memory, &args)
                .map_err(|reason| ToolError::new(format!("{} Nothing was changed.", ended(&reason))))?;
            let line = memory.forget(scope, &args.text).map_err(|error| failed(&error))?;
            let details = json!({ "forgot": line, "scope": scope, "path": memory.path(scope) });
            Ok(ToolOutput::text(format!("No longer remembered for {}: {line}", whom(scope)))
                .with_details(details))
        })
        .await
    }
}

fn failed(error: &MemoryError) -> ToolError {
    ToolError::new(format!("{} Nothing was changed.", ended(&error.told())))
}

fn whom(scope: Scope) -> &'static str {
    match scope {
        Scope::Project => "this project",
        Scope::Global => "all projects",
    }
}

fn title(verb: &str, scope: Scope, section: Option<Section>) -> String {
    let under = section.map(|section| format!(", under {}", section.heading())).unwrap_or_default();
    format!("{verb} for {}{under}", whom(scope))
}
