//! Maps the chunks of a Chat stream to blocks.
//!
//! The wire has no block ends and no item ids, only deltas, so this file decides: words and thoughts go on in the
//! open block until the other kind or a tool call begins; tool calls stay open to the end, because their deltas
//! may interleave. An answer is finished when a `finish_reason` was given and the stream then ended, with `[DONE]`
//! or without: the usage comes after the reason. `[DONE]` alone finishes nothing, since proxies write it behind
//! answers that broke off.
//!
//! `<think>` tags are words. Which of them are thoughts cannot be told from a model that writes about them;
//! servers have a setting that separates them.

use serde_json::Value;

use crate::assemble::{Assembler, BlockIndex};
use crate::dialect::{Mapper, Progress};
use crate::error::{AiError, CutPoint, Reply, classify};
use crate::message::{ReasoningField, Seal, StopReason, TextKind};
use crate::sse::SseEvent;
use crate::usage::Usage;

use super::wire::{CallDelta, Chunk, Delta, WireUsage, Words};
use calls::Calls;
use ending::Ending;

mod calls;
mod ending;

/// Understands the events of one answer.
#[derive(Debug, Default)]
pub struct ChatMapper {
    open: Option<(Kind, BlockIndex)>,
    calls: Calls,
    reasoning: Option<ReasoningField>,
    refused: bool,
    ending: Option<Ending>,
}

/// What the open block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Words(TextKind),
    Thoughts,
}

impl Mapper for ChatMapper {
    fn event(&mut self, event: &SseEvent, out: &mut Assembler) -> Result<Progress, AiError> {
        let data = event.data.trim();
        if data.is_empty() {
            return Ok(Progress::More);
        }
        if data == "[DONE]" {
            return self.ended(out);
        }
        let chunk: Chunk<'_> = serde_json::from_str(data)
            .map_err(|error| AiError::Protocol { detail: format!("an event of the stream: {error}") })?;
        if let Some(error) = reported(&chunk, event) {
            return Err(error);
        }
        out.response_id(&chunk.id);
        if chunk.choices.0.is_some() {
            out.start();
        }
        if let Some(usage) = &chunk.usage {
            tell_usage(usage, out);
        }
        let Some(choice) = chunk.choices.0 else {
            return Ok(Progress::More);
        };
        if let Some(usage) = &choice.usage {
            tell_usage(usage, out);
        }
        match (choice.delta, choice.message) {
            (Some(delta), _) => self.delta(delta, out),
            (None, Some(whole)) if !out.has_output() => self.delta(whole, out),
            (None, _) => {}
        }
        if !choice.finish_reason.is_empty() {
            self.end(&choice.finish_reason, data, out)?;
        }
        Ok(Progress::More)
    }

    fn connection_ended(&mut self, out: &mut Assembler) -> Progress {
        self.ended(out).unwrap_or(Progress::More)
    }
}

impl ChatMapper {
    fn delta(&mut self, delta: Delta<'_>, out: &mut Assembler) {
        self.reasoning(&delta, out);
        match delta.content {
            Words::Text(text) => self.feed(Kind::Words(TextKind::Answer), &text, out),
            Words::Parts(parts) => {
                for part in parts {
                    if let Some(thoughts) = part.thinking {
                        self.thoughts(thoughts, out);
                    }
                    self.feed(Kind::Words(TextKind::Answer), &part.text, out);
                }
            }
        }
        if !delta.refusal.is_empty() {
            self.refused = true;
            self.feed(Kind::Words(TextKind::Refusal), &delta.refusal, out);
        }
        let calls = delta.tool_calls.unwrap_or_default();
        let had_calls = !calls.is_empty();
        for (position, call) in calls.into_iter().enumerate() {
            self.close_open(out);
            self.calls.take(position, call, out);
        }
        // Servers that send both forms mean one call. So the older one counts only where the newer never came.
        if let Some(function) = delta.function_call
            && !had_calls
            && !self.calls.has_modern()
            && !(function.name.is_empty() && function.arguments.0.is_empty())
        {
            self.close_open(out);
            self.calls.take_legacy(CallDelta { function: Some(function), ..CallDelta::default() }, out);
        }
    }

    /// Feeds reasoning. Some servers send it under both names at once, so only one name is read: the one that was
    /// there first.
    fn reasoning(&mut self, delta: &Delta<'_>, out: &mut Assembler) {
        let content = (ReasoningField::ReasoningContent, &*delta.reasoning_content);
        let plain = (ReasoningField::Reasoning, &*delta.reasoning);
        let order = if self.reasoning == Some(ReasoningField::Reasoning) {
            [plain, content]
        } else {
            [content, plain]
        };
        let Some((field, text)) = order.into_iter().find(|(_, text)| !text.is_empty()) else {
            return;
        };
        let field = *self.reasoning.get_or_insert(field);
        let before = self.open;
        self.feed(Kind::Thoughts, text, out);
        if self.open != before
            && let Some((_, block)) = self.open
        {
            out.seal(block, Seal::Field(field));
        }
    }

