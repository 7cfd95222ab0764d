//! What a hook reads: one JSON object, with the fields that agents share.

use serde_json::{Map, Value, json};

use super::event::{HookEvent, Matched};
use super::runner::Situation;
use super::vocabulary::{self, Vocabulary};
use mica_agent::Args;

/// Something that happened, before it is put into anybody's words.
#[derive(Debug, Clone, PartialEq)]
pub struct Occasion {
    /// What.
    pub event: HookEvent,
    /// The call it is about.
    pub call: Option<Called>,
    /// Fields of the event, the same in all words.
    pub fields: Map<String, Value>,
}

/// A call.
#[derive(Debug, Clone, PartialEq)]
pub struct Called {
    /// Its id.
    pub id: String,
    /// The tool, by our name.
    pub tool: String,
    /// Its arguments.
    pub args: Args,
    /// What it came to.
    pub came_to: Option<CameTo>,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub struct CameTo {
    /// The text that the model reads.
    pub text: String,
    /// What interfaces get besides.
    pub details: Option<Value>,
    /// Whether it failed.
    pub failed: bool,
}

impl Occasion {
    /// Something that is about no call.
    pub fn new(event: HookEvent) -> Self {
        Self { event, call: None, fields: Map::new() }
    }

    /// Something about a call.
    pub fn of(event: HookEvent, call: Called) -> Self {
        Self { event, call: Some(call), fields: Map::new() }
    }

    /// With a field.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// Names that matchers are held against.
    pub fn names(&self) -> Vec<&str> {
        match self.event.matched() {
            Matched::Tool => self.call.as_ref().map_or_else(Vec::new, |call| vocabulary::names(&call.tool)),
            Matched::Word(field) => vec![self.fields.get(field).and_then(Value::as_str).unwrap_or_default()],
            Matched::Nothing => Vec::new(),
        }
    }

    /// What a hook reads.
    pub fn payload(&self, situation: &Situation, vocabulary: Vocabulary) -> Value {
        let mut payload = Map::new();
        let mut put = |name: &str, value: Value| {
            payload.insert(name.to_owned(), value);
        };
        put("session_id", situation.session.clone().into());
        put("transcript_path", situation.transcript.as_ref().map(|path| path.display().to_string()).into());
        put("cwd", situation.folder.display().to_string().into());
        put("hook_event_name", self.event.name().into());
        put("permission_mode", situation.mode.into());
        if let Some(call) = &self.call {
            let told = vocabulary.told(&call.tool, &call.args, &situation.folder);
            put("tool_name", vocabulary.tool(&call.tool, &call.args).into());
            match &call.came_to {
                None => {}
                Some(CameTo { text, failed: true, .. }) => {
                    put("error", text.clone().into());
                    put("is_interrupt", false.into());
                }
                Some(CameTo { text, details, .. }) => {
                    put("tool_response", vocabulary.response(&call.tool, &told, text, details.as_ref()));
                }
            }
            put("tool_input", Value::Object(told));
            put("tool_use_id", call.id.clone().into());
        }
        for (name, value) in &self.fields {
            put(name, value.clone());
        }
        Value::Object(payload)
    }
}

/// An occasion of each kind, to try hooks with.
pub fn sample(event: HookEvent, tool: &str, args: &Args) -> Occasion {
    let call =
        |came_to| Called { id: "call_sample".to_owned(), tool: tool.to_owned(), args: args.clone(), came_to };
    let came_to = |failed| CameTo { text: "a sample of what it came to".to_owned(), details: None, failed };
    match event {
        HookEvent::PreToolUse | HookEvent::PermissionRequest => Occasion::of(event, call(None)),
        HookEvent::PostToolUse => Occasion::of(event, call(Some(came_to(false)))),
        HookEvent::PostToolUseFailure => Occasion::of(event, call(Some(came_to(true)))),
        HookEvent::UserPromptSubmit => Occasion::new(event).with("prompt", "a sample of what a person says"),
        HookEvent::SessionStart => Occasion::new(event).with("source", "startup"),
        HookEvent::SessionEnd => Occasion::new(event).with("reason", "other"),
        HookEvent::Stop => Occasion::new(event)
            .with("stop_hook_active", false)
            .with("last_assistant_message", "a sample of the last words"),
        HookEvent::SubagentStart => {
            Occasion::new(event).with("agent_id", "explore-1").with("agent_type", "explore")
        }
        HookEvent::SubagentStop => Occasion::new(event)
            .with("agent_id", "explore-1")
            .with("agent_type", "explore")
            .with("stop_hook_active", false),
        HookEvent::PreCompact => {
            Occasion::new(event).with("trigger", "manual").with("custom_instructions", "")
        }
        HookEvent::PostCompact => Occasion::new(event)
            .with("trigger", "manual")
            .with("tokens", json!({ "before": 100_000, "after": 20_000 })),
        HookEvent::Notification => {
            Occasion::new(event).with("message", "a sample of a notice").with("notification_type", "notice")
        }
    }
}
