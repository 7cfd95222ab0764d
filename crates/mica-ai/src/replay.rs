//! Makes a conversation fit to be sent to a model: what another model said, what was never finished, what the target
//! cannot take.
//!
//! Invariant of the result: each tool call is answered exactly once, in call order, directly after the message that
//! made it; no result stands without its call; no failed or cancelled answer is in it; seals are there only for the
//! model and endpoint that made them; ids fit the target's wire. The same input gives the same output, and appending
//! messages only appends to it, so a normalised prefix stays a cached prefix.
//!
//! Nearly every message of a conversation fits as it is. Those are lent, not copied: a long conversation is sent once
//! for each turn, and copying it would be most of the work.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::id::{CallId, MessageId};
use crate::message::{
    Assistant, Block, Content, Dialect, Message, Origin, ResultStatus, StopReason, Text, ToolCall,
    ToolResult, User,
};
use crate::model::Model;

mod ids;
mod text;

pub use text::clean;

/// What a call that has no result is answered with.
pub const UNANSWERED: &str = "No result: the call was interrupted before it finished. Its effect is unknown.";

/// What stands in for an image the target cannot read.
pub const IMAGE_LEFT_OUT: &str = "[An image is left out here: this model cannot read images.]";

/// The conversation as `target` can take it. What fits as it is, is borrowed.
pub fn normalise<'a>(messages: &'a [Message], target: &Origin, model: &Model) -> Vec<Cow<'a, Message>> {
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
            Message::User(user) => replay.user(message, user),
            Message::Assistant(assistant) => replay.assistant(message, assistant),
            Message::ToolResult(result) => replay.result(message, result),
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

struct Replay<'a, 't> {
    target: &'t Origin,
    images: bool,
    out: Vec<Cow<'a, Message>>,
    /// Calls of the newest assistant message, and their results as far as they have come.
    open: Vec<Open<'a>>,
    /// User messages that came before the results of the open calls. They are sent after them.
    waiting: Vec<Cow<'a, Message>>,
    /// What the calls of the newest assistant message were called before.
    ids: HashMap<&'a CallId, Cow<'a, CallId>>,
    /// Call ids in use, to keep them apart.
    used: HashSet<Cow<'a, CallId>>,
}

struct Open<'a> {
    call: Cow<'a, CallId>,
    tool: &'a str,
    by: &'a MessageId,
    result: Option<Cow<'a, Message>>,
}

