//! Maps the events of a Responses stream to blocks.
//!
//! Items of one answer may arrive interleaved, so every event is routed by its `output_index` (or its item id, for
//! servers that leave the index out). What an item says at its end is the truth about it: servers may send nothing
//! before, and Azure sends encrypted reasoning only with `response.completed`.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::wire::{Delta, Head, Item, ItemEvent, Part, PartEvent, Place, Response, ResponseEvent, Whole};
use crate::assemble::{Assembler, BlockIndex};
use crate::dialect::{Mapper, Progress, excerpt};
use crate::error::{AiError, classify};
use crate::message::{Image, ImageSource, Phase, Seal, StopReason, TextKind};
use crate::sse::SseEvent;
use crate::usage::Usage;

/// Understands the events of one answer.
#[derive(Debug, Default)]
pub struct ResponsesMapper {
    items: Vec<Slot>,
    refused: bool,
}

/// An output item that was announced.
#[derive(Debug)]
struct Slot {
    output_index: Option<u64>,
    item_id: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// A message: one block for each part, by content index.
    Message { parts: Vec<(u64, BlockIndex)>, phase: Option<Phase> },
    /// Reasoning: one block for the whole item.
    Reasoning { block: BlockIndex, source: Option<Source>, part: u64, sealed: bool },
    /// A tool call.
    Call { block: BlockIndex },
    /// Server tools and whatever comes later; whether the picture one of them made was taken.
    Other { pictured: bool },
}

/// Which of the two texts of a reasoning item is shown. The first that speaks is; the other would repeat it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Summary,
    Raw,
}

impl Mapper for ResponsesMapper {
    fn event(&mut self, event: &SseEvent, out: &mut Assembler) -> Result<Progress, AiError> {
        let data = event.data.as_str();
        if data.is_empty() || data == "[DONE]" {
            return Ok(Progress::More);
        }
        let head: Head<'_> = parse(data)?;
        match &*head.kind {
            "response.output_text.delta" => self.text(data, TextKind::Answer, out)?,
            "response.refusal.delta" => self.text(data, TextKind::Refusal, out)?,
            "response.reasoning_summary_text.delta" => self.thought(data, Source::Summary, out)?,
            "response.reasoning_text.delta" => self.thought(data, Source::Raw, out)?,
            "response.function_call_arguments.delta" => self.arguments(data, out)?,
            "response.output_text.done" => self.text_done(data, TextKind::Answer, out)?,
            "response.refusal.done" => self.text_done(data, TextKind::Refusal, out)?,
            "response.function_call_arguments.done" => self.arguments_done(data, out)?,
            "response.output_item.added" => {
                let event: ItemEvent<'_> = parse(data)?;
                self.announce(event.output_index, event.item, out)?;
            }
            "response.content_part.added" => self.part_added(data, out)?,
            "response.output_item.done" => {
                let event: ItemEvent<'_> = parse(data)?;
                self.item_done(event.output_index, event.item, out)?;
            }
            "response.created" | "response.in_progress" | "response.queued" => {
                let event: ResponseEvent<'_> = parse(data)?;
                out.response_id(&event.response.id);
                out.start();
            }
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                let event: ResponseEvent<'_> = parse(data)?;
                return self.ended(&head.kind, event.response, out);
            }
            "error" => return Err(error_event(data)),
            // A gateway's error has no type of its own.
            "" => {
                let value: Value = parse(data)?;
                if value.get("error").is_some_and(|error| !error.is_null()) {
                    return Err(error_event(data));
                }
            }
            _ => {}
        }
        Ok(Progress::More)
    }
}

impl ResponsesMapper {
    fn text(&mut self, data: &str, kind: TextKind, out: &mut Assembler) -> Result<(), AiError> {
        let piece: Delta<'_> = parse(data)?;
        if let Some(block) = self.text_block(piece.at(), piece.content_index, kind, out) {
            out.feed(block, &piece.delta);
        }
        Ok(())
    }

    fn text_done(&mut self, data: &str, kind: TextKind, out: &mut Assembler) -> Result<(), AiError> {
        let whole: Whole<'_> = parse(data)?;
        if let Some(block) = self.text_block(whole.at(), whole.content_index, kind, out) {
            out.settle(block, if kind == TextKind::Refusal { &whole.refusal } else { &whole.text });
        }
        Ok(())
    }

    fn thought(&mut self, data: &str, from: Source, out: &mut Assembler) -> Result<(), AiError> {
        let piece: Delta<'_> = parse(data)?;
        let slot = self.slot_or_new(piece.at(), || Kind::reasoning(out));
        if let Kind::Reasoning { block, source, part, .. } = &mut slot.kind {
            if *source.get_or_insert(from) != from {
                return Ok(());
            }
            let index = piece.summary_index.or(piece.content_index).unwrap_or(*part);
            if index != *part {
                *part = index;
                // Parts are paragraphs: what follows must not run into what was said.
                if out.len(*block) > 0 {
                    out.feed(*block, PART_BREAK);
                }
            }
            out.feed(*block, &piece.delta);
        }
        Ok(())
    }

