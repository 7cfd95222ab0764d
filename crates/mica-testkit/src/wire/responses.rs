//! The Responses wire as the provider writes it: lifecycle events around output items, each item announced, told in
//! parts, and repeated whole when it is done. Every event has a number and an `event:` line.

use serde_json::{Map, Value, json};

use super::{Frame, Part, Stage, extend};
use crate::pieces::{in_turns, pieces};
use crate::scenario::{Call, Step, Stop};
use crate::seal;

/// The events of a streamed answer.
pub fn stream(stage: Stage<'_>) -> Vec<Frame> {
    let mut writer = Writer::new(stage);
    writer.lifecycle("response.created", "in_progress", Part::Opening);
    writer.lifecycle("response.in_progress", "in_progress", Part::Opening);
    writer.steps();
    writer.finish();
    writer.frames
}

/// The body of an unstreamed answer: the response that the terminal event of the stream carries.
pub fn whole(stage: Stage<'_>) -> Value {
    let mut writer = Writer::new(stage);
    writer.steps();
    let (_, response) = writer.ended();
    response
}

struct Writer<'a> {
    stage: Stage<'a>,
    frames: Vec<Frame>,
    id: String,
    sequence: u64,
    output: Vec<Value>,
    obfuscate: bool,
    encrypt: bool,
}

impl<'a> Writer<'a> {
    fn new(mut stage: Stage<'a>) -> Self {
        let id = stage.ids.item("resp");
        let obfuscate = stage.flag("/stream_options/include_obfuscation", true);
        let encrypt = stage.request["include"]
            .as_array()
            .is_some_and(|include| include.iter().any(|item| item == "reasoning.encrypted_content"));
        Self { stage, frames: Vec::new(), id, sequence: 0, output: Vec::new(), obfuscate, encrypt }
    }

    fn emit(&mut self, kind: &str, part: Part, fields: Value) {
        let mut event = Map::new();
        event.insert("type".to_owned(), kind.into());
        event.insert("sequence_number".to_owned(), self.sequence.into());
        extend(&mut event, fields);
        self.sequence += 1;
        self.frames.push(Frame {
            event: Some(kind.to_owned()),
            data: Value::Object(event).to_string(),
            part,
            paced: kind.ends_with(".delta"),
        });
    }

    fn tell(&mut self, kind: &str, fields: Value) {
        self.emit(kind, Part::Output, fields);
    }

    /// Tells a text in deltas. `place` names the item and the part the text belongs to.
    fn deltas(&mut self, kind: &str, place: &Value, text: &str) {
        for piece in pieces(text, self.stage.pacing.chars) {
            self.delta(kind, place, piece);
        }
    }

    fn delta(&mut self, kind: &str, place: &Value, piece: &str) {
        let mut fields = place.clone();
        fields["delta"] = piece.into();
        if kind == "response.output_text.delta" {
            fields["logprobs"] = json!([]);
        }
        if self.obfuscate {
            fields["obfuscation"] = self.stage.ids.padding(piece).into();
        }
        self.tell(kind, fields);
    }

    fn lifecycle(&mut self, kind: &str, status: &str, part: Part) {
        let response = self.response(status);
        self.emit(kind, part, json!({ "response": response }));
    }

    fn steps(&mut self) {
        let turn = self.stage.turn;
        let last = turn.steps.len().saturating_sub(1);
        for (number, step) in turn.steps.iter().enumerate() {
            // What the output limit cut off is marked so; items before it are complete.
            let status =
                if number == last && turn.ending() == Stop::Length { "incomplete" } else { "completed" };
            match step {
                Step::Thinking(text) => self.reasoning(text),
                Step::Redacted(text) => self.hidden_reasoning(text),
                Step::Text(text) => self.message(text, TextPart::Text, status),
                Step::Refusal(text) => self.message(text, TextPart::Refusal, status),
                Step::Call(call) => self.calls(std::slice::from_ref(call), status),
                Step::Interleaved(calls) => self.calls(calls, status),
                Step::Image(data) => self.image(data),
            }
        }
    }

    fn item_added(&mut self, index: usize, item: &Value) {
        self.tell("response.output_item.added", json!({ "output_index": index, "item": item }));
    }

    fn item_done(&mut self, index: usize, item: &Value) {
        self.tell("response.output_item.done", json!({ "output_index": index, "item": item }));
    }

