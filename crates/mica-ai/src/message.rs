//! What is said: messages and the blocks they are made of.
//!
//! These types are what sessions store and what every dialect is mapped to and from. They keep what a
//! replay needs (signatures, encrypted reasoning, the origin of an answer) and nothing about a wire.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::arguments::Arguments;
use crate::id::{CallId, MessageId};
use crate::usage::Usage;

/// One entry of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// What a person, or the product on a person's behalf, said.
    User(User),
    /// What a model answered.
    Assistant(Assistant),
    /// What a tool call came to.
    ToolResult(ToolResult),
}

impl Message {
    /// The message's own id.
    pub fn id(&self) -> &MessageId {
        match self {
            Message::User(message) => &message.id,
            Message::Assistant(message) => &message.id,
            Message::ToolResult(message) => &message.id,
        }
    }
}

impl From<User> for Message {
    fn from(message: User) -> Self {
        Message::User(message)
    }
}

impl From<Assistant> for Message {
    fn from(message: Assistant) -> Self {
        Message::Assistant(message)
    }
}

impl From<ToolResult> for Message {
    fn from(message: ToolResult) -> Self {
        Message::ToolResult(message)
    }
}

/// A user message: text and images, in the order they were given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct User {
    /// Names the message.
    pub id: MessageId,
    /// Its content.
    pub content: Vec<Content>,
}

impl User {
    /// A message of one text, with a fresh id.
    pub fn text(text: impl Into<String>) -> Self {
        Self { id: MessageId::fresh(), content: vec![Content::text(text)] }
    }
}

impl From<&str> for User {
    fn from(text: &str) -> Self {
        User::text(text)
    }
}

impl From<String> for User {
    fn from(text: String) -> Self {
        User::text(text)
    }
}

/// What users and tools may say: text or an image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image(Image),
}

impl Content {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Content::Text { text: text.into() }
    }
}

/// A picture, by value or by address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// For example `image/png`.
    pub media_type: String,
    /// Where the bytes are.
    pub source: ImageSource,
}

/// Where an image's bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageSource {
    /// The bytes themselves, base64. Shared, because history is cloned for every request.
    Base64(Arc<str>),
    /// An address the provider fetches.
    Url(String),
}

/// A model's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assistant {
    /// Names the message. Given by the caller in the request, not by the provider.
    pub id: MessageId,
    /// What was said, in order. Indices match the `block` of the stream events.
    pub blocks: Vec<Block>,
    /// Which model, reached how, said it. Decides what may be replayed to whom.
    pub origin: Origin,
    /// What it took. Counted even when the answer failed.
    pub usage: Usage,
    /// Why it ended.
    pub stop: StopReason,
    /// The provider's own words on the ending: the stop sequence hit, the filter that struck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_detail: Option<String>,
    /// The provider's id of the answer, for support requests. Never sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
}

impl Assistant {
    /// An answer that has said nothing yet.
    pub fn empty(id: MessageId, origin: Origin) -> Self {
        Self {
            id,
            blocks: Vec::new(),
            origin,
            usage: Usage::default(),
            stop: StopReason::Aborted,
            stop_detail: None,
            response_id: None,
        }
    }

    /// The text blocks, joined.
    pub fn text(&self) -> String {
        let mut all = String::new();
        for block in &self.blocks {
            if let Block::Text(text) = block {
                all.push_str(&text.text);
            }
        }
        all
    }

    /// The tool calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}

/// A piece of an assistant message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Words for the user.
    Text(Text),
    /// The model's reasoning, as far as the provider shows it.
    Thinking(Thinking),
    /// A picture the model made.
    Image(Image),
    /// A tool the model wants run.
    ToolCall(ToolCall),
}

/// Words for the user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// The words.
    pub text: String,
    /// Whether they answer or decline.
    #[serde(default, skip_serializing_if = "TextKind::is_answer")]
    pub kind: TextKind,
    /// What the model called this part of its answer; replayed to the same model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
}

/// Whether a text answers or declines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextKind {
    /// An ordinary answer.
    #[default]
    Answer,
    /// The model declines, and says so in these words.
    Refusal,
}

impl TextKind {
    fn is_answer(&self) -> bool {
        *self == TextKind::Answer
    }
}

/// Some models mark whether a text is on the way or the result. They do worse when the mark is not replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Said while working.
    Commentary,
    /// The result.
    FinalAnswer,
}

