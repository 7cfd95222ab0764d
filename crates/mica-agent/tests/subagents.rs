//! What an agent offers those who send others: events in one order, calls that do less, words about what was left.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{EventKind, Hooks};
use mica_ai::message::ToolCall;
use serde_json::json;
use support::{Rig, calls, ended, says};

/// Two at work at once: the events of both are told, in the order of their numbers and without gaps.
#[tokio::test]
async fn what_happens_in_another_agent_is_told_among_the_rest() {
    let parent = Rig::new([calls([("a", "look", json!({ "ms": 20 }))]), says("Done.")]);
    let child = Rig::new([calls([("b", "look", json!({ "ms": 5 }))]), says("Found.")]);
    child.agent.listen(parent.agent.relay().of("explore-1"));
    let (one, other) = tokio::join!(parent.prompt("Go."), child.prompt("Look."));
    assert_eq!((ended(&one), ended(&other)), ("completed".to_owned(), "completed".to_owned()));
    let events = parent.events();
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
    let theirs: Vec<&EventKind> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Subagent { agent, event } if agent == "explore-1" => Some(&**event),
            _ => None,
        })
        .collect();
    let own = child.events();
    let told = |kind: &EventKind| support::told(kind);
    assert_eq!(
        theirs.iter().map(|kind| told(kind)).collect::<Vec<_>>(),
        own.iter().map(|event| told(&event.kind)).collect::<Vec<_>>()
    );
    let run = &own[0].run;
    let relayed = events.iter().filter(|event| matches!(event.kind, EventKind::Subagent { .. }));
    assert!(relayed.into_iter().all(|event| event.run == *run), "they have the run that they are of");
}

#[tokio::test]
async fn nobody_is_kept_alive_to_be_told() {
    let child = Rig::new([says("Alone.")]);
    let relay = {
        let model = mica_testkit::ScriptedModel::new(mica_testkit::Scenario::new());
        let gone = mica_agent::Agent::new(
            support::context(Arc::new(model), &support::Journal::default()),
            Vec::new(),
        );
        gone.relay()
    };
    child.agent.listen(relay.of("explore-1"));
    assert_eq!(ended(&child.prompt("Look.").await), "completed");
}

/// Two calls of a tool that changes things run one after the other, unless they say that they only look.
#[tokio::test(start_paused = true)]
async fn a_call_may_do_less_than_its_tool() {
    let looks = |ms: u64| json!({ "ms": ms, "only_looks": true });
    let rig = Rig::new([
        calls([("a", "change", looks(50)), ("b", "change", looks(50)), ("c", "change", json!({ "ms": 50 }))]),
        says("Done."),
    ]);
    rig.prompt("Go.").await;
    let at = |call: &str, from, to| (call.to_owned(), from, Some(to));
    assert_eq!(rig.times(), [at("a", 0, 50), at("b", 0, 50), at("c", 50, 100)]);
}

struct Knows;

#[async_trait]
impl Hooks for Knows {
    fn left(&self, call: &ToolCall) -> Option<String> {
        match call.id.as_str() {
            "a" => Some("It can go on.".to_owned()),
            "b" => panic!("nobody knows"),
            _ => None,
        }
    }
}

#[tokio::test]
async fn whoever_knows_what_became_of_a_call_says_so() {
    let asks = [("a", "risky", json!({})), ("b", "risky", json!({})), ("c", "risky", json!({}))];
    let rig = Rig::with([calls(asks), says("I see.")], vec![Arc::new(Knows)]);
    assert_eq!(ended(&rig.prompt("Go.").await), "suspended a b c");
    rig.prompt("Never mind.").await;
    let declined = "Not run: the person was asked whether it may run, and said something else instead.";
    assert_eq!(
        rig.said().await[2..5],
        [
            "result a failed: It can go on.".to_owned(),
            format!("result b failed: {declined}"),
            format!("result c failed: {declined}"),
        ]
    );
}
