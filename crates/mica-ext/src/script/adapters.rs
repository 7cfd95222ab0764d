//! What a script registered, as the engine asks for it: one adapter for each concern.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Args, ToolSpec};
use mica_ai::Message;
use mica_ai::message::ToolCall;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::running::{Script, Under};
use super::{object, wire};
use crate::concern::{
    Command, Failure, Guard, Guarded, Input, Lifecycle, Moment, Prompting, Resulted, Shortcut, Typed, Window,
};
use crate::registry::Registry;

/// Registers what handles these events.
pub(super) fn register(script: &Arc<Script>, events: &[String], registry: &mut Registry) {
    let has = |event: &str| events.iter().any(|one| one == event);
    let script = || Arc::clone(script);
    let (judges, reviews) = (has("tool_call"), has("tool_result"));
    if judges || reviews {
        registry.guards.push(Arc::new(ScriptGuard { script: script(), judges, reviews }));
    }
    if has("input") {
        registry.inputs.push(Arc::new(ScriptInput(script())));
    }
    if has("before_agent_start") {
        registry.prompting.push(Arc::new(ScriptPrompting(script())));
    }
    if has("context") {
        registry.windows.push(Arc::new(ScriptWindow(script())));
    }
    // One for each kind: a handler that fails is left out, and the others go on.
    for kind in Moment::KINDS.into_iter().filter(|kind| has(kind)) {
        registry.lifecycles.push(Arc::new(ScriptLifecycle { script: script(), kind }));
    }
}

fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| format!("what it returned cannot be read: {error}"))
}

struct ScriptGuard {
    script: Arc<Script>,
    judges: bool,
    reviews: bool,
}

#[derive(Deserialize)]
struct Judged {
    block: Option<String>,
    ask: Option<String>,
    #[serde(default, deserialize_with = "there")]
    input: Option<Option<Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reviewed {
    content: Option<Value>,
    details: Option<Value>,
    is_error: Option<bool>,
}

#[async_trait]
impl Guard for ScriptGuard {
    fn judges(&self) -> bool {
        self.judges
    }

    fn reviews(&self) -> bool {
        self.reviews
    }

    async fn tool_call(&self, call: &ToolCall, spec: &ToolSpec, args: &Args) -> Result<Guarded, Failure> {
        let event = wire::CallTold {
            kind: "tool_call",
            tool_name: &spec.name,
            tool_call_id: call.id.as_str(),
            input: args,
            result: None,
        };
        let Some(text) = self.script.call("event", &event, Under::new()).await? else {
            return Ok(Guarded::Pass);
        };
        let said: Judged = parsed(&text)?;
        if let Some(reason) = said.block {
            return Ok(Guarded::Block { reason });
        }
        let no_object = || "it changed the input to something that is no object".to_owned();
        let args = said.input.map(|input| input.and_then(object).ok_or_else(no_object)).transpose()?;
        Ok(match (said.ask, args) {
            // Who has nothing to say says nothing.
            (None, None) => return Err("what it returned means nothing".to_owned()),
            (Some(reason), None) => Guarded::Ask { reason },
            (None, Some(args)) => Guarded::Change { args },
            (Some(reason), Some(args)) => Guarded::ChangeAndAsk { args, reason },
        })
    }

