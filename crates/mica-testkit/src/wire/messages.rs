//! The Messages wire as the provider writes it: a start with the input's usage, content blocks one after another, then
//! the stop reason with cumulative usage, then the end.

use serde_json::{Map, Value, json};

use super::{Frame, Part, Stage, extend};
use crate::pieces::pieces;
use crate::scenario::{Call, Step, Stop};
use crate::seal;

/// The events of a streamed answer.
pub fn stream(mut stage: Stage<'_>) -> Vec<Frame> {
    let mut message = start(&mut stage);
    message["usage"] = usage(&stage, 1);
    let mut writer = Writer { stage, frames: Vec::new(), index: 0 };
    writer.emit("message_start", Part::Opening, json!({ "message": message }));
    let blocks = blocks(&mut writer.stage);
    for (number, block) in blocks.iter().enumerate() {
        writer.block(block);
        // The provider's first ping comes right behind the first block's start; later ones are rare.
        if number == 0 && writer.stage.options.ping {
            let ping = writer.frame("ping", Part::Output, json!({}));
            let after_start =
                writer.frames.iter().position(|f| f.event.as_deref() == Some("content_block_start"));
            writer.frames.insert(after_start.map_or(1, |at| at + 1), ping);
        }
    }
    let output = writer.stage.usage.map_or(0, |usage| usage.output);
    let mut totals = usage(&writer.stage, output);
    if let Some(totals) = totals.as_object_mut() {
        // The closing event repeats the totals, without the split of writes and the tier.
        totals.remove("cache_creation");
        totals.remove("service_tier");
    }
    let delta = json!({ "delta": { "stop_reason": stop(writer.stage.turn.ending()), "stop_sequence": null }, "usage": totals });
    writer.emit("message_delta", Part::Finish, delta);
    writer.emit("message_stop", Part::Finish, json!({}));
    writer.frames
}

/// The body of an unstreamed answer.
pub fn whole(mut stage: Stage<'_>) -> Value {
    let mut message = start(&mut stage);
    message["content"] = blocks(&mut stage).into_iter().map(|block| block.full).collect();
    message["stop_reason"] = stop(stage.turn.ending()).into();
    message["usage"] = usage(&stage, stage.usage.map_or(0, |usage| usage.output));
    message
}

/// A content block: how it starts, what is added to it, and how it is when complete.
struct Content {
    start: Value,
    deltas: Vec<Value>,
    full: Value,
}

struct Writer<'a> {
    stage: Stage<'a>,
    frames: Vec<Frame>,
    index: usize,
}

impl Writer<'_> {
    fn frame(&self, kind: &str, part: Part, fields: Value) -> Frame {
        let mut event = Map::new();
        event.insert("type".to_owned(), kind.into());
        extend(&mut event, fields);
        Frame {
            event: Some(kind.to_owned()),
            data: Value::Object(event).to_string(),
            part,
            paced: kind == "content_block_delta",
        }
    }

    fn emit(&mut self, kind: &str, part: Part, fields: Value) {
        let frame = self.frame(kind, part, fields);
        self.frames.push(frame);
    }

    fn block(&mut self, block: &Content) {
        let index = self.index;
        self.index += 1;
        self.emit(
            "content_block_start",
            Part::Output,
            json!({ "index": index, "content_block": block.start }),
        );
        for delta in &block.deltas {
            self.emit("content_block_delta", Part::Output, json!({ "index": index, "delta": delta }));
        }
        self.emit("content_block_stop", Part::Output, json!({ "index": index }));
    }
}

fn start(stage: &mut Stage<'_>) -> Value {
    json!({
        "model": stage.model,
        "id": stage.ids.claude("msg"),
        "type": "message",
        "role": "assistant",
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": null,
    })
}

fn blocks(stage: &mut Stage<'_>) -> Vec<Content> {
    let mut all = Vec::new();
    for step in &stage.turn.steps {
        match step {
            Step::Thinking(text) => all.push(thinking(stage, text)),
            Step::Redacted(text) => {
                let block = json!({ "type": "redacted_thinking", "data": seal::redacted(stage.model, text) });
                all.push(Content { start: block.clone(), deltas: Vec::new(), full: block });
            }
            Step::Text(text) | Step::Refusal(text) => all.push(Content {
                start: json!({ "type": "text", "text": "" }),
                deltas: pieces(text, stage.pacing.chars)
                    .map(|piece| json!({ "type": "text_delta", "text": piece }))
                    .collect(),
                full: json!({ "type": "text", "text": text }),
            }),
            Step::Call(call) => all.push(tool_use(stage, call)),
            // This wire has one block open at a time.
            Step::Interleaved(calls) => {
                for call in calls {
                    all.push(tool_use(stage, call));
                }
            }
            // This wire carries no pictures from the model.
            Step::Image(_) => {}
        }
    }
    all
}

fn thinking(stage: &Stage<'_>, text: &str) -> Content {
    let signature = seal::signature(stage.model, text);
    let mut deltas: Vec<Value> = pieces(text, stage.pacing.chars)
        .map(|piece| json!({ "type": "thinking_delta", "thinking": piece }))
        .collect();
    deltas.push(json!({ "type": "signature_delta", "signature": signature }));
    Content {
        start: json!({ "type": "thinking", "thinking": "", "signature": "" }),
        deltas,
        full: json!({ "type": "thinking", "thinking": text, "signature": signature }),
    }
}

fn tool_use(stage: &mut Stage<'_>, call: &Call) -> Content {
    let id = call.id.clone().unwrap_or_else(|| stage.ids.claude("toolu"));
    let text = call.text();
    // The provider opens every call with an empty delta, and sends nothing more for a call without arguments.
    let rest = if text == "{}" { "" } else { text.as_str() };
    let deltas = std::iter::once("")
        .chain(pieces(rest, stage.pacing.chars))
        .map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }))
        .collect();
    // An unstreamed answer has the arguments as a value; text that is none cannot be said there.
    let input = serde_json::from_str(&text).unwrap_or_else(|_| json!({}));
    Content {
        start: json!({ "type": "tool_use", "id": id, "name": call.name, "input": {} }),
        deltas,
        full: json!({ "type": "tool_use", "id": id, "name": call.name, "input": input }),
    }
}

fn stop(ending: Stop) -> &'static str {
    match ending {
        Stop::Stop => "end_turn",
        Stop::Length => "max_tokens",
        Stop::ToolUse => "tool_use",
        // There is no filter apart from the model's own: it says that it declines.
        Stop::Refusal | Stop::ContentFilter => "refusal",
        Stop::Pause => "pause_turn",
        Stop::ContextWindowExceeded => "model_context_window_exceeded",
    }
}

/// `input_tokens` counts only what the cache had no part in.
fn usage(stage: &Stage<'_>, output: u64) -> Value {
    let usage = stage.usage.unwrap_or_default();
    json!({
        "input_tokens": usage.uncached(),
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write.saturating_sub(usage.cache_write_long),
            "ephemeral_1h_input_tokens": usage.cache_write_long,
        },
        "output_tokens": output,
        "service_tier": "standard",
    })
}