    fn reasoning(&mut self, text: &str) {
        let (index, id) = (self.output.len(), self.stage.ids.item("rs"));
        let empty = json!({ "id": id, "type": "reasoning", "summary": [] });
        self.item_added(index, &empty);
        let mut item = json!({ "id": id, "type": "reasoning", "summary": [] });
        if self.stage.options.open_reasoning {
            let place = json!({ "item_id": id, "output_index": index, "content_index": 0 });
            self.deltas("response.reasoning_text.delta", &place, text);
            let mut done = place;
            done["text"] = text.into();
            self.tell("response.reasoning_text.done", done);
            item["content"] = json!([{ "type": "reasoning_text", "text": text }]);
        } else {
            let parts: Vec<&str> = text.split("\n\n").filter(|part| !part.is_empty()).collect();
            for (number, part) in parts.iter().enumerate() {
                self.summary_part(&id, index, number, part);
            }
            item["summary"] =
                parts.iter().map(|part| json!({ "type": "summary_text", "text": part })).collect();
        }
        self.reasoning_done(index, item, text);
    }

    fn summary_part(&mut self, id: &str, index: usize, number: usize, text: &str) {
        let place = json!({ "item_id": id, "output_index": index, "summary_index": number });
        let with = |key: &str, value: Value| {
            let mut fields = place.clone();
            fields[key] = value;
            fields
        };
        self.tell(
            "response.reasoning_summary_part.added",
            with("part", json!({ "type": "summary_text", "text": "" })),
        );
        self.deltas("response.reasoning_summary_text.delta", &place, text);
        self.tell("response.reasoning_summary_text.done", with("text", text.into()));
        self.tell(
            "response.reasoning_summary_part.done",
            with("part", json!({ "type": "summary_text", "text": text })),
        );
    }

    /// Reasoning without a summary, which is what most requests get that ask for none.
    fn hidden_reasoning(&mut self, text: &str) {
        let (index, id) = (self.output.len(), self.stage.ids.item("rs"));
        let item = json!({ "id": id, "type": "reasoning", "summary": [] });
        self.item_added(index, &item);
        self.reasoning_done(index, item, text);
    }

    fn reasoning_done(&mut self, index: usize, item: Value, text: &str) {
        let mut full = item.clone();
        if self.encrypt {
            full["encrypted_content"] = seal::encrypted(self.stage.model, text).into();
        }
        let done = if self.stage.options.late_encrypted { item } else { full.clone() };
        self.item_done(index, &done);
        self.output.push(full);
    }

    fn message(&mut self, text: &str, kind: TextPart, status: &str) {
        let (index, id) = (self.output.len(), self.stage.ids.item("msg"));
        let item = |status: &str, content: Value| json!({ "id": id, "type": "message", "status": status, "content": content, "role": "assistant" });
        self.item_added(index, &item("in_progress", json!([])));
        let place = json!({ "item_id": id, "output_index": index, "content_index": 0 });
        let with = |key: &str, value: Value| {
            let mut fields = place.clone();
            fields[key] = value;
            fields
        };
        self.tell("response.content_part.added", with("part", kind.part("")));
        match kind {
            TextPart::Text => {
                self.deltas("response.output_text.delta", &place, text);
                let mut done = with("text", text.into());
                done["logprobs"] = json!([]);
                self.tell("response.output_text.done", done);
            }
            TextPart::Refusal => {
                self.deltas("response.refusal.delta", &place, text);
                self.tell("response.refusal.done", with("refusal", text.into()));
            }
        }
        self.tell("response.content_part.done", with("part", kind.part(text)));
        let done = item(status, json!([kind.part(text)]));
        self.item_done(index, &done);
        self.output.push(done);
    }

    /// One call, or several whose argument deltas alternate.
    fn calls(&mut self, calls: &[Call], status: &str) {
        let first = self.output.len();
        let texts: Vec<String> = calls.iter().map(Call::text).collect();
        let mut open: Vec<(String, String)> = Vec::new();
        for (offset, call) in calls.iter().enumerate() {
            let id = self.stage.ids.item("fc");
            let call_id = call.id.clone().unwrap_or_else(|| self.stage.ids.call());
            self.item_added(first + offset, &function_call(&id, &call_id, call, "", "in_progress"));
            open.push((id, call_id));
        }
        for (offset, piece) in in_turns(&texts, self.stage.pacing.chars) {
            let place = json!({ "item_id": open[offset].0, "output_index": first + offset });
            self.delta("response.function_call_arguments.delta", &place, piece);
        }
        for (offset, call) in calls.iter().enumerate() {
            let ((id, call_id), text) = (&open[offset], &texts[offset]);
            let item = function_call(id, call_id, call, text, status);
            self.tell(
                "response.function_call_arguments.done",
                json!({ "item_id": id, "output_index": first + offset, "arguments": text }),
            );
            self.item_done(first + offset, &item);
            self.output.push(item);
        }
    }