    fn thoughts(&mut self, thoughts: Words<'_>, out: &mut Assembler) {
        match thoughts {
            Words::Text(text) => self.feed(Kind::Thoughts, &text, out),
            Words::Parts(parts) => {
                for part in parts {
                    self.feed(Kind::Thoughts, &part.text, out);
                }
            }
        }
    }

    /// Feeds the open block, after opening one when another kind is open.
    fn feed(&mut self, kind: Kind, text: &str, out: &mut Assembler) {
        if text.is_empty() {
            return;
        }
        let block = match self.open {
            Some((open, block)) if open == kind => block,
            _ => {
                self.close_open(out);
                let block = match kind {
                    Kind::Words(kind) => out.open_text(kind),
                    Kind::Thoughts => out.open_thinking(),
                };
                self.open = Some((kind, block));
                block
            }
        };
        out.feed(block, text);
    }

    fn close_open(&mut self, out: &mut Assembler) {
        if let Some((_, block)) = self.open.take() {
            out.close(block);
        }
    }

    /// Notes a finish reason. A filter that strikes after the model was done comes as a second one.
    fn end(&mut self, reason: &str, data: &str, out: &mut Assembler) -> Result<(), AiError> {
        let ending = Ending::of(reason);
        if ending == Ending::Failed {
            let message = format!("the server ended the answer with {reason:?}");
            let reply = Reply { code: Some(reason.to_owned()), message, ..Reply::default() };
            return Err(AiError::Overloaded { after: None, reply: Box::new(reply) });
        }
        if self.ending == Some(Ending::Filtered) {
            return Ok(());
        }
        self.ending = Some(ending);
        self.calls.open_all(out);
        let (stop, detail) = match ending {
            Ending::Done { plain } => (StopReason::Stop, (!plain).then(|| reason.to_owned())),
            Ending::Calls => (StopReason::ToolUse, None),
            Ending::Limit { plain } => (StopReason::Length, (!plain).then(|| reason.to_owned())),
            Ending::Declined => (StopReason::Refusal, None),
            Ending::Filtered => (StopReason::ContentFilter, Some(ending::filter_detail(reason, data))),
            Ending::Failed => return Ok(()),
        };
        out.stop(stop, detail.as_deref());
        Ok(())
    }

    /// The stream is over: the answer is whole when the server said how it ended.
    fn ended(&mut self, out: &mut Assembler) -> Result<Progress, AiError> {
        let Some(ending) = self.ending else {
            return Err(AiError::StreamCut { when: CutPoint::BetweenEvents, source: None });
        };
        self.calls.finish(ending, out)?;
        if self.refused && matches!(ending, Ending::Done { .. }) {
            out.stop(StopReason::Refusal, None);
        }
        Ok(Progress::Finished)
    }
}

/// The error a chunk reports, in one of the places where servers put it.
fn reported(chunk: &Chunk<'_>, event: &SseEvent) -> Option<AiError> {
    let is_empty = |error: &Value| match error {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    if let Some(error) = chunk.error.as_ref().filter(|error| !is_empty(error)) {
        return Some(classify::in_stream(error));
    }
    if &*chunk.object == "error" || event.name == "error" {
        let whole: Value = serde_json::from_str(&event.data).unwrap_or_default();
        return Some(classify::in_stream(&whole));
    }
    None
}

fn tell_usage(wire: &WireUsage, out: &mut Assembler) {
    let prompt = wire.prompt_tokens_details.as_ref();
    let input = wire.prompt_tokens.or_zero();
    let completion = wire.completion_tokens.or_zero();
    let reasoning =
        wire.completion_tokens_details.as_ref().map_or(0, |details| details.reasoning_tokens.or_zero());
    // xAI counts reasoning beside the completion and not in it. The total tells.
    let beside = reasoning > 0
        && wire.total_tokens.0 == Some(input.saturating_add(completion).saturating_add(reasoning));
    let output = if beside { completion.saturating_add(reasoning) } else { completion };
    if input == 0 && output == 0 {
        return;
    }
    let cached = prompt
        .and_then(|details| details.cached_tokens.0)
        .or(wire.prompt_cache_hit_tokens.0)
        .or(wire.cached_tokens.0)
        .unwrap_or(0);
    out.usage(Usage {
        input,
        cache_read: cached.min(input),
        cache_write: prompt.map_or(0, |details| details.cache_write_tokens.or_zero()),
        output,
        reasoning,
        ..Usage::default()
    });
}

#[cfg(test)]
mod tests;
