//! Where marks go, model by model.

use std::sync::Arc;

use mica_ai::message::{ResultStatus, ToolCall};
use mica_ai::model::{CacheFacts, Model};
use mica_ai::{Assistant, Block, Content, Dialect, Origin, User};

use super::*;

fn model(kind: CacheKind) -> Model {
    let mut model = Model::assumed("m", Dialect::Messages);
    model.cache = CacheFacts { kind, minimum: 1024, max_marks: 4, lookback: 20, ttl_minutes: vec![5, 60] };
    model
}

fn long(words: usize) -> String {
    "word ".repeat(words)
}

/// A request of so many turns, each with so many calls; its messages are named `u`, `a0`, `r0.0` and so on.
fn request(kind: CacheKind, turns: usize, calls: usize) -> Request {
    let mut request = Request::new(Arc::new(model(kind)));
    request.system = vec![long(2_000), long(500)];
    request.messages.push(Message::User(User { id: "u".into(), content: vec![Content::text(long(100))] }));
    for turn in 0..turns {
        let origin = Origin { dialect: Dialect::Messages, provider: "p".into(), model: "m".into() };
        let mut answer = Assistant::empty(format!("a{turn}").as_str().into(), origin);
        answer.stop = StopReason::ToolUse;
        let made: Vec<ToolCall> = (0..calls)
            .map(|call| ToolCall {
                id: format!("c{turn}.{call}").as_str().into(),
                name: "read".into(),
                arguments: mica_ai::arguments::Arguments::from_text("{}"),
            })
            .collect();
        answer.blocks = made.iter().cloned().map(Block::ToolCall).collect();
        request.messages.push(answer.into());
        for (call, made) in made.iter().enumerate() {
            let mut result = made.result(vec![Content::text(long(50))], ResultStatus::Ok);
            result.id = format!("r{turn}.{call}").as_str().into();
            request.messages.push(result.into());
        }
    }
    request
}

fn planned(request: &Request, settings: MarkSettings) -> Vec<CacheMark> {
    plan(request, &Measure::of(request), settings)
}

fn shown(marks: &[CacheMark]) -> Vec<String> {
    marks
        .iter()
        .map(|mark| {
            let long = if mark.ttl == CacheTtl::Long { " 1h" } else { "" };
            match &mark.at {
                CachePoint::Tools => format!("tools{long}"),
                CachePoint::System(part) => format!("system {part}{long}"),
                CachePoint::Message(id) => format!("{id}{long}"),
            }
        })
        .collect()
}

#[test]
fn the_first_request_marks_its_parts_and_its_tail() {
    for kind in [CacheKind::Marks, CacheKind::Breakpoints] {
        assert_eq!(
            shown(&planned(&request(kind, 0, 0), MarkSettings::default())),
            ["system 0", "system 1", "u"]
        );
    }
}

#[test]
fn later_ones_mark_the_tail_before_again() {
    for kind in [CacheKind::Marks, CacheKind::Breakpoints] {
        let marks = planned(&request(kind, 2, 1), MarkSettings::default());
        assert_eq!(shown(&marks), ["system 0", "system 1", "r0.0", "r1.0"]);
        // Thirty calls at once leave the tail before sixty blocks behind: far out of anybody's search.
        let marks = planned(&request(kind, 2, 30), MarkSettings::default());
        assert_eq!(shown(&marks), ["system 0", "system 1", "r0.29", "r1.29"]);
    }
}

#[test]
fn a_mark_that_is_left_over_is_near_the_tail() {
    let mut request = request(CacheKind::Marks, 3, 3);
    request.system = vec![long(2_000)];
    // Five blocks make a turn of three calls and their results; fifteen blocks before the tail is in the turn before.
    assert_eq!(
        shown(&planned(&request, MarkSettings::default())),
        ["system 0", "r0.0", "r1.2", "r2.2"],
        "the earliest within fifteen blocks"
    );
}

#[test]
fn no_mark_is_wasted_below_the_minimum() {
    let mut small = request(CacheKind::Marks, 0, 0);
    small.system = vec![long(100), long(2_000)];
    assert_eq!(shown(&planned(&small, MarkSettings::default())), ["system 1", "u"]);
    small.system = vec![long(10)];
    assert_eq!(shown(&planned(&small, MarkSettings::default())), [""; 0]);
}

#[test]
fn long_lives_come_first_and_only_where_there_are_two() {
    let settings = MarkSettings { prefix: CacheTtl::Long };
    let mut request = request(CacheKind::Marks, 1, 1);
    assert_eq!(shown(&planned(&request, settings)), ["system 0 1h", "system 1 1h", "u", "r0.0"]);
    let mut one = model(CacheKind::Marks);
    one.cache.ttl_minutes = vec![30];
    request.model = Arc::new(one);
    assert_eq!(shown(&planned(&request, settings)), ["system 0", "system 1", "u", "r0.0"]);
}

#[test]
fn fewer_slots_go_to_the_tail_first() {
    let mut request = request(CacheKind::Marks, 2, 1);
    let mut one = model(CacheKind::Marks);
    one.cache.max_marks = 2;
    request.model = Arc::new(one);
    assert_eq!(shown(&planned(&request, MarkSettings::default())), ["r0.0", "r1.0"]);
}

#[test]
fn others_get_none() {
    for kind in [CacheKind::None, CacheKind::Prefix] {
        assert_eq!(planned(&request(kind, 2, 2), MarkSettings::default()), []);
    }
}

#[test]
fn a_failed_answer_is_no_answer_and_an_aside_writes_nothing_new() {
    let mut request = request(CacheKind::Breakpoints, 2, 1);
    if let Some(Message::Assistant(answer)) = request.messages.get_mut(3) {
        answer.stop = StopReason::Error;
    }
    assert_eq!(previous_tail(&request.messages), Some(0));
    request.messages.push(User::text("Summarise.").into());
    assert_eq!(shown(&plan_aside(&request, MarkSettings::default())), ["system 0", "system 1", "u"]);
}
