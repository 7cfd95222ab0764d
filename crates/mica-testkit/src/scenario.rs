//! What a scripted model says: scenarios, turns and steps, built in code or read from TOML or JSON of the same shape.

use std::collections::BTreeMap;

use mica_ai::message::ReasoningField;
use mica_ai::model::{CacheFacts, Model, Parameter};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fault::Fault;
use crate::preset::ErrorAnswer;
use crate::seen::Seen;

mod build;

/// Everything a scripted model will say, and how.
///
/// Which turn answers a request: the first whose `when` fits; else the next of those without `when`, in order; else
/// `otherwise`; else HTTP 400 with the code `script_exhausted`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scenario {
    /// Names the scenario. The ids of answers are made from it, so two scenarios do not share ids.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The turns.
    pub turns: Vec<Turn>,
    /// What is said when no turn fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Box<Turn>>,
    /// How fast turns are told that do not say so themselves.
    pub pacing: Pacing,
    /// What varies between servers of one dialect.
    pub wire: WireOptions,
    /// Whether requests are checked as strictly as providers check them.
    pub strict: Strict,
    /// The key that requests must carry, in any of the headers the vendors use. None is asked for when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Facts about the models that are served, by deployment name. Others get the dialect's usual facts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, ModelFacts>,
    /// Upper bounds of what a script keeps and takes.
    pub limits: Limits,
}

/// The facts about a served model that its answers depend on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFacts {
    /// Parameters it answers 400 to.
    #[serde(default)]
    pub rejects: Vec<Parameter>,
    /// How its prompt cache works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheFacts>,
}

impl From<&Model> for ModelFacts {
    fn from(model: &Model) -> Self {
        Self { rejects: model.rejects.clone(), cache: Some(model.cache.clone()) }
    }
}

/// How strictly requests are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Strict {
    /// Pairing of calls and results, empty blocks, marks, parameters.
    pub shape: bool,
    /// Signatures and encrypted reasoning must be ones this script gave to the same model.
    pub seals: bool,
}

impl Default for Strict {
    fn default() -> Self {
        Self { shape: true, seals: true }
    }
}

/// Upper bounds of what a script keeps and takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Bytes of a request body; a larger one is answered 413.
    pub body: usize,
    /// Connections at a time; further ones wait to be accepted.
    pub connections: usize,
    /// Captured requests; the oldest is dropped for a new one.
    pub captured: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body: 32 << 20, connections: 64, captured: 1024 }
    }
}

/// What varies between servers of one dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WireOptions {
    /// Responses: encrypted reasoning is left out of `output_item.done` and comes with the terminal event only,
    /// as Azure does it.
    pub late_encrypted: bool,
    /// Responses: reasoning as readable `reasoning_text`, as open-weight models give it, and not as a summary.
    pub open_reasoning: bool,
    /// Chat: the field that reasoning is told in.
    pub reasoning_field: ReasoningField,
    /// Chat: `prompt_filter_results` and `content_filter_results`, as Azure adds them. On its paths only.
    pub filter_results: bool,
    /// Messages: a `ping` after the start, as the provider sends it.
    pub ping: bool,
}

impl Default for WireOptions {
    fn default() -> Self {
        Self {
            late_encrypted: false,
            open_reasoning: false,
            reasoning_field: ReasoningField::ReasoningContent,
            filter_results: true,
            ping: true,
        }
    }
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    /// Answers only requests that fit, and as often as they come. Without it a turn is played once, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
    /// How many requests in a row it answers, when it is played in order.
    pub repeat: usize,
    /// What is said.
    pub steps: Vec<Step>,
    /// Why the answer ends; by default for its calls, its refusal, or because it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// What it says it took.
    pub usage: TurnUsage,
    /// How fast it is told; as the scenario says when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing: Option<Pacing>,
    /// How the answer is spoiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// An HTTP error in place of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorAnswer>,
}