/// The model's reasoning.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thinking {
    /// What may be shown: the reasoning itself or a summary; empty when the provider hides it.
    pub text: String,
    /// What the provider needs to accept the block back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<Seal>,
}

/// What makes a thinking block replayable. A seal is only good for the model and endpoint that made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seal {
    /// Messages: a signature over the text.
    Signature(String),
    /// Messages: the reasoning itself, unreadable to us.
    Redacted(String),
    /// Responses: encrypted reasoning beside a readable summary.
    Encrypted(String),
    /// Responses: readable reasoning of an open-weight model, sent back as it is.
    Open,
    /// Chat: the field the server used, so that it gets its reasoning back under the same name.
    Field(ReasoningField),
}

/// The two spellings chat servers use for reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningField {
    /// `reasoning_content`: DeepSeek, Kimi, llama.cpp, older vLLM.
    ReasoningContent,
    /// `reasoning`: Ollama, newer vLLM, several routers.
    Reasoning,
}

impl ReasoningField {
    /// The key on the wire.
    pub fn key(self) -> &'static str {
        match self {
            ReasoningField::ReasoningContent => "reasoning_content",
            ReasoningField::Reasoning => "reasoning",
        }
    }
}

/// A tool the model wants run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Pairs the call with its result.
    pub id: CallId,
    /// The tool.
    pub name: String,
    /// What the model wrote as arguments, unparsed.
    pub arguments: Arguments,
}

impl ToolCall {
    /// What this call came to, as a message with a fresh id.
    pub fn result(&self, content: Vec<Content>, status: ResultStatus) -> ToolResult {
        ToolResult { id: MessageId::fresh(), call: self.id.clone(), tool: self.name.clone(), content, status }
    }
}

/// What a tool call came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Names the message.
    pub id: MessageId,
    /// The call this answers.
    pub call: CallId,
    /// The tool that was called.
    pub tool: String,
    /// What the model is shown.
    pub content: Vec<Content>,
    /// Whether it worked.
    #[serde(default, skip_serializing_if = "ResultStatus::is_ok")]
    pub status: ResultStatus,
}

/// Whether a tool did what it was asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultStatus {
    /// It did.
    #[default]
    Ok,
    /// It did not, and the content says why.
    Failed,
}

impl ResultStatus {
    fn is_ok(&self) -> bool {
        *self == ResultStatus::Ok
    }
}

/// Which model, reached how, made a message.
///
/// Two origins are interchangeable for replay only when all three parts are equal: signatures and encrypted
/// reasoning are bound to the model and, on Azure, to the resource.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// The wire it came over.
    pub dialect: Dialect,
    /// The endpoint, by the name the configuration gives it.
    pub provider: String,
    /// The deployment or model name that was asked for.
    pub model: String,
}

/// The three wires mica speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// OpenAI Responses.
    Responses,
    /// Claude Messages.
    Messages,
    /// Chat Completions, as OpenAI and most other servers speak it.
    Chat,
}

impl Dialect {
    /// All three, in the order docs list them.
    pub const ALL: [Dialect; 3] = [Dialect::Responses, Dialect::Messages, Dialect::Chat];

    /// The name used in configuration and output.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Responses => "responses",
            Dialect::Messages => "messages",
            Dialect::Chat => "chat",
        }
    }
}

impl std::fmt::Display for Dialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Dialect::ALL
            .into_iter()
            .find(|dialect| dialect.name() == text)
            .ok_or_else(|| UnknownDialect { given: text.to_owned() })
    }
}

/// A dialect name that is not one of the three.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown dialect {given:?}: use responses, messages or chat")]
pub struct UnknownDialect {
    /// What was given.
    pub given: String,
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model was done.
    Stop,
    /// The output limit cut it off. Its tool calls must not run.
    Length,
    /// The model waits for tool results.
    ToolUse,
    /// The provider paused a long turn; sending the message back as it is goes on with it.
    Pause,
    /// The model declined.
    Refusal,
    /// A filter cut the answer off.
    ContentFilter,
    /// The stream failed; the message is what arrived until then.
    Error,
    /// The caller cancelled; the message is what arrived until then.
    Aborted,
}

impl StopReason {
    /// Whether the message ended where the model meant it to. Only then may its tool calls run.
    pub fn is_whole(self) -> bool {
        matches!(self, StopReason::Stop | StopReason::ToolUse | StopReason::Pause)
    }
}
