//! Turns, blocks, tool results and pictures.

use serde_json::{Value, json};

use super::{answer, built, call, check, png, request, result, said, said_all, thought, tool, words};
use crate::dialect::messages::request::conversation::Conversation;
use crate::message::{Block, Content, Image, ImageSource, Message, ResultStatus, Seal};
use crate::model::Effort;
use crate::request::Request;

/// The `messages` member. Not by way of a request: normalisation would correct most of what is tried here.
fn messages(messages: &[Message]) -> Value {
    let lent: Vec<_> = messages.iter().map(std::borrow::Cow::Borrowed).collect();
    Conversation::new(&lent).into_json().to_value()
}

/// The content of the last assistant message when it has these blocks.
fn answered(blocks: Vec<Block>) -> Value {
    messages(&[said("u1", "Hello"), answer("a1", blocks), said("u2", "Go on")])[1]["content"].clone()
}

#[test]
fn a_tool_loop_with_signed_hidden_and_redacted_thinking() {
    let mut request = request(
        "adaptive",
        vec![
            said("u1", "Is it up?"),
            answer(
                "a1",
                vec![
                    thought("I should look.", Some(Seal::Signature("sigA".into()))),
                    thought("", Some(Seal::Redacted("EmwKAhgB".into()))),
                    thought("", Some(Seal::Signature("sigB".into()))),
                    words("Looking.\n\n"),
                    call("t1", "read", r#"{"at": "status"}"#),
                ],
            ),
            result("r1", "t1", vec![Content::text("up")], ResultStatus::Ok),
        ],
    );
    request.effort = Some(Effort::High);
    request.tools = vec![tool("read")].into();
    check("tool_loop_thinking", &request);
}

#[test]
fn parallel_calls_have_their_results_merged_first_and_in_order() {
    let request = request(
        "none",
        vec![
            said("u1", "Compare."),
            answer(
                "a1",
                vec![
                    call("t1", "read", r#"{"at":"a"}"#),
                    call("t2", "read", r#"{"at":"b"}"#),
                    call("t3", "read", r#"{"at":"c"}"#),
                ],
            ),
            result("r3", "t3", vec![Content::text("C")], ResultStatus::Ok),
            result("r1", "t1", vec![Content::text("A"), Content::text("  ")], ResultStatus::Ok),
            result("r2", "t2", vec![Content::text("no such file")], ResultStatus::Failed),
            said("u2", "Hurry."),
            said("u3", "Please."),
        ],
    );
    check("parallel_results", &request);
}

#[test]
fn words_between_results_follow_them() {
    let text = |text: &str| json!({ "type": "text", "text": text });
    assert_eq!(
        messages(&[
            said("u1", "Compare."),
            answer("a1", vec![call("t1", "read", "{}"), call("t2", "read", "{}")]),
            said("u2", "Hurry."),
            result("r2", "t2", vec![Content::text("B")], ResultStatus::Ok),
            said("u3", "Please."),
            result("r1", "t1", vec![Content::text("A")], ResultStatus::Ok),
        ])[2]["content"],
        json!([
            { "type": "tool_result", "tool_use_id": "t1", "content": [text("A")] },
            { "type": "tool_result", "tool_use_id": "t2", "content": [text("B")] },
            text("Hurry."),
            text("Please."),
        ])
    );
}

#[test]
fn pictures_by_value_and_by_address() {
    let by_url = Content::Image(Image {
        media_type: "image/jpeg".into(),
        source: ImageSource::Url("https://example.org/cat.jpg".into()),
    });
    let request = request(
        "none",
        vec![
            said_all("u1", vec![Content::text("What is this?"), png(), by_url]),
            answer("a1", vec![call("t1", "shot", "{}"), call("t2", "shot", "{}")]),
            result("r1", "t1", vec![Content::text("Half of it:"), png()], ResultStatus::Failed),
            result("r2", "t2", vec![png()], ResultStatus::Ok),
            said("u2", "Well?"),
        ],
    );
    check("images", &request);
}

#[test]
fn results_without_content_say_so() {
    let empty = |status| {
        messages(&[
            said("u1", "Hello"),
            answer("a1", vec![call("t1", "read", "{}")]),
            result("r1", "t1", vec![Content::text("\n")], status),
        ])[2]["content"][0]
            .clone()
    };
    let content = json!([{ "type": "text", "text": "(no output)" }]);
    assert_eq!(
        empty(ResultStatus::Ok),
        json!({ "type": "tool_result", "tool_use_id": "t1", "content": content })
    );
    assert_eq!(
        empty(ResultStatus::Failed),
        json!({ "type": "tool_result", "tool_use_id": "t1", "content": content, "is_error": true })
    );
}

#[test]
fn arguments_are_always_an_object() {
    for (written, sent) in [
        (r#"{"b":1.0,"a":[null]}"#, json!({ "b": 1.0, "a": [null] })),
        ("", json!({})),
        (r#"{"path":"half"#, json!({ "not_valid_json": "{\"path\":\"half" })),
        ("[1]", json!({ "not_valid_json": "[1]" })),
    ] {
        assert_eq!(answered(vec![call("t1", "read", written)])[0]["input"], sent, "{written}");
    }
}

#[test]
fn thinking_without_a_seal_of_this_wire_is_text() {
    for seal in [None, Some(Seal::Open), Some(Seal::Signature(String::new()))] {
        assert_eq!(
            answered(vec![thought("Hm.", seal), words("Yes.")]),
            json!([{ "type": "text", "text": "Hm." }, { "type": "text", "text": "Yes." }])
        );
    }
    assert_eq!(
        answered(vec![thought("", Some(Seal::Encrypted("gAAA".into()))), words("Yes.")]),
        json!([{ "type": "text", "text": "Yes." }])
    );
}

#[test]
fn trailing_space_is_cut_from_every_answer() {
    assert_eq!(
        answered(vec![words(" One. "), words("\n"), words("Two. \n")]),
        json!([{ "type": "text", "text": " One. " }, { "type": "text", "text": "Two." }])
    );
}

#[test]
fn the_user_comes_first() {
    assert_eq!(
        messages(&[answer("a1", vec![words("Welcome!")]), said("u1", "Hello")]),
        json!([
            { "role": "user", "content": [{ "type": "text", "text": "(The assistant speaks first.)" }] },
            { "role": "assistant", "content": [{ "type": "text", "text": "Welcome!" }] },
            { "role": "user", "content": [{ "type": "text", "text": "Hello" }] },
        ])
    );
}

#[test]
fn messages_that_say_nothing_are_dropped_and_their_neighbours_joined() {
    assert_eq!(
        messages(&[
            said("u1", "Hello"),
            answer("a1", vec![words(" ")]),
            said("u2", "Are you there?"),
            answer("a2", vec![words("Yes, ")]),
            said("u3", ""),
            answer("a3", vec![words("I am.")]),
        ]),
        json!([
            { "role": "user", "content": [
                { "type": "text", "text": "Hello" }, { "type": "text", "text": "Are you there?" },
            ] },
            { "role": "assistant", "content": [
                { "type": "text", "text": "Yes," }, { "type": "text", "text": "I am." },
            ] },
        ])
    );
}

#[test]
fn pictures_a_model_made_leave_a_word() {
    let Content::Image(image) = png() else { panic!("not an image") };
    assert_eq!(answered(vec![Block::Image(image)]), json!([{ "type": "text", "text": "(a picture)" }]));
}

/// Promise: the window only grows at the end.
#[test]
fn a_turn_begins_with_the_turn_before_it() {
    let whole = [
        said("u1", "Compare a and b."),
        answer(
            "a1",
            vec![
                thought("Both.", Some(Seal::Signature("sigA".into()))),
                words("Reading. "),
                call("t1", "read", r#"{"at":"a"}"#),
                call("t2", "read", r#"{"at":"b"}"#),
            ],
        ),
        result("r1", "t1", vec![Content::text("A")], ResultStatus::Ok),
        result("r2", "t2", vec![], ResultStatus::Failed),
        said("u2", "And c."),
        answer("a2", vec![words("They differ.\n")]),
        said("u3", "How?"),
        said("u4", "Briefly."),
    ];
    // The conversation as it stood at each model call, and once inside a user's turn.
    let cuts = [1, 4, 5, 6, 7, 8];
    let bodies: Vec<String> = cuts
        .iter()
        .map(|cut| {
            let mut turn: Request = request("adaptive", whole[..*cut].to_vec());
            turn.tools = vec![tool("read")].into();
            turn.system = vec!["You are mica.".into()];
            turn.effort = Some(Effort::Low);
            turn.cache.marks = vec![super::mark(super::on_message("u1"), super::CacheTtl::Short)];
            built(&turn).to_string()
        })
        .collect();
    for pair in bodies.windows(2) {
        let before = pair[0].strip_suffix("]}]}").unwrap();
        assert!(pair[1].starts_with(before), "{}\n{}", pair[0], pair[1]);
    }
}
