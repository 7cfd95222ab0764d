//! Builds a message out of what a dialect's mapper understood, and tells about it as it goes.
//!
//! Mappers speak in blocks: open, feed, close. The assembler keeps the rules that hold on every wire: block
//! indices only grow, nothing is told about a closed block, call ids are unique, an answer with tool calls stopped
//! for them.

use std::sync::Arc;

use crate::arguments::Arguments;
use crate::event::StreamEvent;
use crate::id::CallId;
use crate::message::{Assistant, Block, Image, Phase, Seal, StopReason, Text, TextKind, Thinking, ToolCall};
use crate::model::Model;
use crate::usage::Usage;

/// Names a block of the message being built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockIndex(usize);

/// A message in the making.
#[derive(Debug)]
pub struct Assembler {
    message: Assistant,
    model: Arc<Model>,
    building: Vec<Building>,
    events: Vec<StreamEvent>,
    started: bool,
}

/// A block in the making. Text is kept here and moved into the message at the end, so that nothing is copied.
#[derive(Debug)]
struct Building {
    block: Block,
    arguments: String,
    closed: bool,
}

impl Assembler {
    /// Begins with an empty message.
    pub fn new(message: Assistant, model: Arc<Model>) -> Self {
        Self { message, model, building: Vec::new(), events: Vec::new(), started: false }
    }

    /// What happened since the last time this was asked.
    pub fn events(&mut self) -> &mut Vec<StreamEvent> {
        &mut self.events
    }

    /// The model has begun to answer. Told once.
    pub fn start(&mut self) {
        if !self.started {
            self.started = true;
            self.events.push(StreamEvent::Start { message: self.message.id.clone() });
        }
    }

    /// Whether the model has said anything.
    pub fn has_output(&self) -> bool {
        !self.building.is_empty()
    }

    /// Keeps the provider's id of the answer.
    pub fn response_id(&mut self, id: &str) {
        if self.message.response_id.is_none() && !id.is_empty() {
            self.message.response_id = Some(id.to_owned());
        }
    }

    /// Opens a text block.
    pub fn open_text(&mut self, kind: TextKind) -> BlockIndex {
        let block = self.open(Block::Text(Text { kind, ..Text::default() }));
        self.events.push(StreamEvent::TextStart { block: block.0, kind });
        block
    }

    /// Opens a thinking block.
    pub fn open_thinking(&mut self) -> BlockIndex {
        let block = self.open(Block::Thinking(Thinking::default()));
        self.events.push(StreamEvent::ThinkingStart { block: block.0 });
        block
    }

    /// Opens a tool call. A missing or repeated id is replaced by one that is unique in the message.
    pub fn open_call(&mut self, id: &str, tool: &str) -> BlockIndex {
        let call = self.unique_call_id(id);
        let block = self.open(Block::ToolCall(ToolCall {
            id: call.clone(),
            name: tool.to_owned(),
            arguments: Arguments::from_text(""),
        }));
        self.events.push(StreamEvent::CallStart { block: block.0, call, tool: tool.to_owned() });
        block
    }

    /// Adds a picture, whole.
    pub fn image(&mut self, image: Image) {
        let block = self.open(Block::Image(image.clone()));
        self.building[block.0].closed = true;
        self.events.push(StreamEvent::Image { block: block.0, image });
    }

    /// Feeds a block: words, thoughts or argument text, by what the block is. A closed block takes nothing.
    pub fn feed(&mut self, block: BlockIndex, delta: &str) {
        let Some(building) = self.building.get_mut(block.0).filter(|building| !building.closed) else {
            return;
        };
        if delta.is_empty() {
            return;
        }
        let (block, text) = (block.0, delta.to_owned());
        match &mut building.block {
            Block::Text(inner) => {
                inner.text.push_str(delta);
                self.events.push(StreamEvent::TextDelta { block, text });
            }
            Block::Thinking(inner) => {
                inner.text.push_str(delta);
                self.events.push(StreamEvent::ThinkingDelta { block, text });
            }
            Block::ToolCall(_) => {
                building.arguments.push_str(delta);
                self.events.push(StreamEvent::CallDelta { block, json: text });
            }
            Block::Image(_) => {}
        }
    }

    /// Makes a block hold exactly `whole`: feeds what is missing when the deltas so far are a beginning of it,
    /// replaces them when they are not. Providers repeat the whole text at the end of an item, and some send
    /// nothing before that. An empty whole says nothing and changes nothing.
    pub fn settle(&mut self, block: BlockIndex, whole: &str) {
        if whole.is_empty() {
            return;
        }
        let Some(building) = self.building.get_mut(block.0).filter(|building| !building.closed) else {
            return;
        };
        let held = match &mut building.block {
            Block::Text(inner) => &mut inner.text,
            Block::Thinking(inner) => &mut inner.text,
            Block::ToolCall(_) => &mut building.arguments,
            Block::Image(_) => return,
        };
        match whole.strip_prefix(held.as_str()) {
            Some("") => {}
            Some(rest) => {
                let rest = rest.to_owned();
                self.feed(block, &rest);
            }
            // The whole is the truth. The deltas told otherwise, and cannot be taken back; `Done` has it right.
            None => whole.clone_into(held),
        }
    }

