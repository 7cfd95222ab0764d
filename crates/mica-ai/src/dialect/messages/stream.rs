//! Maps the events of a Messages stream to blocks.
//!
//! Blocks are told apart by the provider's `index` and may interleave. Kinds of events, blocks and deltas that are
//! not known are skipped whole. What must not happen is that something said is lost silently: a delta for a block
//! that is not open, or of a kind that does not fit its block, ends the stream as a protocol error.
//!
//! When is an answer complete? At `message_stop`, if a stop reason was given before it. A connection that ends in
//! good order after the stop reason and with every block closed is complete as well: `message_stop` carries nothing.
//! Anything else is cut off.

use serde::Deserialize;
use serde_json::Value;

use self::wire::{
    BlockBody, BlockDelta, BlockHead, BlockStart, BlockStop, Delta, DeltaHead, Ending, Head, MessageDelta,
    MessageStart, Str, Tokens,
};
use crate::assemble::{Assembler, BlockIndex};
use crate::dialect::{Mapper, Progress};
use crate::error::{AiError, CutPoint, Reply, classify};
use crate::message::{Seal, StopReason, TextKind};
use crate::sse::SseEvent;

mod wire;

#[cfg(test)]
mod tests;

/// Understands the events of one answer.
#[derive(Debug, Default)]
pub struct MessagesMapper {
    /// The open blocks. Rarely more than one, so a search from the end beats a map.
    open: Vec<Open>,
    tokens: Tokens,
    /// Whether the provider said why the answer ends.
    stopped: bool,
}

/// A block that has begun and not ended.
#[derive(Debug)]
struct Open {
    index: u64,
    holds: Holds,
}

#[derive(Debug)]
enum Holds {
    Text(BlockIndex),
    Thinking(BlockIndex),
    Call {
        block: BlockIndex,
        /// What the block opened with. It counts only when no argument text follows.
        input: Option<Value>,
    },
    /// A kind we do not read: server tools, compaction and whatever comes next.
    Skipped,
}

impl Mapper for MessagesMapper {
    fn event(&mut self, event: &SseEvent, out: &mut Assembler) -> Result<Progress, AiError> {
        let data = event.data.as_str();
        // Nearly every event is a delta: those are parsed once, straight into what is needed. Whatever does not
        // turn out to be one goes the careful way below.
        if looks_like_delta(event)
            && let Ok(delta) = serde_json::from_str::<BlockDelta>(data)
            && delta.kind.as_deref() == Some("content_block_delta")
        {
            return self.block_delta(&delta, out);
        }
        if event.name == "ping" || data.trim().is_empty() {
            return Ok(Progress::More);
        }
        let head: Head = read(data)?;
        match head.kind.as_deref().unwrap_or(&event.name) {
            "message_start" => self.message_start(read(data)?, out),
            "content_block_start" => return self.block_start(data, out),
            "content_block_delta" => return self.odd_delta(data, out),
            "content_block_stop" => self.block_stop(&read(data)?, out),
            "message_delta" => return self.message_delta(read(data)?, out),
            "message_stop" => return self.message_stop(),
            "error" => return Err(reported(read(data)?)),
            // Gateways report their own failures without a type.
            _ if head.kind.is_none() && head.error.is_some() => return Err(reported(read(data)?)),
            _ => {}
        }
        Ok(Progress::More)
    }

    fn connection_ended(&mut self, _out: &mut Assembler) -> Progress {
        if self.stopped && self.open.is_empty() { Progress::Finished } else { Progress::More }
    }
}

impl MessagesMapper {
    fn message_start(&mut self, event: MessageStart, out: &mut Assembler) {
        out.start();
        let Some(message) = event.message else { return };
        if let Some(id) = &message.id {
            out.response_id(id);
        }
        // Told at once: an answer that is cancelled halfway has been paid for all the same.
        self.count(message.usage, out);
    }

    fn block_start(&mut self, data: &str, out: &mut Assembler) -> Result<Progress, AiError> {
        let head: BlockHead = read(data)?;
        let index = index_of(head.index, data)?;
        // Some gateways number every block 0 and forget to close: a new block ends the one before it.
        self.close(index, out);
        let kind = head.content_block.as_ref().and_then(|block| block.kind.as_deref()).unwrap_or_default();
        let holds = match kind {
            "text" | "thinking" | "redacted_thinking" | "tool_use" => {
                let start: BlockStart = read(data)?;
                open(kind, start.content_block, out)
            }
            _ => Holds::Skipped,
        };
        self.open.push(Open { index, holds });
        Ok(Progress::More)
    }

