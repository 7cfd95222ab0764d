//! Conversations in, conversations out: written as short scripts, compared whole.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::arguments::Arguments;
use crate::message::{Image, ImageSource, Phase, Seal, TextKind, Thinking, ToolCall};
use crate::model::fixture::model;

fn origin(model: &str) -> Origin {
    Origin { dialect: Dialect::Messages, provider: "foundry".into(), model: model.into() }
}

fn user(text: &str) -> Message {
    Message::User(User { id: MessageId::from(format!("u:{text}")), content: vec![Content::text(text)] })
}

fn answer(from: &str, stop: StopReason, blocks: Vec<Block>) -> Message {
    let mut message = Assistant::empty(MessageId::from(format!("a:{}", blocks.len())), origin(from));
    message.blocks = blocks;
    message.stop = stop;
    Message::Assistant(message)
}

fn text(text: &str) -> Block {
    Block::Text(Text { text: text.into(), ..Text::default() })
}

fn call(id: &str) -> Block {
    Block::ToolCall(ToolCall { id: id.into(), name: "read".into(), arguments: Arguments::from_text("{}") })
}

fn thinking(words: &str, seal: Option<Seal>) -> Block {
    Block::Thinking(Thinking { text: words.into(), seal })
}

fn result(id: &str, words: &str) -> Message {
    Message::ToolResult(ToolResult {
        id: MessageId::from(format!("r:{id}:{words}")),
        call: id.into(),
        tool: "read".into(),
        content: vec![Content::text(words)],
        status: ResultStatus::Ok,
    })
}

/// A conversation as one line for each message, so that expectations are readable.
fn script(messages: &[Message]) -> Vec<String> {
    messages
        .iter()
        .map(|message| match message {
            Message::User(user) => format!("user {}", contents(&user.content)),
            Message::Assistant(assistant) => {
                let blocks: Vec<String> = assistant
                    .blocks
                    .iter()
                    .map(|block| match block {
                        Block::Text(text) => match (text.kind, text.phase) {
                            (TextKind::Answer, None) => format!("says {}", text.text.replace('\n', "¶")),
                            other => format!("says {} {other:?}", text.text),
                        },
                        Block::Thinking(thinking) => format!("thinks {} {:?}", thinking.text, thinking.seal),
                        Block::Image(_) => "image".to_owned(),
                        Block::ToolCall(call) => format!("calls {}", call.id),
                    })
                    .collect();
                blocks.join(" + ")
            }
            Message::ToolResult(result) => {
                format!("result {} {:?} {}", result.call, result.status, contents(&result.content))
            }
        })
        .collect()
}

fn contents(content: &[Content]) -> String {
    let parts: Vec<&str> = content
        .iter()
        .map(|part| match part {
            Content::Text { text } if text == UNANSWERED => "UNANSWERED",
            Content::Text { text } if text == IMAGE_LEFT_OUT => "IMAGE_LEFT_OUT",
            Content::Text { text } => text,
            Content::Image(_) => "image",
        })
        .collect();
    parts.join(" + ")
}

/// As [`normalise`], with messages of its own.
fn normalised(messages: &[Message], target: &Origin, model: &Model) -> Vec<Message> {
    normalise(messages, target, model).into_iter().map(Cow::into_owned).collect()
}

fn check(messages: &[Message], expected: &[&str]) {
    assert_eq!(script(&normalised(messages, &origin("here"), &model(Dialect::Messages))), expected);
}

#[test]
fn a_whole_conversation_is_left_as_it_is() {
    check(
        &[
            user("hi"),
            answer("here", StopReason::ToolUse, vec![text("ok"), call("c1"), call("c2")]),
            result("c1", "one"),
            result("c2", "two"),
            answer("here", StopReason::Stop, vec![text("done")]),
        ],
        &["user hi", "says ok + calls c1 + calls c2", "result c1 Ok one", "result c2 Ok two", "says done"],
    );
}

#[test]
fn what_fits_as_it_is_is_lent() {
    let messages = [
        user("hi"),
        user("nul\0"),
        answer("here", StopReason::ToolUse, vec![text("ok"), call("c1")]),
        result("c1", "one"),
        answer("here", StopReason::ToolUse, vec![call("c1")]),
        result("c1", "its call has another id by now"),
        answer("there", StopReason::Stop, vec![thinking("hm", Some(Seal::Signature("s".into())))]),
        answer(
            "here",
            StopReason::Stop,
            vec![thinking("hm", Some(Seal::Signature("s".into()))), text("yes")],
        ),
    ];
    let (here, model) = (origin("here"), model(Dialect::Messages));
    let out = normalise(&messages, &here, &model);
    let lent: Vec<bool> = out
        .iter()
        .zip(&messages)
        .map(|(out, message)| matches!(out, Cow::Borrowed(lent) if std::ptr::eq(*lent, message)))
        .collect();
    assert_eq!(lent, [true, false, true, true, false, false, false, true]);
}

