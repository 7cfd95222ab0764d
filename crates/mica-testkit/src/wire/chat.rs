//! The Chat wire as OpenAI, Azure and compatible servers write it: chunks with one choice, a chunk with the finish
//! reason, a chunk with usage and no choice when the request asked for it, and `[DONE]`.

use serde_json::{Value, json};

use super::{Frame, Part, Stage};
use crate::pieces::{in_turns, pieces};
use crate::route::Vendor;
use crate::scenario::{Call, Step, Stop};

/// The events of a streamed answer.
pub fn stream(mut stage: Stage<'_>) -> Vec<Frame> {
    let id = stage.ids.chat();
    let include_usage = stage.flag("/stream_options/include_usage", false) && stage.usage.is_some();
    let azure = stage.vendor == Vendor::Azure && stage.options.filter_results;
    let mut writer = Writer { stage, frames: Vec::new(), id, include_usage, azure };
    if azure {
        writer.prompt_filter();
    }
    writer.delta(&json!({ "role": "assistant", "content": "", "refusal": null }), Part::Opening, false);
    writer.steps();
    let finish = finish(writer.stage.turn.ending());
    writer.choice(&json!({}), Some(finish), Part::Finish, false);
    if include_usage {
        let mut chunk = writer.chunk(&json!([]));
        chunk["usage"] = usage(&writer.stage);
        writer.push(chunk.to_string(), Part::Finish, false);
    }
    writer.push("[DONE]".to_owned(), Part::Finish, false);
    writer.frames
}

/// The body of an unstreamed answer.
pub fn whole(mut stage: Stage<'_>) -> Value {
    let id = stage.ids.chat();
    let (mut text, mut refusal, mut reasoning, mut calls) =
        (String::new(), String::new(), String::new(), Vec::new());
    let turn = stage.turn;
    for step in &turn.steps {
        match step {
            Step::Text(more) => text.push_str(more),
            Step::Refusal(more) => refusal.push_str(more),
            Step::Thinking(more) => reasoning.push_str(more),
            Step::Call(call) => calls.push(whole_call(&mut stage, call)),
            Step::Interleaved(several) => {
                for call in several {
                    calls.push(whole_call(&mut stage, call));
                }
            }
            Step::Redacted(_) | Step::Image(_) => {}
        }
    }
    let or_null = |text: String| if text.is_empty() { Value::Null } else { Value::String(text) };
    let mut message = json!({ "role": "assistant", "content": or_null(text), "refusal": or_null(refusal), "annotations": [] });
    if !reasoning.is_empty() {
        message[stage.options.reasoning_field.key()] = reasoning.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    let mut body = json!({
        "id": id,
        "object": "chat.completion",
        "created": stage.created,
        "model": stage.model,
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": finish(turn.ending()) }],
        "usage": if stage.usage.is_some() { usage(&stage) } else { Value::Null },
        "service_tier": "default",
        "system_fingerprint": FINGERPRINT,
    });
    if stage.vendor == Vendor::Azure && stage.options.filter_results {
        body["choices"][0]["content_filter_results"] = filter_results();
        body["prompt_filter_results"] = prompt_filter_results();
    }
    body
}

const FINGERPRINT: &str = "fp_44709d6fcb";

struct Writer<'a> {
    stage: Stage<'a>,
    frames: Vec<Frame>,
    id: String,
    include_usage: bool,
    azure: bool,
}