    fn block_delta(&mut self, event: &BlockDelta, out: &mut Assembler) -> Result<Progress, AiError> {
        let Some(delta) = &event.delta else { return Ok(Progress::More) };
        let kind = delta.kind.as_deref().unwrap_or_default();
        let Some(text) = new_text(kind, delta) else { return Ok(Progress::More) };
        let index = event.index.ok_or_else(|| protocol(&format!("a {kind} names no block")))?;
        let Some(open) = self.open.iter().rev().find(|open| open.index == index) else {
            return Err(protocol(&format!("a {kind} is for block {index}, which is not open")));
        };
        match (&open.holds, kind) {
            (Holds::Text(block), "text_delta")
            | (Holds::Thinking(block), "thinking_delta")
            | (Holds::Call { block, .. }, "input_json_delta") => out.feed(*block, text),
            (Holds::Thinking(block), "signature_delta") => out.sign(*block, text),
            (Holds::Skipped, _) => {}
            _ => return Err(protocol(&format!("a {kind} is for block {index}, which is of another kind"))),
        }
        Ok(Progress::More)
    }

    /// A delta that the fast path could not read: of an unknown kind with members of another shape, unnamed by a
    /// gateway, or broken.
    fn odd_delta(&mut self, data: &str, out: &mut Assembler) -> Result<Progress, AiError> {
        match read::<BlockDelta>(data) {
            Ok(delta) => self.block_delta(&delta, out),
            Err(error) => {
                let head: DeltaHead = read(data)?;
                let kind = head.delta.and_then(|delta| delta.kind);
                if is_read(kind.as_deref().unwrap_or_default()) { Err(error) } else { Ok(Progress::More) }
            }
        }
    }

    fn block_stop(&mut self, event: &BlockStop, out: &mut Assembler) {
        let Some(index) = event.index else { return };
        if let Some(Open { holds: Holds::Call { block, input }, .. }) =
            self.open.iter().rev().find(|open| open.index == index)
            && out.len(*block) == 0
        {
            // Only a block that was closed properly gets here, so this is the wire's way to say "no arguments" and
            // not a call whose arguments were cut off.
            match input {
                Some(Value::Object(object)) if !object.is_empty() => {
                    out.feed(*block, &Value::Object(object.clone()).to_string());
                }
                _ => out.feed(*block, "{}"),
            }
        }
        self.close(index, out);
    }

    fn close(&mut self, index: u64, out: &mut Assembler) {
        let Some(at) = self.open.iter().rposition(|open| open.index == index) else { return };
        match self.open.remove(at).holds {
            Holds::Text(block) | Holds::Thinking(block) | Holds::Call { block, .. } => out.close(block),
            Holds::Skipped => {}
        }
    }

    fn message_delta(&mut self, event: MessageDelta, out: &mut Assembler) -> Result<Progress, AiError> {
        self.count(event.usage, out);
        let Some(ending) = event.delta else { return Ok(Progress::More) };
        let Some(reason) = ending.stop_reason.as_deref() else { return Ok(Progress::More) };
        if reason == "model_context_window_exceeded" {
            return Err(window_full(reason, out));
        }
        let (stop, detail) = ending_of(reason, &ending);
        out.stop(stop, detail.as_deref());
        self.stopped = true;
        Ok(Progress::More)
    }

    fn message_stop(&self) -> Result<Progress, AiError> {
        if self.stopped {
            Ok(Progress::Finished)
        } else {
            // The end of the message is missing, whatever the event says.
            Err(AiError::StreamCut { when: CutPoint::BetweenEvents, source: None })
        }
    }

    fn count(&mut self, newer: Option<Tokens>, out: &mut Assembler) {
        if let Some(newer) = newer {
            self.tokens.update(newer);
            out.usage(self.tokens.usage());
        }
    }
}

