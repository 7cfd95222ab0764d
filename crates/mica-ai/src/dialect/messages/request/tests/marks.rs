//! Cache marks.

use serde_json::{Value, json};

use super::{
    answer, built, call, check, mark, on_message, png, refusal, request, result, said, said_all, thought,
    tool, with_model, words,
};
use crate::message::{Content, Message, ResultStatus, Seal};
use crate::request::{CacheMark, CachePoint, CacheTtl, Request};

use CacheTtl::{Long, Short};

fn conversation() -> Vec<Message> {
    vec![
        said("u1", "Compare."),
        answer("a1", vec![words("Reading."), call("t1", "read", "{}"), call("t2", "read", "{}")]),
        result("r2", "t2", vec![Content::text("B")], ResultStatus::Ok),
        result("r1", "t1", vec![Content::text("A"), png()], ResultStatus::Ok),
        said_all("u2", vec![Content::text("Well?"), png(), Content::text(" ")]),
    ]
}

fn planned(messages: Vec<Message>, marks: Vec<CacheMark>) -> Request {
    let mut request = request("none", messages);
    request.tools = vec![tool("read"), tool("write")].into();
    request.system = vec!["Static.".into(), "Org.".into()];
    request.cache.marks = marks;
    request
}

/// Where marks are in a body, as JSON pointers, with their lifetime.
fn places(body: &Value) -> Vec<(String, &'static str)> {
    fn walk(value: &Value, at: &str, found: &mut Vec<(String, &'static str)>) {
        match value {
            Value::Object(members) => {
                for (key, value) in members {
                    if key == "cache_control" {
                        found.push((at.to_owned(), if value.get("ttl").is_some() { "1h" } else { "5m" }));
                    }
                    walk(value, &format!("{at}/{key}"), found);
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    walk(value, &format!("{at}/{index}"), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(body, "", &mut found);
    found
}

/// The one place a point falls on.
fn place(messages: Vec<Message>, at: CachePoint) -> String {
    let body = built(&planned(messages, vec![mark(at, Short)]));
    let found = places(&body);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].0.clone()
}

#[test]
fn tiers_and_a_moving_mark() {
    check(
        "system_tiers_marked",
        &planned(
            vec![said("u1", "Hello")],
            vec![
                mark(CachePoint::Tools, Long),
                mark(CachePoint::System(0), Long),
                mark(CachePoint::System(1), Short),
                mark(on_message("u1"), Short),
            ],
        ),
    );
}

#[test]
fn each_point_falls_on_its_block() {
    for (at, block) in [
        (CachePoint::Tools, "/tools/1"),
        (CachePoint::System(0), "/system/0"),
        (CachePoint::System(1), "/system/1"),
        (on_message("u1"), "/messages/0/content/0"),
        (on_message("a1"), "/messages/1/content/2"),
        // Results are sent in the order of their calls: the mark stays on its own.
        (on_message("r2"), "/messages/2/content/1"),
        (on_message("r1"), "/messages/2/content/0"),
        (on_message("u2"), "/messages/2/content/3"),
    ] {
        assert_eq!(place(conversation(), at.clone()), block, "{at:?}");
    }
}

#[test]
fn thinking_is_never_marked() {
    let sealed = || thought("Hm.", Some(Seal::Signature("s".into())));
    let trailing =
        vec![said("u1", "Hello"), answer("a1", vec![words("Yes."), sealed()]), said("u2", "Go on")];
    assert_eq!(place(trailing, on_message("a1")), "/messages/1/content/0");
    let only = vec![said("u1", "Hello"), answer("a1", vec![sealed()]), said("u2", "Go on")];
    assert_eq!(place(only, on_message("a1")), "/messages/0/content/0");
}

#[test]
fn a_point_that_is_not_sent_moves_to_what_comes_before_it() {
    let dropped =
        vec![said("u0", " "), said("u1", "Hello"), answer("a1", vec![words("\n")]), said("u2", "Go on")];
    assert_eq!(place(dropped.clone(), on_message("a1")), "/messages/0/content/0");
    assert_eq!(place(dropped.clone(), on_message("u0")), "/system/1");
    let mut plan = planned(dropped, vec![mark(on_message("u0"), Short), mark(CachePoint::System(0), Short)]);
    plan.system = vec![" ".into(), String::new()];
    assert_eq!(places(&built(&plan)), [("/tools/1".to_owned(), "5m")]);
    plan.tools = std::sync::Arc::default();
    assert_eq!(places(&built(&plan)), [], "nothing comes before it, so there is nothing to cache");
}

#[test]
fn points_that_fall_together_keep_the_longer_life() {
    let mut plan = planned(
        vec![said("u1", "Hello")],
        vec![mark(CachePoint::System(0), Short), mark(CachePoint::System(1), Long)],
    );
    plan.system[1].clear();
    assert_eq!(places(&built(&plan)), [("/system/0".to_owned(), "1h")]);
}

#[test]
fn a_long_life_where_there_is_one() {
    let plan = planned(vec![said("u1", "Hello")], vec![mark(CachePoint::Tools, Long)]);
    let short_only = with_model(plan.clone(), |model| model.cache.ttl_minutes = vec![5]);
    assert_eq!(places(&built(&short_only)), [("/tools/1".to_owned(), "5m")]);
    let unknown = with_model(plan, |model| model.cache.ttl_minutes.clear());
    assert_eq!(places(&built(&unknown)), [("/tools/1".to_owned(), "1h")]);
}

#[test]
fn too_many_marks_are_refused() {
    let marks = vec![mark(CachePoint::Tools, Short); 5];
    assert_eq!(
        refusal(&planned(conversation(), marks)),
        "the cache plan has 5 marks, and claude-test takes at most 4: leave some out"
    );
}

#[test]
fn a_short_life_before_a_long_one_is_refused() {
    let marks = vec![mark(CachePoint::System(0), Short), mark(on_message("u1"), Long)];
    let words = "the cache plan has a short-lived mark before a long-lived one: put the long-lived marks first, in the \
                 order tools, system, messages, or make the later ones short-lived";
    assert_eq!(refusal(&planned(conversation(), marks.clone())), words);
    // What counts is the order of the request, not of the list.
    let listed_backwards = marks.into_iter().rev().collect();
    assert_eq!(refusal(&planned(conversation(), listed_backwards)), words);
    let fine = vec![mark(on_message("u1"), Short), mark(CachePoint::System(0), Long)];
    assert_eq!(
        json!(places(&built(&planned(conversation(), fine)))),
        json!([["/system/0", "1h"], ["/messages/0/content/0", "5m"]])
    );
}

#[test]
fn points_outside_the_request_are_refused() {
    assert_eq!(
        refusal(&planned(conversation(), vec![mark(CachePoint::System(2), Short)])),
        "a cache mark is on part 2 of the system prompt, which has 2 parts: count from 0"
    );
    assert_eq!(
        refusal(&planned(conversation(), vec![mark(on_message("gone"), Short)])),
        "a cache mark is on message gone, which is not in the request: use the id of one that is"
    );
}