#[test]
fn results_come_in_the_order_of_the_calls() {
    check(
        &[
            answer("here", StopReason::ToolUse, vec![call("c1"), call("c2")]),
            result("c2", "two"),
            result("c1", "one"),
        ],
        &["calls c1 + calls c2", "result c1 Ok one", "result c2 Ok two"],
    );
}

#[test]
fn a_call_without_a_result_is_answered_before_the_next_message() {
    check(
        &[
            answer("here", StopReason::ToolUse, vec![call("c1"), call("c2")]),
            result("c2", "two"),
            user("go on"),
            answer("here", StopReason::Stop, vec![text("fine")]),
        ],
        &[
            "calls c1 + calls c2",
            "result c1 Failed UNANSWERED",
            "result c2 Ok two",
            "user go on",
            "says fine",
        ],
    );
}

#[test]
fn a_conversation_that_ends_in_calls_is_settled_too() {
    check(
        &[answer("here", StopReason::ToolUse, vec![call("c1")])],
        &["calls c1", "result c1 Failed UNANSWERED"],
    );
}

#[test]
fn a_result_that_comes_after_a_user_message_still_counts() {
    check(
        &[answer("here", StopReason::ToolUse, vec![call("c1")]), user("also do this"), result("c1", "one")],
        &["calls c1", "result c1 Ok one", "user also do this"],
    );
}

#[test]
fn a_result_without_its_call_is_left_out_and_so_is_a_second_one() {
    check(
        &[
            result("c0", "lost"),
            answer("here", StopReason::ToolUse, vec![call("c1")]),
            result("c1", "one"),
            result("c1", "again"),
            user("next"),
            result("c1", "late"),
        ],
        &["calls c1", "result c1 Ok one", "user next"],
    );
}

#[test]
fn failed_and_cancelled_answers_go_with_their_results() {
    check(
        &[
            user("hi"),
            answer("here", StopReason::Error, vec![text("half"), call("c1")]),
            result("c1", "was not run"),
            answer("here", StopReason::Aborted, vec![text("cut")]),
            answer("here", StopReason::Length, vec![text("long")]),
        ],
        &["user hi", "says long"],
    );
}

#[test]
fn seals_go_back_only_where_they_came_from() {
    let blocks = || {
        vec![
            thinking("hm", Some(Seal::Signature("sig".into()))),
            thinking("", Some(Seal::Redacted("data".into()))),
            thinking("unsigned", None),
            thinking("  ", None),
            Block::Text(Text {
                text: "hello".into(),
                kind: TextKind::Answer,
                phase: Some(Phase::FinalAnswer),
            }),
        ]
    };
    check(
        &[answer("here", StopReason::Stop, blocks())],
        &["thinks hm Some(Signature(\"sig\")) + thinks  Some(Redacted(\"data\")) + says unsigned¶¶ + \
           says hello (Answer, Some(FinalAnswer))"],
    );
    check(&[answer("elsewhere", StopReason::Stop, blocks())], &["says hm¶¶ + says unsigned¶¶ + says hello"]);
}

#[test]
fn thoughts_that_led_to_nothing_are_left_out() {
    check(
        &[
            user("hi"),
            answer("here", StopReason::Length, vec![thinking("hm", Some(Seal::Signature("s".into())))]),
        ],
        &["user hi"],
    );
}

#[test]
fn ids_are_made_to_fit_and_stay_apart() {
    let long = "x".repeat(80);
    let messages = [
        answer("here", StopReason::ToolUse, vec![call("call|fc:1"), call("call|fc_1"), call(&long)]),
        result(&long, "long"),
        result("call|fc:1", "one"),
        answer("here", StopReason::ToolUse, vec![call("same")]),
        result("same", "first"),
        answer("here", StopReason::ToolUse, vec![call("same")]),
        result("same", "second"),
    ];
    let out = normalised(&messages, &origin("here"), &model(Dialect::Messages));
    let mut seen = HashSet::new();
    for message in &out {
        if let Message::Assistant(assistant) = message {
            for call in assistant.calls() {
                let id = call.id.as_str();
                assert!(
                    id.len() <= 64 && id.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)),
                    "{id}"
                );
                assert!(seen.insert(id.to_owned()), "{id} is there twice");
            }
        }
    }
    assert_eq!(
        script(&out)
            .iter()
            .filter(|line| line.starts_with("result"))
            .map(|line| line.split(' ').nth(3).unwrap())
            .collect::<Vec<_>>(),
        ["one", "UNANSWERED", "long", "first", "second"],
    );
    // Again: what was made to fit is left alone the second time.
    let mut again = out.clone();
    again = normalised(&again, &origin("here"), &model(Dialect::Messages));
    assert_eq!(script(&again), script(&out));
}