/// Opens a block of a kind that is read.
fn open(kind: &str, body: BlockBody, out: &mut Assembler) -> Holds {
    let text = |text: &Option<Str>| text.as_deref().unwrap_or_default().to_owned();
    match kind {
        "text" => {
            let block = out.open_text(TextKind::Answer);
            out.feed(block, &text(&body.text));
            Holds::Text(block)
        }
        "thinking" => {
            let block = out.open_thinking();
            out.feed(block, &text(&body.thinking));
            if let Some(signature) = body.signature.as_deref().filter(|signature| !signature.is_empty()) {
                out.sign(block, signature);
            }
            Holds::Thinking(block)
        }
        "redacted_thinking" => {
            let block = out.open_thinking();
            out.seal(block, Seal::Redacted(text(&body.data)));
            Holds::Thinking(block)
        }
        _ => {
            let block = out.open_call(&text(&body.id), &text(&body.name));
            Holds::Call { block, input: body.input }
        }
    }
}

/// Whether an event is worth trying as a delta first. Gateways that leave out names still write `type` first.
fn looks_like_delta(event: &SseEvent) -> bool {
    event.name == "content_block_delta"
        || (event.name.is_empty() && event.data.starts_with(r#"{"type":"content_block_delta""#))
}

/// Whether a kind of delta is read.
fn is_read(kind: &str) -> bool {
    matches!(kind, "text_delta" | "thinking_delta" | "input_json_delta" | "signature_delta")
}

/// What a delta adds. `None` for kinds that are not read, and for those that add nothing.
fn new_text<'d>(kind: &str, delta: &'d Delta) -> Option<&'d str> {
    match kind {
        "text_delta" => delta.text.as_deref(),
        "thinking_delta" => delta.thinking.as_deref(),
        "input_json_delta" => delta.partial_json.as_deref(),
        "signature_delta" => delta.signature.as_deref(),
        _ => None,
    }
}

fn ending_of(reason: &str, ending: &Ending) -> (StopReason, Option<String>) {
    match reason {
        "end_turn" => (StopReason::Stop, None),
        "stop_sequence" => (StopReason::Stop, ending.stop_sequence.as_deref().map(str::to_owned)),
        "max_tokens" => (StopReason::Length, None),
        "tool_use" => (StopReason::ToolUse, None),
        "pause_turn" => (StopReason::Pause, None),
        "refusal" => (StopReason::Refusal, ending.refusal()),
        // `compaction`, and what the provider may think of next. The answer did end, and its words say how.
        other => (StopReason::Stop, Some(other.to_owned())),
    }
}

/// The answer ran into the end of the window. Asking again would run into it again: the conversation has to be
/// shortened, which is what the error says and a stop reason would not.
fn window_full(reason: &str, out: &Assembler) -> AiError {
    let sent = out.usage_so_far().input;
    AiError::ContextOverflow {
        limit: None,
        sent: (sent > 0).then_some(sent),
        reply: Box::new(Reply {
            code: Some(reason.to_owned()),
            message: "the answer reached the end of the model's context window".to_owned(),
            ..Reply::default()
        }),
    }
}

/// The error an event reports. The request id stands beside the error object on this wire; it is moved inside, so
/// that it is not lost.
fn reported(event: Value) -> AiError {
    let Value::Object(mut event) = event else { return classify::in_stream(&event) };
    let request = event.remove("request_id");
    // The event's own type would be taken for the error's.
    event.remove("type");
    match event.remove("error") {
        Some(Value::Object(mut error)) => {
            if let Some(request) = request.filter(Value::is_string) {
                error.entry("request_id").or_insert(request);
            }
            classify::in_stream(&Value::Object(error))
        }
        Some(error) if !error.is_null() => classify::in_stream(&error),
        _ => classify::in_stream(&Value::Object(event)),
    }
}

fn read<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, AiError> {
    serde_json::from_str(data).map_err(|error| {
        protocol(&format!("an event cannot be read: {}: {}", excerpt(&error.to_string()), excerpt(data)))
    })
}

fn index_of(index: Option<u64>, data: &str) -> Result<u64, AiError> {
    index.ok_or_else(|| protocol(&format!("a block has no index: {}", excerpt(data))))
}

fn protocol(detail: &str) -> AiError {
    AiError::Protocol { detail: detail.to_owned() }
}

/// The beginning of a text, enough to recognise what it is.
fn excerpt(text: &str) -> String {
    const SHOWN: usize = 120;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