impl<'a> Replay<'a, '_> {
    fn user(&mut self, message: &'a Message, user: &'a User) {
        let message = match self.content(&user.content) {
            None => Cow::Borrowed(message),
            Some(content) => Cow::Owned(Message::User(User { id: user.id.clone(), content })),
        };
        if matches!(&*message, Message::User(user) if user.content.is_empty()) {
            return;
        }
        if self.open.is_empty() {
            self.out.push(message);
        } else {
            self.waiting.push(message);
        }
    }

    fn assistant(&mut self, message: &'a Message, assistant: &'a Assistant) {
        self.settle();
        if matches!(assistant.stop, StopReason::Error | StopReason::Aborted) {
            // What was said until then may be cut anywhere; providers refuse it or go on from the cut.
            return;
        }
        let same = assistant.origin == *self.target;
        let mut blocks = Vec::with_capacity(assistant.blocks.len());
        for block in &assistant.blocks {
            match block {
                Block::Text(text) => blocks.extend(said(block, text, same)),
                Block::Thinking(thinking) if same && thinking.seal.is_some() => {
                    blocks.push(Cow::Borrowed(block));
                }
                // Without tags: a model that sees tags around thoughts begins to write them itself.
                Block::Thinking(thinking) => blocks.extend(paragraph(&thinking.text).map(Cow::Owned)),
                // No wire takes a model's own picture back; that there was one can be said.
                Block::Image(image) => {
                    let words = format!("[Made an image ({}).]", image.media_type);
                    blocks.extend(paragraph(&words).map(Cow::Owned));
                }
                Block::ToolCall(call) => {
                    let id = ids::fit(&call.id, self.target.dialect, &self.used);
                    self.used.insert(id.clone());
                    self.ids.insert(&call.id, id.clone());
                    blocks.push(match &id {
                        Cow::Borrowed(_) => Cow::Borrowed(block),
                        Cow::Owned(id) => {
                            Cow::Owned(Block::ToolCall(ToolCall { id: id.clone(), ..call.clone() }))
                        }
                    });
                    self.open.push(Open { call: id, tool: &call.name, by: &assistant.id, result: None });
                }
            }
        }
        let only_thoughts = blocks.iter().all(|block| matches!(**block, Block::Thinking(_)));
        if blocks.is_empty() || (only_thoughts && self.target.dialect != Dialect::Responses) {
            // Reasoning that led to nothing is refused where it must be followed by what it led to.
            return;
        }
        let as_it_is = blocks.len() == assistant.blocks.len()
            && blocks.iter().all(|block| matches!(block, Cow::Borrowed(_)));
        self.out.push(if as_it_is {
            Cow::Borrowed(message)
        } else {
            let blocks = blocks.into_iter().map(Cow::into_owned).collect();
            Cow::Owned(Message::Assistant(Assistant {
                id: assistant.id.clone(),
                blocks,
                origin: assistant.origin.clone(),
                usage: assistant.usage,
                stop: assistant.stop,
                stop_detail: assistant.stop_detail.clone(),
                response_id: assistant.response_id.clone(),
            }))
        });
    }

    fn result(&mut self, message: &'a Message, result: &'a ToolResult) {
        let Some(id) = self.ids.get(&result.call) else {
            // Its call is gone (an answer that failed, or a compacted one): the result alone is refused everywhere.
            return;
        };
        let content = self.content(&result.content);
        if let Some(open) = self.open.iter_mut().find(|open| open.call == *id)
            && open.result.is_none()
        {
            open.result = Some(match (id, content) {
                (Cow::Borrowed(_), None) => Cow::Borrowed(message),
                (id, content) => Cow::Owned(Message::ToolResult(ToolResult {
                    id: result.id.clone(),
                    call: CallId::clone(id),
                    tool: result.tool.clone(),
                    content: content.unwrap_or_else(|| result.content.clone()),
                    status: result.status,
                })),
            });
        }
    }

    /// Answers the open calls, in the order they were made; those without a result with a note.
    fn settle(&mut self) {
        self.ids.clear();
        for open in self.open.drain(..) {
            self.out.push(open.result.unwrap_or_else(|| {
                Cow::Owned(Message::ToolResult(ToolResult {
                    id: MessageId::from(format!("{}/{}", open.by, open.call)),
                    call: open.call.into_owned(),
                    tool: open.tool.to_owned(),
                    content: vec![Content::text(UNANSWERED)],
                    status: ResultStatus::Failed,
                }))
            }));
        }
        self.out.append(&mut self.waiting);
    }

    /// The content as the target can take it; `None` when it can take it as it is.
    fn content(&self, content: &[Content]) -> Option<Vec<Content>> {
        let fits = |part: &Content| match part {
            Content::Text { text } => !text.is_empty() && matches!(clean(text), Cow::Borrowed(_)),
            Content::Image(_) => self.images,
        };
        if content.iter().all(fits) {
            return None;
        }
        let fitted = content.iter().filter_map(|part| match part {
            Content::Text { text } => {
                let text = clean(text);
                (!text.is_empty()).then(|| Content::Text { text: text.into_owned() })
            }
            Content::Image(image) if self.images => Some(Content::Image(image.clone())),
            Content::Image(_) => Some(Content::text(IMAGE_LEFT_OUT)),
        });
        Some(fitted.collect())
    }
}

/// Words that were not said as such. They end in a blank line, since wires that know no blocks run them together.
fn paragraph(words: &str) -> Option<Block> {
    let words = words.trim();
    let words = clean(words);
    (!words.trim().is_empty()).then(|| Block::Text(Text { text: format!("{words}\n\n"), ..Text::default() }))
}

fn said<'a>(block: &'a Block, text: &'a Text, same: bool) -> Option<Cow<'a, Block>> {
    let words = clean(&text.text);
    if words.trim().is_empty() {
        return None;
    }
    let phase = text.phase.filter(|_| same);
    Some(match words {
        Cow::Borrowed(_) if phase == text.phase => Cow::Borrowed(block),
        words => Cow::Owned(Block::Text(Text { text: words.into_owned(), kind: text.kind, phase })),
    })
}

#[cfg(test)]
pub(crate) mod tests;
