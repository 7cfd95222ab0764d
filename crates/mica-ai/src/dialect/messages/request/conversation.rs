//! Puts a conversation into the form this wire takes: user and assistant in turns, beginning with the user.
//!
//! Neighbours of the same role become one message, tool results first and in the order of their calls, because the
//! provider wants results directly after the calls. What a message comes to does not depend on what follows it, so
//! that a conversation only grows at its end and stays cached. That is why trailing space is cut from every
//! assistant message and not only from the last one, where the provider refuses it.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use crate::dialect::json::{Json, object};
use crate::id::{CallId, MessageId};
use crate::message::{
    Assistant, Block, Content, Image, ImageSource, Message, ResultStatus, Seal, Thinking, ToolResult,
};

/// Stands in front of an assistant message that begins a conversation: the provider wants the user first.
const OPENING: &str = "(The assistant speaks first.)";
/// Stands for a tool result without content: the provider refuses empty text, and empty failures.
const NO_OUTPUT: &str = "(no output)";
/// Stands for a picture the model made: assistant messages cannot carry one.
const PICTURE: &str = "(a picture)";
/// A place in the conversation: which message on the wire, and which block of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    message: usize,
    block: usize,
}

/// A conversation as it goes on the wire.
#[derive(Debug, Default)]
pub(super) struct Conversation<'a> {
    turns: Vec<Turn<'a>>,
    /// The last block of each message that can carry a cache mark.
    ends: HashMap<&'a MessageId, Place>,
}

#[derive(Debug)]
struct Turn<'a> {
    role: Role,
    blocks: Vec<Json<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
}

impl<'a> Conversation<'a> {
    /// The conversation of these messages, which are paired and fit for the model already.
    pub(super) fn new(messages: &'a [Cow<'_, Message>]) -> Self {
        let mut all = Self::default();
        let mut calls: Vec<&CallId> = Vec::new();
        let said_by_user = |message: &Cow<'_, Message>| !matches!(**message, Message::Assistant(_));
        for group in messages.chunk_by(|one, next| said_by_user(one) && said_by_user(next)) {
            if let [one] = group
                && let Message::Assistant(answer) = &**one
            {
                all.add(Role::Assistant, answer_blocks(answer));
                calls = answer.calls().map(|call| &call.id).collect();
            } else {
                all.add(Role::User, user_blocks(group, &calls));
            }
        }
        all
    }

    /// Whether nothing is left to send.
    pub(super) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Where a message ends, when it is there and has a block that can carry a mark.
    pub(super) fn end_of(&self, message: &MessageId) -> Option<Place> {
        self.ends.get(message).copied()
    }

    /// The block at a place.
    pub(super) fn block_mut(&mut self, place: Place) -> Option<&mut Json<'a>> {
        self.turns.get_mut(place.message)?.blocks.get_mut(place.block)
    }

    /// Whether the conversation ends inside a tool loop whose first answer has no thinking block in front.
    pub(super) fn is_inside_thoughtless_turn(&self) -> bool {
        let is = |turn: &Turn<'_>, kinds: &[&str]| {
            turn.blocks.first().and_then(kind).is_some_and(|kind| kinds.contains(&kind))
        };
        let goes_on = |turn: &Turn<'_>| turn.role == Role::Assistant || is(turn, &["tool_result"]);
        if !self.turns.last().is_some_and(|turn| is(turn, &["tool_result"])) {
            return false;
        }
        let begin = self.turns.iter().rposition(|turn| !goes_on(turn)).map_or(0, |at| at + 1);
        self.turns.get(begin).is_some_and(|turn| !is(turn, &["thinking", "redacted_thinking"]))
    }

    /// The `messages` member.
    pub(super) fn into_json(self) -> Json<'a> {
        let turns = self.turns.into_iter().map(|turn| {
            let role = match turn.role {
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            object!({ "role": role, "content": turn.blocks })
        });
        turns.collect()
    }

    /// Adds blocks, each with the message it is of, to the last turn or to a new one.
    fn add(&mut self, role: Role, blocks: Vec<(&'a MessageId, Json<'a>)>) {
        if blocks.is_empty() {
            return;
        }
        if self.turns.is_empty() && role == Role::Assistant {
            self.turns
                .push(Turn { role: Role::User, blocks: vec![object!({ "type": "text", "text": OPENING })] });
        }
        if self.turns.last().is_none_or(|turn| turn.role != role) {
            self.turns.push(Turn { role, blocks: Vec::new() });
        }
        let message = self.turns.len() - 1;
        let Some(turn) = self.turns.last_mut() else { return };
        for (id, block) in blocks {
            if is_markable(&block) {
                self.ends.insert(id, Place { message, block: turn.blocks.len() });
            }
            turn.blocks.push(block);
        }
    }
}