impl Default for Turn {
    fn default() -> Self {
        Self {
            when: None,
            repeat: 1,
            steps: Vec::new(),
            stop: None,
            usage: TurnUsage::default(),
            pacing: None,
            fault: None,
            error: None,
        }
    }
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Reasoning. On Responses, blank lines part it into summary parts.
    Thinking(String),
    /// Reasoning the provider hides; the text is only what makes its opaque payload differ.
    Redacted(String),
    /// Words.
    Text(String),
    /// Words that decline.
    Refusal(String),
    /// A tool call.
    Call(Call),
    /// Tool calls whose argument deltas alternate. Messages has one block open at a time, so there they follow
    /// one another.
    Interleaved(Vec<Call>),
    /// A picture, base64 PNG. Told on Responses only: the other wires have none.
    Image(String),
}

/// A tool call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// The call's id; made up in the vendor's form when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The arguments, as a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// The arguments as text, sent as it is: this is how malformed ones are made. Wins over `args`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

impl Call {
    /// A call with arguments.
    pub fn new(name: impl Into<String>, args: Value) -> Self {
        Self { name: name.into(), args: Some(args), ..Self::default() }
    }

    /// A call with argument text that need not be JSON.
    pub fn raw(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), raw: Some(text.into()), ..Self::default() }
    }

    /// Gives the call an id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The argument text that goes over the wire.
    pub fn text(&self) -> String {
        match (&self.raw, &self.args) {
            (Some(raw), _) => raw.clone(),
            (None, Some(args)) => args.to_string(),
            (None, None) => "{}".to_owned(),
        }
    }
}

/// Why an answer ends. Each dialect has its own word for it, or the nearest it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It is done.
    Stop,
    /// The output limit was reached.
    Length,
    /// It waits for tool results.
    ToolUse,
    /// The model declines.
    Refusal,
    /// A filter cut it off.
    ContentFilter,
    /// The provider pauses a long turn. Messages only; elsewhere as `stop`.
    Pause,
    /// The window is full. Responses fails with `context_length_exceeded`; Chat says `length`.
    ContextWindowExceeded,
}

/// What an answer says it took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnUsage {
    /// What the cache simulator makes of the request, and the size of the answer.
    #[default]
    Auto,
    /// Nothing at all, as some servers do. Messages cannot leave it out: there it is zeros.
    Absent,
    /// These numbers; what is not given is 0. `input` counts everything read, as [`mica_ai::Usage`] does.
    Exact(#[serde(with = "UsageForm")] mica_ai::Usage),
}

/// How usage is written in a scenario: only what matters, and never a price.
#[derive(Serialize, Deserialize)]
#[serde(remote = "mica_ai::Usage", deny_unknown_fields)]
struct UsageForm {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    cache_read: u64,
    #[serde(default)]
    cache_write: u64,
    #[serde(default)]
    cache_write_long: u64,
    #[serde(default)]
    output: u64,
    #[serde(default)]
    reasoning: u64,
    #[serde(skip)]
    cost: Option<mica_ai::usage::Cost>,
}

/// How fast an answer is told. Deterministic: the same text is always cut at the same places, never inside a
/// character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pacing {
    /// Characters in a delta.
    pub chars: usize,
    /// Milliseconds before the first event.
    pub first_ms: u64,
    /// Milliseconds before each delta.
    pub delay_ms: u64,
}

impl Default for Pacing {
    fn default() -> Self {
        Self { chars: 12, first_ms: 0, delay_ms: 0 }
    }
}

/// What a request must be like for a turn to answer it. Everything that is given must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    /// The last thing the user said contains this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_contains: Option<String>,
    /// A result of this tool came after the last thing the user said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_result: Option<String>,
    /// So many tool results came after the last thing the user said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_results: Option<usize>,
    /// The request names this model or deployment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl When {
    /// Whether a request fits.
    pub fn fits(&self, seen: &Seen) -> bool {
        self.user_contains.as_ref().is_none_or(|words| seen.user.contains(words.as_str()))
            && self.tool_result.as_ref().is_none_or(|tool| seen.results.iter().any(|result| result == tool))
            && self.tool_results.is_none_or(|count| seen.results.len() == count)
            && self.model.as_ref().is_none_or(|model| *model == seen.model)
    }
}

/// A scenario file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// It is no TOML of the right shape.
    #[error("the scenario does not read: {0}")]
    Toml(#[from] toml::de::Error),
    /// It is no JSON of the right shape.
    #[error("the scenario does not read: {0}")]
    Json(#[from] serde_json::Error),
}

#[cfg(test)]
mod tests;