    /// How much a block holds so far, in bytes.
    pub fn len(&self, block: BlockIndex) -> usize {
        self.building.get(block.0).map_or(0, |building| match &building.block {
            Block::Text(inner) => inner.text.len(),
            Block::Thinking(inner) => inner.text.len(),
            Block::ToolCall(_) => building.arguments.len(),
            Block::Image(_) => 0,
        })
    }

    /// The arguments a tool call holds so far; empty for any other block.
    pub fn arguments(&self, block: BlockIndex) -> &str {
        self.building.get(block.0).map_or("", |building| &building.arguments)
    }

    /// Puts a seal on a thinking block, closed or not: some arrive late.
    pub fn seal(&mut self, block: BlockIndex, seal: Seal) {
        if let Some(Block::Thinking(thinking)) = self.building.get_mut(block.0).map(|b| &mut b.block) {
            thinking.seal = Some(seal);
        }
    }

    /// Adds to a signature that arrives in pieces.
    pub fn sign(&mut self, block: BlockIndex, piece: &str) {
        if let Some(Block::Thinking(thinking)) = self.building.get_mut(block.0).map(|b| &mut b.block) {
            match &mut thinking.seal {
                Some(Seal::Signature(signature)) => signature.push_str(piece),
                other => *other = Some(Seal::Signature(piece.to_owned())),
            }
        }
    }

    /// Marks which part of the answer a text is.
    pub fn phase(&mut self, block: BlockIndex, phase: Phase) {
        if let Some(Block::Text(text)) = self.building.get_mut(block.0).map(|b| &mut b.block) {
            text.phase = Some(phase);
        }
    }

    /// Closes a block. Told once.
    pub fn close(&mut self, block: BlockIndex) {
        let Some(building) = self.building.get_mut(block.0).filter(|building| !building.closed) else {
            return;
        };
        building.closed = true;
        let block = block.0;
        self.events.push(match building.block {
            Block::Text(_) => StreamEvent::TextEnd { block },
            Block::Thinking(_) => StreamEvent::ThinkingEnd { block },
            Block::ToolCall(_) => StreamEvent::CallEnd { block },
            Block::Image(_) => return,
        });
    }

    /// Sets what is known of the usage. Cumulative; told when it changed.
    pub fn usage(&mut self, mut usage: Usage) {
        self.model.price(&mut usage);
        if usage != self.message.usage {
            self.start();
            self.message.usage = usage;
            self.events.push(StreamEvent::Usage(usage));
        }
    }

    /// What is known of the usage so far.
    pub fn usage_so_far(&self) -> Usage {
        self.message.usage
    }

    /// Notes why the answer ended.
    pub fn stop(&mut self, reason: StopReason, detail: Option<&str>) {
        self.message.stop = reason;
        if let Some(detail) = detail {
            self.message.stop_detail = Some(detail.to_owned());
        }
    }

    /// Closes what is open, in order. For wires that do not say when a block ends.
    pub fn close_all(&mut self) {
        for index in 0..self.building.len() {
            self.close(BlockIndex(index));
        }
    }

    /// The message as it stands. After this the assembler is empty.
    pub fn finish(&mut self) -> Assistant {
        let mut message = self.message.clone();
        message.blocks = self
            .building
            .drain(..)
            .map(|building| match building.block {
                Block::ToolCall(mut call) => {
                    call.arguments = Arguments::from_text(building.arguments);
                    Block::ToolCall(call)
                }
                other => other,
            })
            .collect();
        // Servers disagree on whether an answer with calls "stopped" or "called". What counts is what it holds.
        let has_calls = message.calls().next().is_some();
        message.stop = match message.stop {
            StopReason::Stop if has_calls => StopReason::ToolUse,
            StopReason::ToolUse if !has_calls => StopReason::Stop,
            other => other,
        };
        message
    }

    fn open(&mut self, block: Block) -> BlockIndex {
        self.start();
        self.building.push(Building { block, arguments: String::new(), closed: false });
        BlockIndex(self.building.len() - 1)
    }

    fn unique_call_id(&self, given: &str) -> CallId {
        let taken = |id: &str| {
            self.building
                .iter()
                .any(|building| matches!(&building.block, Block::ToolCall(call) if call.id.as_str() == id))
        };
        if !given.is_empty() && !taken(given) {
            return CallId::from(given);
        }
        let base = if given.is_empty() { "call" } else { given };
        let mut number = self.building.len();
        loop {
            // Made from the answer's id, so that it is unique in the session and the same when replayed.
            let answer: String =
                self.message.id.as_str().chars().filter(char::is_ascii_alphanumeric).collect();
            let tail = &answer[answer.len().saturating_sub(12)..];
            let id = format!("{base}_{tail}_{number}");
            if !taken(&id) {
                return CallId::from(id);
            }
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests;