/// Thinking blocks cannot carry a cache mark.
fn is_markable(block: &Json<'_>) -> bool {
    !matches!(kind(block), Some("thinking" | "redacted_thinking"))
}

/// What kind of block it is.
fn kind<'b>(block: &'b Json<'_>) -> Option<&'b str> {
    block.get("type").and_then(Json::text)
}

fn answer_blocks(answer: &Assistant) -> Vec<(&MessageId, Json<'_>)> {
    let mut blocks: Vec<Json<'_>> = answer.blocks.iter().filter_map(answer_block).collect();
    // Whitespace-only texts are gone already, so cutting cannot leave an empty one.
    if let Some(Json::Text(text)) = blocks.last_mut().and_then(|block| block.get_mut("text")) {
        match text {
            Cow::Borrowed(text) => *text = text.trim_end(),
            Cow::Owned(text) => text.truncate(text.trim_end().len()),
        }
    }
    blocks.into_iter().map(|block| (&answer.id, block)).collect()
}

fn answer_block(block: &Block) -> Option<Json<'_>> {
    match block {
        Block::Text(inner) => text(&inner.text),
        Block::Thinking(inner) => thinking(inner),
        Block::Image(_) => text(PICTURE),
        Block::ToolCall(call) => Some(object!({
            "type": "tool_use",
            "id": call.id.as_str(),
            "name": &call.name,
            "input": Value::Object(call.arguments.replayed()),
        })),
    }
}

/// Sealed thinking goes back exactly as it came, even when its text is hidden. Without a seal of this wire it is
/// only words: normalisation turns it into text, and so does this, should any be left.
fn thinking(thinking: &Thinking) -> Option<Json<'_>> {
    match &thinking.seal {
        Some(Seal::Signature(signature)) if !signature.is_empty() => {
            Some(object!({ "type": "thinking", "thinking": &thinking.text, "signature": signature }))
        }
        Some(Seal::Redacted(data)) if !data.is_empty() => {
            Some(object!({ "type": "redacted_thinking", "data": data }))
        }
        _ => text(&thinking.text),
    }
}

/// The blocks of neighbouring user messages and tool results: results first, in the order of the calls; then the
/// rest as it was said.
fn user_blocks<'m>(group: &'m [Cow<'_, Message>], calls: &[&CallId]) -> Vec<(&'m MessageId, Json<'m>)> {
    let mut results: Vec<&ToolResult> = Vec::new();
    let mut rest = Vec::new();
    for message in group {
        match &**message {
            Message::ToolResult(result) => {
                results.push(result);
                rest.extend(beside(result).into_iter().map(|block| (&result.id, block)));
            }
            Message::User(user) => {
                rest.extend(user.content.iter().filter_map(content).map(|block| (&user.id, block)));
            }
            Message::Assistant(_) => {}
        }
    }
    results.sort_by_key(|result| calls.iter().position(|call| **call == result.call).unwrap_or(calls.len()));
    let mut blocks: Vec<_> = results.into_iter().map(|result| (&result.id, tool_result(result))).collect();
    blocks.append(&mut rest);
    blocks
}

fn tool_result(result: &ToolResult) -> Json<'_> {
    let failed = result.status == ResultStatus::Failed;
    let mut blocks: Vec<Json<'_>> = result
        .content
        .iter()
        .filter(|item| !(failed && matches!(item, Content::Image(_))))
        .filter_map(content)
        .collect();
    if blocks.is_empty() {
        blocks.extend(text(NO_OUTPUT));
    }
    let mut wire = object!({ "type": "tool_result", "tool_use_id": result.call.as_str(), "content": blocks });
    if failed {
        wire.put("is_error", true);
    }
    wire
}

/// What of a result has to stand beside it: the provider takes nothing but text in a failed one, so its pictures
/// follow the results.
fn beside(result: &ToolResult) -> Vec<Json<'_>> {
    if result.status == ResultStatus::Ok {
        return Vec::new();
    }
    result.content.iter().filter(|item| matches!(item, Content::Image(_))).filter_map(content).collect()
}

fn content(content: &Content) -> Option<Json<'_>> {
    match content {
        Content::Text { text: inner } => text(inner),
        Content::Image(inner) => Some(image(inner)),
    }
}

/// A text block; none for text that says nothing, which the provider refuses.
fn text(text: &str) -> Option<Json<'_>> {
    (!text.trim().is_empty()).then(|| object!({ "type": "text", "text": text }))
}

fn image(image: &Image) -> Json<'_> {
    let source = match &image.source {
        ImageSource::Base64(data) => {
            object!({ "type": "base64", "media_type": &image.media_type, "data": &**data })
        }
        ImageSource::Url(url) => object!({ "type": "url", "url": url }),
    };
    object!({ "type": "image", "source": source })
}