impl Writer<'_> {
    fn push(&mut self, data: String, part: Part, paced: bool) {
        self.frames.push(Frame { event: None, data, part, paced });
    }

    fn chunk(&self, choices: &Value) -> Value {
        let mut chunk = json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.stage.created,
            "model": self.stage.model,
            "service_tier": "default",
            "system_fingerprint": FINGERPRINT,
            "choices": choices,
        });
        // A request that wants usage gets the member in every chunk, null but for the last.
        if self.include_usage {
            chunk["usage"] = Value::Null;
        }
        chunk
    }

    fn choice(&mut self, delta: &Value, finish: Option<&str>, part: Part, paced: bool) {
        let mut choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish });
        if self.azure && choice["delta"].get("content").is_some_and(|text| text != "") {
            choice["content_filter_results"] = filter_results();
        } else if self.azure {
            choice["content_filter_results"] = json!({});
        }
        let chunk = self.chunk(&json!([choice]));
        self.push(chunk.to_string(), part, paced);
    }

    fn delta(&mut self, delta: &Value, part: Part, paced: bool) {
        self.choice(delta, None, part, paced);
    }

    fn say(&mut self, key: &str, text: &str) {
        for piece in pieces(text, self.stage.pacing.chars) {
            let mut delta = json!({});
            delta[key] = piece.into();
            self.delta(&delta, Part::Output, true);
        }
    }

    /// Azure tells what its filter made of the prompt before the model says anything: no choice, no id.
    fn prompt_filter(&mut self) {
        let chunk = json!({
            "choices": [], "created": 0, "id": "", "model": "", "object": "",
            "prompt_filter_results": prompt_filter_results(),
        });
        self.push(chunk.to_string(), Part::Opening, false);
    }

    fn steps(&mut self) {
        let turn = self.stage.turn;
        let mut next_call = 0;
        for step in &turn.steps {
            match step {
                Step::Thinking(text) => self.say(self.stage.options.reasoning_field.key(), text),
                Step::Text(text) => self.say("content", text),
                Step::Refusal(text) => self.say("refusal", text),
                Step::Call(call) => self.calls(std::slice::from_ref(call), &mut next_call),
                Step::Interleaved(calls) => self.calls(calls, &mut next_call),
                // Neither hidden reasoning nor pictures have a place on this wire.
                Step::Redacted(_) | Step::Image(_) => {}
            }
        }
    }

    /// One call, or several whose argument deltas alternate. The first chunk of a call names it; later ones
    /// carry its index only.
    fn calls(&mut self, calls: &[Call], next: &mut usize) {
        let first = *next;
        *next += calls.len();
        for (offset, call) in calls.iter().enumerate() {
            let id = call.id.clone().unwrap_or_else(|| self.stage.ids.call());
            let call = json!({ "index": first + offset, "id": id, "type": "function", "function": { "name": call.name, "arguments": "" } });
            self.delta(&json!({ "tool_calls": [call] }), Part::Output, false);
        }
        let texts: Vec<String> = calls.iter().map(Call::text).collect();
        for (offset, piece) in in_turns(&texts, self.stage.pacing.chars) {
            let call = json!({ "index": first + offset, "function": { "arguments": piece } });
            self.delta(&json!({ "tool_calls": [call] }), Part::Output, true);
        }
    }
}

fn whole_call(stage: &mut Stage<'_>, call: &Call) -> Value {
    let id = call.id.clone().unwrap_or_else(|| stage.ids.call());
    json!({ "id": id, "type": "function", "function": { "name": call.name, "arguments": call.text() } })
}

fn finish(ending: Stop) -> &'static str {
    match ending {
        Stop::Stop | Stop::Refusal | Stop::Pause => "stop",
        Stop::Length | Stop::ContextWindowExceeded => "length",
        Stop::ToolUse => "tool_calls",
        Stop::ContentFilter => "content_filter",
    }
}

fn usage(stage: &Stage<'_>) -> Value {
    let usage = stage.usage.unwrap_or_default();
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": { "cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write, "audio_tokens": 0 },
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning, "audio_tokens": 0,
            "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
        },
    })
}

fn filter_results() -> Value {
    let safe = json!({ "filtered": false, "severity": "safe" });
    json!({ "hate": safe, "self_harm": safe, "sexual": safe, "violence": safe })
}

fn prompt_filter_results() -> Value {
    let mut results = filter_results();
    results["jailbreak"] = json!({ "filtered": false, "detected": false });
    json!([{ "prompt_index": 0, "content_filter_results": results }])
}
