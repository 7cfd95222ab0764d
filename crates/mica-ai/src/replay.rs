//! Makes a conversation fit to be sent to a model: what another model said, what was never finished, what the target
//! cannot take.
//!
//! Invariant of the result: each tool call is answered exactly once, in call order, directly after the message that
//! made it; no result stands without its call; no failed or cancelled answer is in it; seals are there only for the
//! model and endpoint that made them; ids fit the target's wire. The same input gives the same output, and appending
//! messages only appends to it, so a normalised prefix stays a cached prefix.

use std::collections::{HashMap, HashSet};

use crate::id::{CallId, MessageId};
use crate::message::{
    Assistant, Block, Content, Dialect, Message, Origin, ResultStatus, StopReason, Text, ToolResult, User,
};
use crate::model::Model;

mod ids;
mod text;

pub use text::clean;

/// What a call that has no result is answered with.
pub const UNANSWERED: &str = "No result: the call was interrupted before it finished. Its effect is unknown.";

/// What stands in for an image the target cannot read.
pub const IMAGE_LEFT_OUT: &str = "[An image is left out here: this model cannot read images.]";

/// The conversation as `target` can take it.
pub fn normalise(messages: &[Message], target: &Origin, model: &Model) -> Vec<Message> {
    let mut replay = Replay {
        target,
        images: model.images,
        out: Vec::with_capacity(messages.len()),
        open: Vec::new(),
        waiting: Vec::new(),
        ids: HashMap::new(),
        used: HashSet::new(),
    };
    for message in messages {
        match message {
            Message::User(user) => replay.user(user),
            Message::Assistant(assistant) => replay.assistant(assistant),
            Message::ToolResult(result) => replay.result(result),
        }
    }
    replay.settle();
    replay.out
}

/// The conversation without any replayed reasoning, for a provider that did not accept it.
pub fn without_reasoning(messages: &[Message]) -> Vec<Message> {
    messages
        .iter()
        .map(|message| match message {
            Message::Assistant(assistant) => {
                let mut assistant = assistant.clone();
                assistant.blocks.retain(|block| !matches!(block, Block::Thinking(_)));
                Message::Assistant(assistant)
            }
            other => other.clone(),
        })
        .collect()
}

struct Replay<'a> {
    target: &'a Origin,
    images: bool,
    out: Vec<Message>,
    /// Calls of the newest assistant message, and their results as far as they have come.
    open: Vec<Open>,
    /// User messages that came before the results of the open calls. They are sent after them.
    waiting: Vec<Message>,
    /// What the calls of the newest assistant message were called before.
    ids: HashMap<CallId, CallId>,
    /// Call ids in use, to keep them apart.
    used: HashSet<CallId>,
}

struct Open {
    call: CallId,
    tool: String,
    by: MessageId,
    result: Option<ToolResult>,
}

impl Replay<'_> {
    fn user(&mut self, user: &User) {
        let content = self.content(&user.content);
        if content.is_empty() {
            return;
        }
        let message = Message::User(User { id: user.id.clone(), content });
        if self.open.is_empty() {
            self.out.push(message);
        } else {
            self.waiting.push(message);
        }
    }

    fn assistant(&mut self, assistant: &Assistant) {
        self.settle();
        if matches!(assistant.stop, StopReason::Error | StopReason::Aborted) {
            // What was said until then may be cut anywhere; providers refuse it or go on from the cut.
            return;
        }
        let same = assistant.origin == *self.target;
        let mut blocks = Vec::with_capacity(assistant.blocks.len());
        for block in &assistant.blocks {
            match block {
                Block::Text(text) => blocks.extend(said(text, same)),
                Block::Thinking(thinking) if same && thinking.seal.is_some() => {
                    blocks.push(Block::Thinking(thinking.clone()));
                }
                // Without tags: a model that sees tags around thoughts begins to write them itself.
                Block::Thinking(thinking) => blocks.extend(paragraph(&thinking.text)),
                // No wire takes a model's own picture back; that there was one can be said.
                Block::Image(image) => {
                    blocks.extend(paragraph(&format!("[Made an image ({}).]", image.media_type)));
                }
                Block::ToolCall(call) => {
                    let id = ids::fit(&call.id, self.target.dialect, &self.used);
                    self.used.insert(id.clone());
                    self.ids.insert(call.id.clone(), id.clone());
                    self.open.push(Open {
                        call: id.clone(),
                        tool: call.name.clone(),
                        by: assistant.id.clone(),
                        result: None,
                    });
                    let mut call = call.clone();
                    call.id = id;
                    blocks.push(Block::ToolCall(call));
                }
            }
        }
        let only_thoughts = blocks.iter().all(|block| matches!(block, Block::Thinking(_)));
        if blocks.is_empty() || (only_thoughts && self.target.dialect != Dialect::Responses) {
            // Reasoning that led to nothing is refused where it must be followed by what it led to.
            return;
        }
        let mut message = assistant.clone();
        message.blocks = blocks;
        self.out.push(Message::Assistant(message));
    }

    fn result(&mut self, result: &ToolResult) {
        let Some(id) = self.ids.get(&result.call) else {
            // Its call is gone (an answer that failed, or a compacted one): the result alone is refused everywhere.
            return;
        };
        let content = self.content(&result.content);
        if let Some(open) = self.open.iter_mut().find(|open| open.call == *id)
            && open.result.is_none()
        {
            open.result = Some(ToolResult { call: id.clone(), content, ..result.clone() });
        }
    }

    /// Answers the open calls, in the order they were made; those without a result with a note.
    fn settle(&mut self) {
        self.ids.clear();
        for open in self.open.drain(..) {
            self.out.push(Message::ToolResult(open.result.unwrap_or_else(|| ToolResult {
                id: MessageId::from(format!("{}/{}", open.by, open.call)),
                call: open.call,
                tool: open.tool,
                content: vec![Content::text(UNANSWERED)],
                status: ResultStatus::Failed,
            })));
        }
        self.out.append(&mut self.waiting);
    }

    fn content(&self, content: &[Content]) -> Vec<Content> {
        content
            .iter()
            .filter_map(|part| match part {
                Content::Text { text } => {
                    let text = clean(text);
                    (!text.is_empty()).then(|| Content::Text { text: text.into_owned() })
                }
                Content::Image(image) if self.images => Some(Content::Image(image.clone())),
                Content::Image(_) => Some(Content::text(IMAGE_LEFT_OUT)),
            })
            .collect()
    }
}

/// Words that were not said as such. They end in a blank line, since wires that know no blocks run them together.
fn paragraph(words: &str) -> Option<Block> {
    let words = words.trim();
    said(&Text { text: format!("{words}\n\n"), ..Text::default() }, false)
}

fn said(text: &Text, same: bool) -> Option<Block> {
    let words = clean(&text.text);
    if words.trim().is_empty() {
        return None;
    }
    Some(Block::Text(Text { text: words.into_owned(), kind: text.kind, phase: text.phase.filter(|_| same) }))
}

#[cfg(test)]
mod tests;
