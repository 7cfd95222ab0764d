//! What was begun and not ended.

use jiff::Timestamp;
use mica_ai::User;
use mica_ai::message::{Block, ResultStatus};

use super::*;
use crate::line::tests::{answer, call};

fn entries(bodies: Vec<Body>) -> Vec<Entry> {
    let with_id = |(number, body)| {
        let mut bytes = [0; 16];
        bytes[15] = number;
        Entry { id: EntryId::from_bytes(bytes), parent: None, time: Timestamp::UNIX_EPOCH, body }
    };
    (0..).zip(bodies).map(with_id).collect()
}

fn said() -> Body {
    Message::from(User::text("go")).into()
}

fn asked() -> Body {
    answer(vec![Block::ToolCall(call("1")), Block::ToolCall(call("2"))]).into()
}

fn result(id: &str) -> Body {
    Message::from(call(id).result(Vec::new(), ResultStatus::Ok)).into()
}

fn run() -> RunId {
    "r".into()
}

#[test]
fn a_whole_run_is_finished() {
    let end = Body::RunEnd { run: run(), outcome: "completed".to_owned() };
    let turn = Body::TurnOpen { run: None };
    let branch = entries(vec![
        said(),
        Body::RunStart { run: run() },
        turn.clone(),
        asked(),
        result("2"),
        result("1"),
        turn,
        answer(Vec::new()).into(),
        end,
    ]);
    assert!(unfinished(&branch).is_nothing());
    assert!(unfinished(&[]).is_nothing());
}

#[test]
fn a_call_that_was_about_to_be_made_is_told() {
    let branch = entries(vec![Body::RunStart { run: run() }, said(), Body::TurnOpen { run: Some(run()) }]);
    let expect = Unfinished { run: Some(run()), turn: Some(branch[2].id), ..Unfinished::default() };
    assert_eq!(unfinished(&branch), expect);
}

#[test]
fn calls_that_the_conversation_left_behind_are_no_news() {
    assert!(unfinished(&entries(vec![said(), asked(), said()])).is_nothing());
}

#[test]
fn calls_without_results_are_told() {
    let branch = entries(vec![said(), Body::TurnOpen { run: None }, asked(), result("1")]);
    let expect = Unfinished { answer: Some(branch[2].id), calls: vec![call("2")], ..Unfinished::default() };
    assert_eq!(unfinished(&branch), expect);
}
