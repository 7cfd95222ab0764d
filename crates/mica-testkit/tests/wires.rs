//! The event sequences of the three wires, whole: what a provider sends for one answer with everything in it.

use mica_ai::{Dialect, Usage};
use mica_testkit::wire::{Frame, Stage};
use mica_testkit::{Call, Pacing, Step, Stop, Turn, Vendor, WireOptions, wire};
use serde_json::{Value, json};

fn turn() -> Turn {
    Turn::new().thinking("One.\n\nTwo.").text("Hello, Wörld").step(Step::Interleaved(vec![
        Call::new("read", json!({ "path": "a" })).with_id("call_a"),
        Call::raw("list", "{").with_id("call_b"),
    ]))
}

fn stage<'a>(turn: &'a Turn, request: &'a Value) -> Stage<'a> {
    let usage = Usage {
        input: 1000,
        cache_read: 600,
        cache_write: 300,
        cache_write_long: 100,
        output: 50,
        reasoning: 20,
        cost: None,
    };
    Stage {
        usage: Some(usage),
        pacing: Pacing { chars: 8, ..Pacing::default() },
        ..Stage::new(turn, request)
    }
}

/// One line per event: its part, its name, and its data without what only repeats the request.
fn told(frames: &[Frame]) -> String {
    frames
        .iter()
        .map(|frame| {
            let mut data = frame.json();
            if let Some(response) = data.get_mut("response").and_then(Value::as_object_mut) {
                response.retain(|key, _| {
                    ["id", "status", "output", "usage", "error", "incomplete_details"].contains(&key.as_str())
                });
            }
            let data = if data.is_null() { frame.data.clone() } else { data.to_string() };
            format!("{:?} {} {data}\n", frame.part, frame.event.as_deref().unwrap_or("-"))
        })
        .collect()
}

fn request() -> Value {
    json!({
        "model": "m", "stream": true, "store": false,
        "include": ["reasoning.encrypted_content"],
        "stream_options": { "include_usage": true, "include_obfuscation": false },
    })
}

#[test]
fn responses() {
    insta::assert_snapshot!(told(&wire::stream(Dialect::Responses, stage(&turn(), &request()))));
}

#[test]
fn messages() {
    insta::assert_snapshot!(told(&wire::stream(Dialect::Messages, stage(&turn(), &request()))));
}

#[test]
fn chat() {
    insta::assert_snapshot!(told(&wire::stream(Dialect::Chat, stage(&turn(), &request()))));
}

#[test]
fn chat_on_azure() {
    let turn = Turn::new().text("Hello");
    let request = request();
    let stage = Stage { vendor: Vendor::Azure, ..stage(&turn, &request) };
    insta::assert_snapshot!(told(&wire::stream(Dialect::Chat, stage)));
}

#[test]
fn unstreamed() {
    let (turn, request) = (turn(), request());
    let mut all = String::new();
    for dialect in Dialect::ALL {
        let body = wire::whole(dialect, stage(&turn, &request));
        all.push_str(&format!("{dialect}: {body:#}\n"));
    }
    insta::assert_snapshot!(all);
}

fn last(dialect: Dialect, turn: &Turn) -> Value {
    let request = request();
    let frames = wire::stream(dialect, stage(turn, &request));
    let finish = frames.iter().find(|frame| frame.part == wire::Part::Finish);
    finish.map(Frame::json).unwrap_or_default()
}

#[test]
fn every_stop_reason_has_each_wires_word() {
    let word = |stop| {
        let turn = Turn::new().text("x").stop(stop);
        let response = &last(Dialect::Responses, &turn)["response"];
        let reason = response["incomplete_details"]["reason"].as_str().or(response["error"]["code"].as_str());
        format!(
            "{}{} | {} | {}",
            response["status"].as_str().unwrap_or_default(),
            reason.map(|reason| format!(" {reason}")).unwrap_or_default(),
            last(Dialect::Messages, &turn)["delta"]["stop_reason"].as_str().unwrap_or_default(),
            last(Dialect::Chat, &turn)["choices"][0]["finish_reason"].as_str().unwrap_or_default(),
        )
    };
    assert_eq!(word(Stop::Stop), "completed | end_turn | stop");
    assert_eq!(word(Stop::Length), "incomplete max_output_tokens | max_tokens | length");
    assert_eq!(word(Stop::ToolUse), "completed | tool_use | tool_calls");
    assert_eq!(word(Stop::Refusal), "completed | refusal | stop");
    assert_eq!(word(Stop::ContentFilter), "incomplete content_filter | refusal | content_filter");
    assert_eq!(word(Stop::Pause), "completed | pause_turn | stop");
    assert_eq!(
        word(Stop::ContextWindowExceeded),
        "failed context_length_exceeded | model_context_window_exceeded | length"
    );
}

#[test]
fn azure_gives_encrypted_reasoning_only_at_the_end() {
    let (turn, request) = (Turn::new().thinking("x").text("y"), request());
    for late in [false, true] {
        let options = WireOptions { late_encrypted: late, ..WireOptions::default() };
        let frames = wire::stream(Dialect::Responses, Stage { options, ..stage(&turn, &request) });
        let done = frames.iter().map(Frame::json).find(|event| event["type"] == "response.output_item.done");
        assert_eq!(done.unwrap()["item"]["encrypted_content"].is_null(), late);
        let end = frames.last().unwrap().json();
        assert!(end["response"]["output"][0]["encrypted_content"].is_string());
    }
}

#[test]
fn encrypted_reasoning_and_usage_come_only_when_asked_for() {
    let (turn, plain) = (Turn::new().thinking("x").text("y"), json!({ "model": "m", "stream": true }));
    let responses = wire::stream(Dialect::Responses, stage(&turn, &plain));
    assert!(!responses.iter().any(|frame| frame.data.contains("encrypted_content")));
    assert!(responses.iter().any(|frame| frame.data.contains("\"obfuscation\":")), "on unless declined");
    let chat = wire::stream(Dialect::Chat, stage(&turn, &plain));
    assert!(!chat.iter().any(|frame| frame.data.contains("usage")));
}

#[test]
fn open_weight_reasoning_is_told_as_text_and_refusals_in_parts_of_their_own() {
    let (turn, request) = (Turn::new().thinking("x").refusal("No."), request());
    let options = WireOptions {
        open_reasoning: true,
        reasoning_field: mica_ai::message::ReasoningField::Reasoning,
        ..WireOptions::default()
    };
    let kinds: Vec<String> = wire::stream(Dialect::Responses, Stage { options, ..stage(&turn, &request) })
        .into_iter()
        .filter_map(|frame| frame.event)
        .collect();
    for kind in [
        "response.reasoning_text.delta",
        "response.reasoning_text.done",
        "response.refusal.delta",
        "response.refusal.done",
    ] {
        assert!(kinds.iter().any(|seen| seen == kind), "{kind}");
    }
    let chat = wire::stream(Dialect::Chat, Stage { options, ..stage(&turn, &request) });
    assert!(chat.iter().any(|frame| frame.json()["choices"][0]["delta"]["reasoning"] == "x"));
    assert!(chat.iter().any(|frame| frame.json()["choices"][0]["delta"]["refusal"] == "No."));
}
