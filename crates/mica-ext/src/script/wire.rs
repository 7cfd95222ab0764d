//! How things cross between scripts and the engine: names as scripts know them, and nothing taken for granted that comes
//! back.

use std::collections::HashMap;
use std::sync::Arc;

use mica_agent::Outcome;
use mica_ai::message::{Image, ImageSource, ResultStatus};
use mica_ai::{Block, Content, Message, User};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::concern::Moment;

/// Parts of one content.
const PARTS: usize = 1000;

/// A program that a script wants run.
#[derive(Debug, Deserialize)]
pub(super) struct ExecAsked {
    pub(super) argv: Option<Vec<String>>,
    pub(super) command: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) stdin: Option<String>,
    pub(super) timeout: Option<f64>,
}

/// A request that a script wants made.
#[derive(Debug, Deserialize)]
pub(super) struct FetchAsked {
    pub(super) url: String,
    pub(super) method: Option<String>,
    #[serde(default)]
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<String>,
    pub(super) timeout: Option<f64>,
}

impl FetchAsked {
    /// The host that is asked, in small letters. `None`: the address is none of the web.
    pub(super) fn host(&self) -> Option<String> {
        let uri: http::Uri = self.url.parse().ok()?;
        matches!(uri.scheme_str(), Some("http" | "https")).then(|| uri.host().map(str::to_ascii_lowercase))?
    }
}

/// A part of content, as scripts write it.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Part {
    Text {
        text: String,
    },
    Image {
        data: String,
        #[serde(rename = "mimeType")]
        mime_type: String,
    },
}

/// Reads content: a text, or text and images.
pub(super) fn content(value: Value) -> Result<Vec<Content>, String> {
    match value {
        Value::String(text) => Ok(vec![Content::text(text)]),
        Value::Array(parts) if parts.len() <= PARTS => parts.into_iter().map(part).collect(),
        Value::Array(parts) => Err(format!("content has {} parts, more than {PARTS}", parts.len())),
        _ => Err("content must be a text or an array".to_owned()),
    }
}

fn part(value: Value) -> Result<Content, String> {
    match serde_json::from_value(value) {
        Ok(Part::Text { text }) => Ok(Content::text(text)),
        Ok(Part::Image { data, mime_type }) if mime_type.starts_with("image/") => {
            Ok(Content::Image(Image { media_type: mime_type, source: ImageSource::Base64(Arc::from(data)) }))
        }
        Ok(Part::Image { mime_type, .. }) => Err(format!("{mime_type:?} is no type of image")),
        Err(error) => Err(format!("a part of content cannot be read: {error}")),
    }
}

/// Content, as scripts read it.
pub(super) fn told(content: &[Content]) -> Value {
    content.iter().map(told_part).collect()
}

fn told_part(part: &Content) -> Value {
    match part {
        Content::Text { text } => json!({ "type": "text", "text": text }),
        Content::Image(image) => told_image(image),
    }
}

fn told_image(image: &Image) -> Value {
    match &image.source {
        ImageSource::Base64(data) => json!({ "type": "image", "data": data, "mimeType": image.media_type }),
        ImageSource::Url(url) => json!({ "type": "image", "url": url, "mimeType": image.media_type }),
    }
}

/// A message, as scripts read it.
pub(super) fn message(message: &Message) -> Value {
    match message {
        Message::User(user) => json!({ "role": "user", "id": user.id, "content": told(&user.content) }),
        Message::Assistant(answer) => {
            let blocks = answer.blocks.iter().map(|block| match block {
                Block::Text(text) => json!({ "type": "text", "text": text.text }),
                Block::Thinking(thinking) => json!({ "type": "thinking", "thinking": thinking.text }),
                Block::Image(image) => told_image(image),
                Block::ToolCall(call) => json!({
                    "type": "toolCall", "id": call.id, "name": call.name, "arguments": call.arguments.replayed(),
                }),
            });
            json!({
                "role": "assistant", "id": answer.id, "content": blocks.collect::<Value>(),
                "model": answer.origin.model, "stopReason": answer.stop, "usage": answer.usage,
            })
        }
        Message::ToolResult(result) => json!({
            "role": "toolResult", "id": result.id, "toolCallId": result.call, "toolName": result.tool,
            "content": told(&result.content), "isError": result.status == ResultStatus::Failed,
        }),
    }
}