    fn image(&mut self, data: &str) {
        let (index, id) = (self.output.len(), self.stage.ids.item("ig"));
        let item = |status: &str, result: Value| json!({ "id": id, "type": "image_generation_call", "status": status, "result": result });
        self.item_added(index, &item("in_progress", Value::Null));
        for step in ["in_progress", "generating", "completed"] {
            let kind = format!("response.image_generation_call.{step}");
            self.tell(&kind, json!({ "item_id": id, "output_index": index }));
        }
        let done = item("completed", data.into());
        self.item_done(index, &done);
        self.output.push(done);
    }

    /// The terminal event's name and its response.
    fn ended(&mut self) -> (&'static str, Value) {
        let ending = self.stage.turn.ending();
        let (kind, status) = match ending {
            Stop::Stop | Stop::ToolUse | Stop::Refusal | Stop::Pause => ("response.completed", "completed"),
            Stop::Length | Stop::ContentFilter => ("response.incomplete", "incomplete"),
            Stop::ContextWindowExceeded => ("response.failed", "failed"),
        };
        let mut response = self.response(status);
        match ending {
            Stop::Length => response["incomplete_details"] = json!({ "reason": "max_output_tokens" }),
            Stop::ContentFilter => response["incomplete_details"] = json!({ "reason": "content_filter" }),
            Stop::ContextWindowExceeded => {
                response["error"] = json!({
                    "code": "context_length_exceeded",
                    "message": "Your input exceeds the context window of this model. Please adjust your input and try again.",
                });
            }
            Stop::Stop | Stop::ToolUse | Stop::Refusal | Stop::Pause => {}
        }
        response["output"] = Value::Array(std::mem::take(&mut self.output));
        response["usage"] = self.usage();
        (kind, response)
    }

    fn finish(&mut self) {
        let (kind, response) = self.ended();
        self.emit(kind, Part::Finish, json!({ "response": response }));
    }

    fn usage(&self) -> Value {
        self.stage.usage.map_or(Value::Null, |usage| {
            json!({
                "input_tokens": usage.input,
                "input_tokens_details": { "cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write },
                "output_tokens": usage.output,
                "output_tokens_details": { "reasoning_tokens": usage.reasoning },
                "total_tokens": usage.input + usage.output,
            })
        })
    }

    fn response(&self, status: &str) -> Value {
        let request = self.stage.request;
        let or = |key: &str, default: Value| request.get(key).cloned().unwrap_or(default);
        json!({
            "id": self.id,
            "object": "response",
            "created_at": self.stage.created,
            "status": status,
            "background": false,
            "error": null,
            "incomplete_details": null,
            "instructions": or("instructions", Value::Null),
            "max_output_tokens": or("max_output_tokens", Value::Null),
            "max_tool_calls": null,
            "model": self.stage.model,
            "output": [],
            "parallel_tool_calls": or("parallel_tool_calls", true.into()),
            "previous_response_id": null,
            "prompt_cache_key": or("prompt_cache_key", Value::Null),
            "reasoning": or("reasoning", json!({ "effort": null, "summary": null })),
            "safety_identifier": or("safety_identifier", Value::Null),
            "service_tier": "default",
            "store": or("store", true.into()),
            "temperature": or("temperature", 1.0.into()),
            "text": or("text", json!({ "format": { "type": "text" } })),
            "tool_choice": or("tool_choice", "auto".into()),
            "tools": or("tools", json!([])),
            "top_logprobs": 0,
            "top_p": or("top_p", 1.0.into()),
            "truncation": "disabled",
            "usage": null,
            "user": null,
            "metadata": {},
        })
    }
}

#[derive(Clone, Copy)]
enum TextPart {
    Text,
    Refusal,
}

impl TextPart {
    fn part(self, text: &str) -> Value {
        match self {
            TextPart::Text => {
                json!({ "type": "output_text", "annotations": [], "logprobs": [], "text": text })
            }
            TextPart::Refusal => json!({ "type": "refusal", "refusal": text }),
        }
    }
}

fn function_call(id: &str, call_id: &str, call: &Call, arguments: &str, status: &str) -> Value {
    json!({ "id": id, "type": "function_call", "status": status, "arguments": arguments, "call_id": call_id, "name": call.name })
}
