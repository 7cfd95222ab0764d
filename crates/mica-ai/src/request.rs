//! What a model is asked: everything that decides the bytes of a request, and nothing that a wire dictates.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::MessageId;
use crate::message::Message;
use crate::model::{Effort, Model};

/// One question to a model.
///
/// Built once and shared: a retry sends the same request, byte for byte.
#[derive(Debug, Clone)]
pub struct Request {
    /// The model and what is known about it.
    pub model: Arc<Model>,
    /// The id the answer will carry.
    pub answer: MessageId,
    /// The system prompt, in tiers, most stable first.
    pub system: Vec<String>,
    /// The tools, in the order they are sent. Keep it stable: it is the first thing a cache compares.
    pub tools: Arc<[ToolDef]>,
    /// The conversation.
    pub messages: Vec<Message>,
    /// Whether and which tools may be called.
    pub tool_choice: ToolChoice,
    /// How many tools may be called at once.
    pub parallel: ParallelCalls,
    /// Output tokens at most; the model's own limit when absent. Azure charges quota for what is asked, not used.
    pub max_output: Option<u64>,
    /// How hard to think; the provider's default when absent.
    pub effort: Option<Effort>,
    /// Whether the model's thoughts should be shown, where that can be chosen.
    pub thoughts: Thoughts,
    /// Sampling temperature. Left out for models that reject it.
    pub temperature: Option<f64>,
    /// Nucleus sampling. Left out for models that reject it.
    pub top_p: Option<f64>,
    /// Texts that end the answer. Not on the Responses wire.
    pub stop: Vec<String>,
    /// The form the answer must have.
    pub output: OutputFormat,
    /// What should be cached.
    pub cache: CachePlan,
    /// A stable, anonymous name of the end user, for the provider's abuse detection.
    pub end_user: Option<String>,
}

impl Request {
    /// A request with nothing but a model: add messages and what else is needed.
    pub fn new(model: Arc<Model>) -> Self {
        Self {
            model,
            answer: MessageId::fresh(),
            system: Vec::new(),
            tools: Arc::default(),
            messages: Vec::new(),
            tool_choice: ToolChoice::Auto,
            parallel: ParallelCalls::Default,
            max_output: None,
            effort: None,
            thoughts: Thoughts::Shown,
            temperature: None,
            top_p: None,
            stop: Vec::new(),
            output: OutputFormat::Text,
            cache: CachePlan::default(),
            end_user: None,
        }
    }

    /// Output tokens to ask for: what the caller wants, within what the model can.
    pub fn output_limit(&self) -> u64 {
        self.max_output.unwrap_or(self.model.max_output).min(self.model.max_output)
    }
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDef {
    /// Its name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// JSON Schema of its arguments. Sent whole, `$defs` included.
    pub schema: Value,
    /// Whether the provider must hold the model to the schema.
    #[serde(default)]
    pub strictness: Strictness,
}

/// Whether the provider must hold the model to a tool's schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strictness {
    /// The schema guides; arguments are validated here.
    #[default]
    Guide,
    /// The provider constrains decoding. The schema must stay within what it supports.
    Enforce,
}

/// Whether and which tools may be called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// It may not. The tools stay in the request, so the cache holds.
    None,
    /// It must call one.
    Required,
    /// It must call this one.
    Tool(String),
    /// It may call only these. Narrows without changing the tool list, where the wire can; elsewhere `Auto`.
    Allowed(Vec<String>),
}

/// How many tools may be called at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParallelCalls {
    /// As the provider does by itself.
    #[default]
    Default,
    /// One at a time.
    One,
    /// Several.
    Many,
}

/// Whether a model's thoughts should be shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thoughts {
    /// As the provider summarises them.
    #[default]
    Shown,
    /// Not at all, for answers nobody watches: the first words come sooner.
    Hidden,
}

/// The form an answer must have.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum OutputFormat {
    /// Text.
    #[default]
    Text,
    /// JSON that fits a schema.
    JsonSchema {
        /// A name for the schema: letters, digits, `_` and `-`.
        name: String,
        /// The schema.
        schema: Value,
    },
}

/// What should be cached, and under which routing key.
///
/// Points name messages by id, so that they stay right when a replay drops or settles messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CachePlan {
    /// Requests with the same key are routed to the same cache.
    pub key: Option<String>,
    /// Where cached prefixes end, in the order of the request.
    pub marks: Vec<CacheMark>,
}

/// The end of a cached prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheMark {
    /// Where it is.
    pub at: CachePoint,
    /// How long the entry should live.
    pub ttl: CacheTtl,
}

/// A place in a request where a cached prefix can end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CachePoint {
    /// After the last tool.
    Tools,
    /// After this part of the system prompt.
    System(usize),
    /// After this message.
    Message(MessageId),
}

/// How long a cache entry should live.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheTtl {
    /// The provider's shortest: five minutes on Claude.
    #[default]
    Short,
    /// An hour, where there is one. Long marks must come before short ones.
    Long,
}