    async fn tool_result(
        &self,
        call: &ToolCall,
        spec: &ToolSpec,
        result: &Resulted,
    ) -> Result<Option<Resulted>, Failure> {
        let input = call.arguments.parse().unwrap_or_default();
        let event = wire::CallTold {
            kind: "tool_result",
            tool_name: &spec.name,
            tool_call_id: call.id.as_str(),
            input: &input,
            result: Some(wire::ResultTold {
                content: wire::told(&result.output.content),
                details: result.output.details.as_ref(),
                is_error: result.failed,
            }),
        };
        let Some(text) = self.script.call("event", &event, Under::new()).await? else { return Ok(None) };
        let said: Reviewed = parsed(&text)?;
        let mut changed = result.clone();
        if let Some(content) = said.content {
            changed.output.content = wire::content(content)?;
        }
        if let Some(details) = said.details {
            changed.output.details = Some(details);
        }
        changed.failed = said.is_error.unwrap_or(changed.failed);
        Ok(Some(changed))
    }
}

struct ScriptInput(Arc<Script>);

#[derive(Deserialize)]
struct Changed {
    text: Option<String>,
    refused: Option<String>,
    /// There, and perhaps nothing: what is shown of what was dealt with.
    #[serde(default, deserialize_with = "there")]
    handled: Option<Option<String>>,
}

/// Tells a member that is null from one that is missing.
fn there<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

#[async_trait]
impl Input for ScriptInput {
    async fn input(&self, text: &str) -> Result<Typed, Failure> {
        let event = json!({ "type": "input", "text": text });
        let Some(said) = self.0.call("event", &event, Under::new()).await? else { return Ok(Typed::Go) };
        let said: Changed = parsed(&said)?;
        Ok(match (said.handled, said.refused, said.text) {
            (Some(shown), _, _) => Typed::Handled(shown),
            (None, Some(reason), _) => Typed::Refused(reason),
            (None, None, Some(text)) => Typed::Instead(text),
            (None, None, None) => Typed::Go,
        })
    }
}

struct ScriptPrompting(Arc<Script>);

#[async_trait]
impl Prompting for ScriptPrompting {
    async fn before_run(&self, prompt: &str) -> Result<Option<String>, Failure> {
        let system = self.0.world().system_prompt();
        let event = json!({ "type": "before_agent_start", "prompt": prompt, "systemPrompt": system });
        let Some(said) = self.0.call("event", &event, Under::new()).await? else { return Ok(None) };
        let said: Vec<String> = parsed(&said)?;
        let said: Vec<&str> = said.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
        Ok(Some(said.join("\n\n")).filter(|text| !text.is_empty()))
    }
}

struct ScriptWindow(Arc<Script>);

#[async_trait]
impl Window for ScriptWindow {
    async fn context(&self, messages: &[Message]) -> Result<Option<Vec<Message>>, Failure> {
        let told: Value = messages.iter().map(wire::message).collect();
        let event = json!({ "type": "context", "messages": told });
        let Some(said) = self.0.call("event", &event, Under::new()).await? else { return Ok(None) };
        let back: Vec<Value> = parsed(&said)?;
        wire::messages(messages, &back).map(Some)
    }
}

struct ScriptLifecycle {
    script: Arc<Script>,
    kind: &'static str,
}

#[async_trait]
impl Lifecycle for ScriptLifecycle {
    fn hears(&self, kind: &str) -> bool {
        self.kind == kind
    }

    async fn moment(&self, moment: &Moment) -> Result<(), Failure> {
        self.script.call("event", &wire::moment(moment), Under::new()).await.map(drop)
    }
}

/// What is known of a command.
#[derive(Debug, Deserialize)]
pub(super) struct CommandFacts {
    name: String,
    description: String,
}

struct ScriptCommand {
    script: Arc<Script>,
    facts: CommandFacts,
}

pub(super) fn command(script: &Arc<Script>, facts: CommandFacts) -> Arc<dyn Command> {
    Arc::new(ScriptCommand { script: Arc::clone(script), facts })
}

#[derive(Deserialize)]
struct Came {
    shown: Option<String>,
    prompt: Option<String>,
}

#[async_trait]
impl Command for ScriptCommand {
    fn name(&self) -> &str {
        &self.facts.name
    }

    fn description(&self) -> &str {
        &self.facts.description
    }

    async fn run(&self, arguments: &str) -> Result<Typed, Failure> {
        let call = json!({ "name": self.facts.name, "args": arguments });
        let Some(said) = self.script.call("command", &call, Under::new()).await? else {
            return Ok(Typed::Handled(None));
        };
        let said: Came = parsed(&said)?;
        Ok(said.prompt.map_or(Typed::Handled(said.shown), Typed::Instead))
    }
}

/// What is known of a key.
#[derive(Debug, Deserialize)]
pub(super) struct ShortcutFacts {
    key: String,
    description: String,
}

struct ScriptShortcut {
    script: Arc<Script>,
    facts: ShortcutFacts,
}

pub(super) fn shortcut(script: &Arc<Script>, facts: ShortcutFacts) -> Arc<dyn Shortcut> {
    Arc::new(ScriptShortcut { script: Arc::clone(script), facts })
}

#[async_trait]
impl Shortcut for ScriptShortcut {
    fn key(&self) -> &str {
        &self.facts.key
    }

    fn description(&self) -> &str {
        &self.facts.description
    }

    async fn run(&self) -> Result<(), Failure> {
        self.script.call("shortcut", &json!({ "key": self.facts.key }), Under::new()).await.map(drop)
    }
}