    fn arguments(&mut self, data: &str, out: &mut Assembler) -> Result<(), AiError> {
        let piece: Delta<'_> = parse(data)?;
        if let Some(Slot { kind: Kind::Call { block }, .. }) = self.slot(piece.at()) {
            out.feed(*block, &piece.delta);
        }
        Ok(())
    }

    fn arguments_done(&mut self, data: &str, out: &mut Assembler) -> Result<(), AiError> {
        let whole: Whole<'_> = parse(data)?;
        if let Some(Slot { kind: Kind::Call { block }, .. }) = self.slot(whole.at()) {
            out.settle(*block, &whole.arguments);
        }
        Ok(())
    }

    fn part_added(&mut self, data: &str, out: &mut Assembler) -> Result<(), AiError> {
        let event: PartEvent<'_> = parse(data)?;
        let kind = match &*event.part.kind {
            "output_text" => TextKind::Answer,
            "refusal" => TextKind::Refusal,
            _ => return Ok(()),
        };
        let at = Place { output_index: event.output_index, item_id: &event.item_id };
        self.text_block(at, event.content_index, kind, out);
        Ok(())
    }

    /// Opens the slot of an item, unless it is open already. Answers its position.
    fn announce(
        &mut self,
        output_index: Option<u64>,
        raw: &RawValue,
        out: &mut Assembler,
    ) -> Result<usize, AiError> {
        let head: Head<'_> = parse(raw.get())?;
        // llama.cpp gives a call no id of its own, and its pieces name the call's.
        let call_id = if head.id.is_empty() && head.kind == "function_call" {
            parse::<Item>(raw.get())?.call_id
        } else {
            String::new()
        };
        let item_id = if head.id.is_empty() { &*call_id } else { &*head.id };
        let at = Place { output_index, item_id };
        if let Some(position) = self.position(at) {
            return Ok(position);
        }
        let kind = match &*head.kind {
            "message" => {
                let item: Item = parse(raw.get())?;
                Kind::Message { parts: Vec::new(), phase: phase(item.phase.as_deref()) }
            }
            "reasoning" => Kind::reasoning(out),
            "function_call" => {
                let item: Item = parse(raw.get())?;
                Kind::Call { block: out.open_call(&item.call_id, &item.name) }
            }
            _ => Kind::Other { pictured: false },
        };
        self.items.push(Slot { output_index, item_id: item_id.to_owned(), kind });
        Ok(self.items.len() - 1)
    }

    /// Takes an item's final form: from `output_item.done`, and again from the final response for items whose end
    /// was not told.
    fn item_done(
        &mut self,
        output_index: Option<u64>,
        raw: &RawValue,
        out: &mut Assembler,
    ) -> Result<(), AiError> {
        let position = self.announce(output_index, raw, out)?;
        let slot = &mut self.items[position];
        if let Kind::Other { pictured } = &mut slot.kind {
            let head: Head<'_> = parse(raw.get())?;
            if head.kind == "image_generation_call" && !*pictured {
                *pictured = true;
                image(&parse::<Item>(raw.get())?, out);
            }
            return Ok(());
        }
        let item: Item = parse(raw.get())?;
        match &mut slot.kind {
            Kind::Message { parts, phase: known } => {
                *known = phase(item.phase.as_deref()).or(*known);
                for (index, part) in (0u64..).zip(&item.content) {
                    let (kind, text) = match part.kind.as_str() {
                        "output_text" => (TextKind::Answer, &part.text),
                        "refusal" => (TextKind::Refusal, &part.refusal),
                        _ => continue,
                    };
                    self.refused |= kind == TextKind::Refusal;
                    let block = part_block(parts, index, kind, out);
                    out.settle(block, text);
                }
                for (_, block) in parts.iter() {
                    if let Some(phase) = *known {
                        out.phase(*block, phase);
                    }
                    out.close(*block);
                }
            }
            Kind::Reasoning { block, source, sealed, .. } => {
                let raw_text = join(&item.content);
                let summary = join(&item.summary);
                if source.is_none() && summary.is_empty() && !raw_text.is_empty() {
                    *source = Some(Source::Raw);
                }
                out.settle(*block, if *source == Some(Source::Raw) { &raw_text } else { &summary });
                if let Some(encrypted) = item.encrypted_content.filter(|text| !text.is_empty()) {
                    out.seal(*block, Seal::Encrypted(encrypted));
                    *sealed = true;
                } else if !*sealed && *source == Some(Source::Raw) {
                    out.seal(*block, Seal::Open);
                }
                out.close(*block);
            }
            Kind::Call { block } => {
                out.settle(*block, &item.arguments);
                out.close(*block);
            }
            Kind::Other { .. } => {}
        }
        Ok(())
    }

