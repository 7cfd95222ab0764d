//! Tests of the stream mapper: recorded answers, and what a file of bytes cannot show.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use crate::assemble::Assembler;
use crate::decode::Decoder;
use crate::dialect::fixtures;
use crate::dialect::messages::request::tests::model;
use crate::dialect::messages::stream::MessagesMapper;
use crate::dialect::{Mapper, Progress};
use crate::error::{After, AiError};
use crate::event::StreamEvent;
use crate::id::MessageId;
use crate::message::{Assistant, Block, Dialect, Origin};
use crate::sse::SseEvent;
use crate::stream::Outcome;

#[test]
fn recorded_answers() {
    fixtures::check_folder(Dialect::Messages, "src/dialect/messages/fixtures");
}

/// Plays events and answers how the last one went.
fn play(events: &[(&str, &str)]) -> (Assembler, Result<Progress, AiError>) {
    let origin = Origin { dialect: Dialect::Messages, provider: "foundry".into(), model: "claude".into() };
    let mut out =
        Assembler::new(Assistant::empty(MessageId::from("answer"), origin), Arc::new(model("adaptive")));
    let mut mapper = MessagesMapper::default();
    let mut last = Ok(Progress::More);
    for (name, data) in events {
        last = mapper.event(&SseEvent { name: (*name).into(), data: (*data).into() }, &mut out);
        if !matches!(last, Ok(Progress::More)) {
            break;
        }
    }
    (out, last)
}

#[test]
fn a_full_window_is_an_overflow_that_asks_for_no_retry() {
    let (mut out, last) = play(&[
        ("message_start", r#"{"type":"message_start","message":{"usage":{"input_tokens":900}}}"#),
        (
            "content_block_start",
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text"}}"#,
        ),
        (
            "content_block_delta",
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"so far"}}"#,
        ),
        (
            "message_delta",
            r#"{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"},"usage":{"output_tokens":99}}"#,
        ),
    ]);
    let error = last.unwrap_err();
    assert!(matches!(error, AiError::ContextOverflow { limit: None, sent: Some(900), .. }), "{error:?}");
    assert_eq!(error.retry(), None);
    let partial = out.finish();
    assert_eq!(partial.text(), "so far");
    assert_eq!((partial.usage.input, partial.usage.output), (900, 99));
}

#[test]
fn an_answer_without_a_stop_reason_may_be_asked_for_again() {
    let (_, last) = play(&[("message_stop", r#"{"type":"message_stop"}"#)]);
    let error = last.unwrap_err();
    assert!(matches!(error, AiError::StreamCut { .. }), "{error:?}");
    assert_eq!(error.retry(), Some(After::Backoff));
}

#[test]
fn usage_is_told_before_the_first_word() {
    let (mut out, _) = play(&[(
        "message_start",
        r#"{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":7,"output_tokens":1}}}"#,
    )]);
    let events: Vec<String> =
        out.events().iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    assert!(matches!(out.events()[1], StreamEvent::Usage(usage) if usage.input == 7), "{events:?}");
    assert_eq!(out.finish().usage.input, 7);
}

#[test]
fn excerpts_of_broken_events_are_short_and_cut_between_characters() {
    let long = format!("{{\"type\": {}", "é".repeat(5000));
    let (_, last) = play(&[("message_delta", &long)]);
    let AiError::Protocol { detail } = last.unwrap_err() else { panic!("not a protocol error") };
    assert!(detail.chars().count() < 320, "{detail}");
    assert!(detail.ends_with("é…"), "{detail}");
}

/// One event of a server that keeps to no order.
fn any_event() -> impl Strategy<Value = String> {
    let index = 0..3u8;
    prop_oneof![
        Just(r#"{"type":"message_start","message":{"usage":{"input_tokens":1}}}"#.to_owned()),
        Just(r#"{"type":"ping"}"#.to_owned()),
        Just(r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#.to_owned()),
        Just(r#"{"type":"message_stop"}"#.to_owned()),
        index.clone().prop_map(|i| format!(r#"{{"type":"content_block_stop","index":{i}}}"#)),
        (index.clone(), "text|thinking|tool_use|redacted_thinking|novelty").prop_map(|(i, kind)| format!(
            r#"{{"type":"content_block_start","index":{i},"content_block":{{"type":"{kind}","id":"t","name":"n","data":"d"}}}}"#
        )),
        (index, "text_delta|thinking_delta|input_json_delta|signature_delta|novelty", "[a-z]{0,3}").prop_map(
            |(i, kind, text)| format!(
                r#"{{"type":"content_block_delta","index":{i},"delta":{{"type":"{kind}","text":"{text}","thinking":"{text}","partial_json":"{text}","signature":"{text}"}}}}"#
            )
        ),
    ]
}

proptest! {
    /// Whatever a server sends, what was told piece by piece is what the message holds, and success means that a
    /// stop reason was given.
    #[test]
    fn what_is_told_is_what_is_kept(events in prop::collection::vec(any_event(), 0..40)) {
        let origin = Origin { dialect: Dialect::Messages, provider: "p".into(), model: "m".into() };
        let message = Assistant::empty(MessageId::from("answer"), origin);
        let mut decoder = Decoder::new(Dialect::Messages, message, Arc::new(model("none")));
        for event in &events {
            if decoder.push(format!("data: {event}\n\n").as_bytes()) {
                break;
            }
        }
        let mut told = Vec::new();
        let outcome = decoder.finish(None, &mut told);
        let mut pieces: BTreeMap<usize, String> = BTreeMap::new();
        let mut ends: BTreeMap<usize, u32> = BTreeMap::new();
        for event in &told {
            match event {
                StreamEvent::TextDelta { block, text }
                | StreamEvent::ThinkingDelta { block, text }
                | StreamEvent::CallDelta { block, json: text } => pieces.entry(*block).or_default().push_str(text),
                StreamEvent::TextEnd { block }
                | StreamEvent::ThinkingEnd { block }
                | StreamEvent::CallEnd { block } => *ends.entry(*block).or_default() += 1,
                _ => {}
            }
        }
        for (index, block) in outcome.message().blocks.iter().enumerate() {
            let held = match block {
                Block::Text(text) => &text.text,
                Block::Thinking(thinking) => &thinking.text,
                Block::ToolCall(call) => call.arguments.text(),
                Block::Image(_) => "",
            };
            prop_assert_eq!(held, pieces.get(&index).map_or("", String::as_str));
        }
        prop_assert!(ends.values().all(|times| *times == 1));
        if matches!(outcome, Outcome::Done(_)) {
            prop_assert_eq!(ends.len(), outcome.message().blocks.len());
            prop_assert!(events.iter().any(|event| event.contains("stop_reason")));
        }
    }
}
