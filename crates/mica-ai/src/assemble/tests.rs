//! The rules that hold on every wire.

use super::*;
use crate::id::MessageId;
use crate::message::{Dialect, Origin};
use crate::model::fixture::model;

fn assembler() -> Assembler {
    let origin = Origin { dialect: Dialect::Chat, provider: "p".into(), model: "m".into() };
    let message = Assistant::empty(MessageId::from("0198c0de-aaaa-7000-8000-0123456789ab"), origin);
    Assembler::new(message, Arc::new(model(Dialect::Chat)))
}

fn kinds(out: &mut Assembler) -> Vec<String> {
    out.events()
        .drain(..)
        .map(|event| match event {
            StreamEvent::TextDelta { text, .. } | StreamEvent::ThinkingDelta { text, .. } => {
                format!("+{text}")
            }
            StreamEvent::CallDelta { json, .. } => format!("+{json}"),
            other => serde_json::to_value(other).unwrap()["type"].as_str().unwrap().to_owned(),
        })
        .collect()
}

#[test]
fn a_closed_block_takes_nothing_more_and_is_closed_once() {
    let mut out = assembler();
    let block = out.open_text(TextKind::Answer);
    out.feed(block, "a");
    out.feed(block, "");
    out.close(block);
    out.close(block);
    out.feed(block, "b");
    out.settle(block, "abc");
    assert_eq!(kinds(&mut out), ["start", "text_start", "+a", "text_end"]);
    assert_eq!(out.finish().text(), "a");
}

#[test]
fn settling_adds_what_is_missing_and_corrects_what_was_wrong() {
    let mut out = assembler();
    let right = out.open_call("c1", "read");
    out.feed(right, "{\"a\"");
    out.settle(right, "{\"a\":1}");
    let wrong = out.open_call("c2", "read");
    out.feed(wrong, "{\"x\"");
    out.settle(wrong, "{\"y\":1}");
    out.settle(wrong, "");
    assert_eq!(kinds(&mut out), ["start", "call_start", "+{\"a\"", "+:1}", "call_start", "+{\"x\""]);
    let message = out.finish();
    let arguments: Vec<&str> = message.calls().map(|call| call.arguments.text()).collect();
    assert_eq!(arguments, ["{\"a\":1}", "{\"y\":1}"]);
}

#[test]
fn missing_and_repeated_call_ids_are_replaced() {
    let mut out = assembler();
    for id in ["", "call_0", "call_0", ""] {
        out.open_call(id, "read");
    }
    let message = out.finish();
    let ids: Vec<&str> = message.calls().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_0123456789ab_0", "call_0", "call_0_0123456789ab_2", "call_0123456789ab_3"]);
}

#[test]
fn the_stop_reason_fits_what_the_message_holds() {
    for (said, calls, stop) in [
        (StopReason::Stop, true, StopReason::ToolUse),
        (StopReason::ToolUse, false, StopReason::Stop),
        (StopReason::Length, true, StopReason::Length),
        (StopReason::Refusal, false, StopReason::Refusal),
    ] {
        let mut out = assembler();
        if calls {
            out.open_call("c", "read");
        }
        out.stop(said, None);
        assert_eq!(out.finish().stop, stop, "{said:?}");
    }
}

#[test]
fn a_message_that_was_never_ended_counts_as_aborted() {
    assert_eq!(assembler().finish().stop, StopReason::Aborted);
}

#[test]
fn usage_is_priced_and_told_when_it_changes() {
    let mut out = assembler();
    let usage = Usage { input: 1_000_000, ..Usage::default() };
    out.usage(usage);
    out.usage(usage);
    out.usage(Usage { output: 1_000_000, ..usage });
    assert_eq!(kinds(&mut out), ["start", "usage", "usage"]);
    assert_eq!(out.finish().usage.cost.unwrap().total().dollars(), 12.0);
}

#[test]
fn signatures_come_in_pieces_and_seals_come_late() {
    let mut out = assembler();
    let signed = out.open_thinking();
    out.sign(signed, "ab");
    out.sign(signed, "cd");
    let sealed = out.open_thinking();
    out.close(sealed);
    out.seal(sealed, Seal::Encrypted("e".into()));
    let seals: Vec<Option<Seal>> = out
        .finish()
        .blocks
        .into_iter()
        .map(|block| match block {
            Block::Thinking(thinking) => thinking.seal,
            _ => None,
        })
        .collect();
    assert_eq!(seals, [Some(Seal::Signature("abcd".into())), Some(Seal::Encrypted("e".into()))]);
}