/// Messages that a script gave back, made of those it was given: they may be left out and moved, the texts of users and
/// results changed, and messages of users added. Answers of the model stay what the model said.
pub(super) fn messages(given: &[Message], back: &[Value]) -> Result<Vec<Message>, String> {
    let known: HashMap<&str, &Message> =
        given.iter().map(|message| (message.id().as_str(), message)).collect();
    back.iter().map(|value| one(&known, value)).collect()
}

fn one(known: &HashMap<&str, &Message>, value: &Value) -> Result<Message, String> {
    let id = value.get("id").and_then(Value::as_str);
    let Some(original) = id.and_then(|id| known.get(id).copied()) else {
        return match value.get("role").and_then(Value::as_str) {
            Some("user") => {
                let content = content(value.get("content").cloned().unwrap_or_default())?;
                Ok(User { content, ..User::text("") }.into())
            }
            role => Err(format!("only messages of the user can be added, and one of {role:?} was")),
        };
    };
    let before = message(original);
    if before == *value {
        return Ok(original.clone());
    }
    let changed = value.get("content").cloned().unwrap_or_default();
    match original {
        Message::User(user) => Ok(User { id: user.id.clone(), content: content(changed)? }.into()),
        Message::ToolResult(result) => {
            let mut result = result.clone();
            result.content = content(changed)?;
            Ok(result.into())
        }
        Message::Assistant(_) => {
            Err("an answer of the model was changed: leave it out or leave it".to_owned())
        }
    }
}

/// A moment, as scripts read it.
pub(super) fn moment(moment: &Moment) -> Value {
    let mut event = match moment {
        Moment::SessionStart { reason } | Moment::SessionShutdown { reason } => json!({ "reason": reason }),
        Moment::SessionFork { session } => json!({ "sessionId": session }),
        Moment::AgentEnd { outcome, answer } => json!({ "outcome": ended(outcome), "answer": answer }),
        Moment::TurnStart { turn } | Moment::TurnEnd { turn } => json!({ "turnIndex": turn }),
        Moment::ToolStart { call, tool, args } => {
            json!({ "toolCallId": call, "toolName": tool, "args": args })
        }
        Moment::ToolUpdate { call, news } => json!({ "toolCallId": call, "news": news }),
        Moment::ToolEnd { call, failed } => json!({ "toolCallId": call, "isError": failed }),
        Moment::UserShell { command } => json!({ "command": command }),
        Moment::MessageStart { message } => json!({ "messageId": message }),
        Moment::MessageUpdate { message, delta } => json!({ "messageId": message, "delta": delta }),
        Moment::MessageEnd { message: whole } => {
            json!({ "messageId": whole.id(), "message": message(whole) })
        }
        Moment::BeforeCompact { reason, .. } => json!({ "reason": reason }),
        Moment::Compacted { reason, before, after } => {
            json!({ "reason": reason, "tokensBefore": before, "tokensAfter": after })
        }
        Moment::ModelChange { model } => json!({ "model": model }),
        Moment::SubagentStart { agent } => json!({ "agentId": agent }),
        Moment::SubagentEnd { agent, outcome } => json!({ "agentId": agent, "outcome": ended(outcome) }),
        Moment::Notice { text } => json!({ "text": text }),
        Moment::AgentStart => json!({}),
    };
    if let Some(event) = event.as_object_mut() {
        event.insert("type".to_owned(), moment.kind().into());
    }
    event
}

/// How a run ended, in a word.
fn ended(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Exhausted { .. } => "exhausted",
        Outcome::Suspended { .. } => "suspended",
        Outcome::Aborted => "aborted",
        Outcome::Failed { .. } => "failed",
    }
}

/// A call, as scripts read it. Written straight to text: this is on the path of every tool.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CallTold<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) tool_name: &'a str,
    pub(super) tool_call_id: &'a str,
    pub(super) input: &'a mica_agent::Args,
    #[serde(flatten)]
    pub(super) result: Option<ResultTold<'a>>,
}

/// What a call came to, as scripts read it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResultTold<'a> {
    pub(super) content: Value,
    pub(super) details: Option<&'a Value>,
    pub(super) is_error: bool,
}