#[test]
fn a_picture_a_model_made_is_mentioned() {
    let picture = Image { media_type: "image/png".into(), source: ImageSource::Base64("AA".into()) };
    check(
        &[answer("here", StopReason::Stop, vec![Block::Image(picture)])],
        &["says [Made an image (image/png).]¶¶"],
    );
}

#[test]
fn images_are_described_to_models_that_cannot_see() {
    let image =
        Content::Image(Image { media_type: "image/png".into(), source: ImageSource::Base64("AA".into()) });
    let messages = [Message::User(User { id: "u".into(), content: vec![Content::text("look"), image] })];
    let mut blind = model(Dialect::Messages);
    blind.images = false;
    assert_eq!(script(&normalised(&messages, &origin("here"), &blind)), ["user look + IMAGE_LEFT_OUT"]);
    check(&messages, &["user look + image"]);
}

#[test]
fn characters_that_providers_refuse_are_removed() {
    check(&[user("a\0b\u{FFFF}c"), user("\0")], &["user abc"]);
    assert!(matches!(clean("plain"), std::borrow::Cow::Borrowed("plain")));
}

#[test]
fn reasoning_can_be_left_out_whole() {
    let messages = [answer(
        "here",
        StopReason::Stop,
        vec![thinking("hm", Some(Seal::Encrypted("e".into()))), text("yes")],
    )];
    assert_eq!(script(&without_reasoning(&messages)), ["says yes"]);
}

/// Any mixture of messages, with few ids so that they collide.
pub(crate) fn conversations() -> impl Strategy<Value = Vec<Message>> {
    let stop = prop_oneof![
        Just(StopReason::Stop),
        Just(StopReason::ToolUse),
        Just(StopReason::Error),
        Just(StopReason::Length),
    ];
    let block = prop_oneof![
        "[a-c ]{0,3}".prop_map(|words| text(&words)),
        "[a-c|]{1,2}".prop_map(|id| call(&id)),
        Just(thinking("hm", Some(Seal::Signature("s".into())))),
    ];
    let message = prop_oneof![
        "[a-c]{0,2}".prop_map(|words| user(&words)),
        (prop_oneof![Just("here"), Just("there")], stop, prop::collection::vec(block, 0..4))
            .prop_map(|(from, stop, blocks)| answer(from, stop, blocks)),
        ("[a-c|]{1,2}", "[a-z]{1,3}").prop_map(|(id, words)| result(&id, &words)),
    ];
    prop::collection::vec(message, 0..12)
}

proptest! {
    #[test]
    fn calls_and_results_are_always_paired(messages in conversations()) {
        let out = normalised(&messages, &origin("here"), &model(Dialect::Messages));
        let mut expected: Vec<CallId> = Vec::new();
        for message in &out {
            match message {
                Message::ToolResult(result) => {
                    prop_assert!(!expected.is_empty());
                    prop_assert_eq!(&expected.remove(0), &result.call);
                }
                other => {
                    prop_assert!(expected.is_empty(), "a call was not answered before the next message");
                    if let Message::Assistant(assistant) = other {
                        prop_assert!(!assistant.blocks.is_empty());
                        expected = assistant.calls().map(|call| call.id.clone()).collect();
                    }
                }
            }
        }
        prop_assert!(expected.is_empty());
    }

    #[test]
    fn normalising_twice_is_normalising_once(messages in conversations()) {
        let once = normalised(&messages, &origin("here"), &model(Dialect::Messages));
        let twice = normalised(&once, &origin("here"), &model(Dialect::Messages));
        prop_assert_eq!(once, twice);
    }

    /// A message that is lent must be one that fits: sent alone behind its predecessors it comes out the same.
    #[test]
    fn appending_only_appends(messages in conversations(), more in conversations()) {
        let (here, model) = (origin("here"), model(Dialect::Messages));
        // Up to the last message before which nothing waits for a result.
        let mut before = normalised(&messages, &here, &model);
        while matches!(before.last(), Some(Message::ToolResult(_) | Message::User(_))) {
            before.pop();
        }
        let all: Vec<Message> = messages.iter().chain(&more).cloned().collect();
        let after = normalised(&all, &here, &model);
        prop_assert_eq!(&before[..], &after[..before.len()]);
    }
}
