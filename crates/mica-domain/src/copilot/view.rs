//! A conversation as a client has it, built from events: the same for everybody, wherever they began.

use std::collections::BTreeMap;

use mica_agent::{Ask, Event, EventKind};
use mica_ai::id::{CallId, MessageId};
use mica_ai::message::Block;
use mica_ai::{Content, Message, StreamEvent};
use serde::Serialize;

use super::feed::Anew;

/// A conversation as a client has it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct View {
    /// What was said, in order.
    pub lines: Vec<Line>,
    /// Calls that people are asked about.
    pub waiting: Vec<CallId>,
    /// Whether a run goes on.
    pub is_running: bool,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// Which.
    pub id: MessageId,
    /// Who says it.
    pub role: Role,
    /// Its pieces by their place.
    pub pieces: BTreeMap<usize, Piece>,
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Somebody.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Result,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Piece {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// Reasoning.
    Thinking {
        /// As far as it is shown.
        text: String,
    },
    /// A call.
    Call {
        /// Which.
        call: CallId,
        /// The tool.
        tool: String,
        /// The arguments, as they were written.
        arguments: String,
    },
    /// A picture.
    Picture,
}

impl View {
    /// What a client begins with.
    pub fn begin(anew: &Anew) -> Self {
        let mut view = Self::default();
        anew.messages.iter().for_each(|message| view.message(message));
        view.waiting = anew.waiting.iter().map(|ask| ask.call.id.clone()).collect();
        view
    }

    /// Takes an event. One whose messages are there already changes nothing.
    pub fn take(&mut self, event: &Event) {
        match &event.kind {
            EventKind::RunStart | EventKind::TurnStart { .. } => self.is_running = true,
            EventKind::RunEnd { .. } => self.is_running = false,
            EventKind::Message { message } => self.message(message),
            // Told from its beginning: what was known of it goes, and its place stays.
            EventKind::AnswerStart { message } => {
                if let Some(line) = self.lines.iter_mut().find(|line| line.id == *message) {
                    line.pieces.clear();
                }
            }
            EventKind::Answer { message, delta } => self.delta(message, delta),
            EventKind::ApprovalAsked { ask: Ask { call, .. } } if !self.waiting.contains(&call.id) => {
                self.waiting.push(call.id.clone());
            }
            EventKind::ApprovalGiven { call, .. } => self.waiting.retain(|waiting| waiting != call),
            _ => {}
        }
    }

    fn line(&mut self, id: &MessageId, role: Role) -> Option<&mut Line> {
        if !self.lines.iter().any(|line| line.id == *id) {
            self.lines.push(Line { id: id.clone(), role, pieces: BTreeMap::new() });
        }
        self.lines.iter_mut().find(|line| line.id == *id)
    }

    fn message(&mut self, message: &Message) {
        let (role, pieces): (Role, Vec<Piece>) = match message {
            Message::User(user) => (Role::User, user.content.iter().map(content).collect()),
            Message::ToolResult(result) => {
                self.waiting.retain(|waiting| *waiting != result.call);
                (Role::Result, result.content.iter().map(content).collect())
            }
            Message::Assistant(answer) => (Role::Assistant, answer.blocks.iter().map(block).collect()),
        };
        if let Some(line) = self.line(message.id(), role) {
            line.pieces = pieces.into_iter().enumerate().collect();
        }
    }

    fn delta(&mut self, id: &MessageId, delta: &StreamEvent) {
        if !delta.is_output() {
            return;
        }
        let Some(line) = self.line(id, Role::Assistant) else { return };
        let pieces = &mut line.pieces;
        match delta {
            StreamEvent::TextStart { block, .. } => {
                pieces.insert(*block, Piece::Text { text: String::new() });
            }
            StreamEvent::ThinkingStart { block } => {
                pieces.insert(*block, Piece::Thinking { text: String::new() });
            }
            StreamEvent::CallStart { block, call, tool } => {
                let (call, tool) = (call.clone(), tool.clone());
                pieces.insert(*block, Piece::Call { call, tool, arguments: String::new() });
            }
            StreamEvent::Image { block, .. } => {
                pieces.insert(*block, Piece::Picture);
            }
            StreamEvent::TextDelta { block, text: new }
            | StreamEvent::ThinkingDelta { block, text: new }
            | StreamEvent::CallDelta { block, json: new } => match pieces.get_mut(block) {
                Some(Piece::Text { text } | Piece::Thinking { text }) => text.push_str(new),
                Some(Piece::Call { arguments, .. }) => arguments.push_str(new),
                Some(Piece::Picture) | None => {}
            },
            _ => {}
        }
    }
}

fn content(content: &Content) -> Piece {
    match content {
        Content::Text { text } => Piece::Text { text: text.clone() },
        _ => Piece::Picture,
    }
}

fn block(block: &Block) -> Piece {
    match block {
        Block::Text(text) => Piece::Text { text: text.text.clone() },
        Block::Thinking(thinking) => Piece::Thinking { text: thinking.text.clone() },
        Block::Image(_) => Piece::Picture,
        Block::ToolCall(call) => Piece::Call {
            call: call.id.clone(),
            tool: call.name.clone(),
            arguments: call.arguments.text().to_owned(),
        },
    }
}