    fn ended(
        &mut self,
        kind: &str,
        response: Response<'_>,
        out: &mut Assembler,
    ) -> Result<Progress, AiError> {
        out.response_id(&response.id);
        for (index, raw) in (0u64..).zip(&response.output) {
            self.item_done(Some(index), raw, out)?;
        }
        if let Some(usage) = &response.usage {
            out.usage(Usage {
                input: usage.input_tokens,
                cache_read: usage.input_tokens_details.cached_tokens,
                cache_write: usage.input_tokens_details.cache_write_tokens,
                cache_write_long: 0,
                output: usage.output_tokens,
                reasoning: usage.output_tokens_details.reasoning_tokens,
                cost: None,
            });
        }
        // The response's own status counts; servers have sent `completed` events about responses that are not.
        let status = response.status.as_deref().unwrap_or(kind.trim_start_matches("response."));
        match status {
            "failed" => Err(match &response.error {
                Some(error) => classify::in_stream(error),
                None => AiError::Protocol { detail: "the response failed without saying why".to_owned() },
            }),
            "cancelled" => {
                Err(AiError::Protocol { detail: "the provider cancelled the response".to_owned() })
            }
            "incomplete" => {
                let reason = response.incomplete_details.map(|details| details.reason).unwrap_or_default();
                let stop =
                    if reason == "content_filter" { StopReason::ContentFilter } else { StopReason::Length };
                out.stop(stop, (!reason.is_empty()).then_some(reason.as_str()));
                Ok(Progress::Finished)
            }
            _ => {
                out.stop(if self.refused { StopReason::Refusal } else { StopReason::Stop }, None);
                Ok(Progress::Finished)
            }
        }
    }

    fn text_block(
        &mut self,
        at: Place<'_>,
        content_index: Option<u64>,
        kind: TextKind,
        out: &mut Assembler,
    ) -> Option<BlockIndex> {
        self.refused |= kind == TextKind::Refusal;
        let slot = self.slot_or_new(at, || Kind::Message { parts: Vec::new(), phase: None });
        match &mut slot.kind {
            Kind::Message { parts, .. } => Some(part_block(parts, content_index.unwrap_or(0), kind, out)),
            _ => None,
        }
    }

    /// The position of a slot. The index is preferred to the id: some gateways give one item several ids. An item that
    /// was announced without an index is known by its id alone, also when the final response numbers it.
    fn position(&self, at: Place<'_>) -> Option<usize> {
        let by_id = |slot: &Slot| !at.item_id.is_empty() && slot.item_id == at.item_id;
        match at.output_index {
            Some(index) => {
                self.items.iter().rposition(|slot| slot.output_index == Some(index)).or_else(|| {
                    self.items.iter().rposition(|slot| slot.output_index.is_none() && by_id(slot))
                })
            }
            None => self.items.iter().rposition(by_id),
        }
    }

    /// The slot a piece belongs to. A piece that says nothing of its place belongs to the newest item.
    fn slot(&mut self, at: Place<'_>) -> Option<&mut Slot> {
        if at.output_index.is_none() && at.item_id.is_empty() {
            return self.items.last_mut();
        }
        let position = self.position(at)?;
        self.items.get_mut(position)
    }

    /// The slot a piece belongs to; a new one when the server did not announce the item.
    fn slot_or_new(&mut self, at: Place<'_>, kind: impl FnOnce() -> Kind) -> &mut Slot {
        let nowhere = at.output_index.is_none() && at.item_id.is_empty();
        let position = if nowhere { self.items.len().checked_sub(1) } else { self.position(at) };
        let position = position.unwrap_or_else(|| {
            let (output_index, item_id) = (at.output_index, at.item_id.to_owned());
            self.items.push(Slot { output_index, item_id, kind: kind() });
            self.items.len() - 1
        });
        &mut self.items[position]
    }
}

impl Kind {
    fn reasoning(out: &mut Assembler) -> Self {
        Kind::Reasoning { block: out.open_thinking(), source: None, part: 0, sealed: false }
    }
}

const PART_BREAK: &str = "\n\n";

fn part_block(
    parts: &mut Vec<(u64, BlockIndex)>,
    index: u64,
    kind: TextKind,
    out: &mut Assembler,
) -> BlockIndex {
    if let Some((_, block)) = parts.iter().find(|(known, _)| *known == index) {
        return *block;
    }
    let block = out.open_text(kind);
    parts.push((index, block));
    block
}

fn join(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
    texts.join(PART_BREAK)
}

fn phase(name: Option<&str>) -> Option<Phase> {
    match name? {
        "commentary" => Some(Phase::Commentary),
        "final_answer" => Some(Phase::FinalAnswer),
        _ => None,
    }
}

fn image(item: &Item, out: &mut Assembler) {
    if let Some(data) = item.result.as_deref().filter(|data| !data.is_empty()) {
        let format = item.output_format.as_deref().unwrap_or("png");
        out.image(Image { media_type: format!("image/{format}"), source: ImageSource::Base64(data.into()) });
    }
}

/// An error event carries its fields itself, or in an `error` object: both are on the market.
fn error_event(data: &str) -> AiError {
    match parse::<Value>(data) {
        Ok(value) => match value.get("error") {
            Some(error) if error.is_object() => classify::in_stream(error),
            _ => classify::in_stream(&value),
        },
        Err(error) => error,
    }
}

fn parse<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, AiError> {
    serde_json::from_str(data).map_err(|error| AiError::Protocol {
        detail: format!("an event is not understood ({error}): {}", excerpt(data)),
    })
}

#[cfg(test)]
mod tests;
