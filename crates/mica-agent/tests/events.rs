//! What is told, in which order: exact lists for ordinary runs, steering and follow-ups.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mica_agent::queue::Take;
use mica_agent::{Event, EventKind, Listener};
use serde_json::json;
use support::{Rig, calls, ended, says, told};

#[tokio::test(start_paused = true)]
async fn a_plain_answer() {
    let rig = Rig::new([says("Hello there, you.")]);
    assert_eq!(ended(&rig.prompt("Hi.").await), "completed");
    let all: Vec<String> = rig.events().iter().map(|event| told(&event.kind)).collect();
    assert_eq!(
        all,
        [
            "run_start",
            "turn_start 1",
            "user: Hi.",
            "answer_start",
            "delta start",
            "delta text_start",
            "delta Hello there,",
            "delta  you.",
            "delta text_end",
            "delta usage",
            "answer_end stop",
            "usage",
            "turn_end 1",
            "run_end completed",
        ]
    );
    assert_eq!(rig.said().await, ["user: Hi.", "assistant: Hello there, you. []"]);
}

/// Hears of messages only.
#[derive(Default)]
struct Scribe(Mutex<Vec<String>>);

#[async_trait]
impl Listener for Scribe {
    async fn event(&self, event: Event) {
        self.0.lock().unwrap().push(told(&event.kind));
    }

    fn hears(&self, kind: &EventKind) -> bool {
        matches!(kind, EventKind::Message { .. })
    }
}

#[tokio::test(start_paused = true)]
async fn a_listener_gets_what_it_hears_and_others_get_all() {
    let rig = Rig::new([calls([("a", "look", json!({ "say": "seen" }))]), says("Done.")]);
    let scribe = Arc::new(Scribe::default());
    rig.agent.listen(scribe.clone());
    rig.prompt("Look.").await;
    assert_eq!(*scribe.0.lock().unwrap(), ["user: Look.", "result a ok: seen"]);
    let numbers: Vec<u64> = rig.events().iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (numbers[0]..numbers[0] + numbers.len() as u64).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn one_call() {
    let args = json!({ "say": "seen", "news": "half" });
    let rig = Rig::new([calls([("a", "look", args)]), says("Done.")]);
    assert_eq!(ended(&rig.prompt("Look.").await), "completed");
    assert_eq!(
        rig.told(),
        [
            "run_start",
            "turn_start 1",
            "user: Look.",
            "answer_start",
            "answer_end tool_use",
            "call_start a",
            "progress a half",
            "call_end a ok",
            "result a ok: seen",
            "turn_end 1",
            "turn_start 2",
            "answer_start",
            "answer_end stop",
            "turn_end 2",
            "run_end completed",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn reads_run_side_by_side_and_results_come_in_call_order() {
    let rig = Rig::new([
        calls([
            ("slow", "look", json!({ "ms": 300, "say": "1" })),
            ("quick", "look", json!({ "ms": 100, "say": "2" })),
            ("middle", "look", json!({ "ms": 200, "say": "3" })),
        ]),
        says("Done."),
    ]);
    rig.prompt("Go.").await;
    let ran = |call: &str, from, to| (call.to_owned(), from, Some(to));
    assert_eq!(rig.times(), [ran("slow", 0, 300), ran("quick", 0, 100), ran("middle", 0, 200)]);
    assert_eq!(
        rig.told()[5..15],
        [
            "call_start slow",
            "call_start quick",
            "call_start middle",
            "call_end quick ok",
            "call_end middle ok",
            "call_end slow ok",
            "result slow ok: 1",
            "result quick ok: 2",
            "result middle ok: 3",
            "turn_end 1",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn writes_run_in_call_order_and_reads_around_what_they_touch() {
    let rig = Rig::new([
        calls([
            ("w1", "change", json!({ "ms": 100, "touch": ["a"] })),
            ("w2", "change", json!({ "ms": 50, "touch": ["b"] })),
            ("r_other", "look", json!({ "ms": 10, "touch": ["c"] })),
            ("r_same", "look", json!({ "ms": 10, "touch": ["a"] })),
            ("r_any", "look", json!({ "ms": 10 })),
            ("x", "alone", json!({ "ms": 5 })),
            ("r_last", "look", json!({ "ms": 1, "touch": ["c"] })),
            ("r_broken", "look", json!({ "ms": 1, "touch": ["panic"] })),
        ]),
        says("Done."),
    ]);
    rig.prompt("Go.").await;
    let mut times = rig.times();
    times.sort();
    let ran = |call: &str, from, to| (call.to_owned(), from, Some(to));
    assert_eq!(
        times,
        [
            ran("r_any", 150, 160),
            ran("r_broken", 165, 166),
            ran("r_last", 165, 166),
            ran("r_other", 0, 10),
            ran("r_same", 100, 110),
            ran("w1", 0, 100),
            ran("w2", 100, 150),
            ran("x", 160, 165),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_result_is_told_as_soon_as_those_before_it_are() {
    let rig = Rig::new([
        calls([
            ("first", "look", json!({ "ms": 10, "say": "1" })),
            ("second", "look", json!({ "ms": 20, "say": "2" })),
        ]),
        says("Done."),
    ]);
    rig.prompt("Go.").await;
    assert_eq!(
        rig.told()[7..11],
        ["call_end first ok", "result first ok: 1", "call_end second ok", "result second ok: 2"]
    );
}

/// Steering that arrives when something is told joins before the next model call, whatever is under way.
async fn steered_at(at: &str) -> Vec<String> {
    let rig = Rig::new([
        calls([("a", "look", json!({ "say": "seen", "ms": 5 })), ("b", "look", json!({ "say": "too" }))]),
        says("Fine."),
        says("More."),
    ]);
    rig.on(at, |agent| agent.steer("Mind the gap.").unwrap());
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    assert_eq!(rig.ran(), ["a", "b"], "the batch is never cut");
    rig.said().await
}

#[tokio::test(start_paused = true)]
async fn steering_joins_before_the_next_model_call() {
    let go = "user: Go.";
    let calls = ["assistant:  [a b] tool_use", "result a ok: seen", "result b ok: too"];
    let (mind, fine, more) = ("user: Mind the gap.", "assistant: Fine. []", "assistant: More. []");
    assert_eq!(steered_at("run_start").await, [&[go, mind][..], &calls, &[fine]].concat());
    for at in
        ["turn_start 1", "user: Go.", "answer_start", "delta call_start", "call_start a", "call_end b ok"]
    {
        assert_eq!(steered_at(at).await, [&[go][..], &calls, &[mind, fine]].concat(), "{at}");
    }
    for at in ["result b ok: too", "turn_end 1"] {
        assert_eq!(steered_at(at).await, [&[go][..], &calls, &[mind, fine]].concat(), "{at}");
    }
    for at in ["turn_start 2", "delta Fine.", "answer_end stop", "turn_end 2"] {
        assert_eq!(steered_at(at).await, [&[go][..], &calls, &[fine, mind, more]].concat(), "{at}");
    }
}

#[tokio::test(start_paused = true)]
async fn steering_after_the_end_waits_for_the_next_run() {
    let rig = Rig::new([says("One."), says("Two.")]);
    rig.on("run_end completed", |agent| agent.steer("Also.").unwrap());
    rig.prompt("Go.").await;
    assert_eq!(rig.said().await, ["user: Go.", "assistant: One. []"]);
    rig.prompt("On.").await;
    assert_eq!(rig.said().await[2..], ["user: On.", "user: Also.", "assistant: Two. []"]);
}

#[tokio::test(start_paused = true)]
async fn steering_is_taken_one_at_a_time_or_all_at_once() {
    for (take, expect) in [
        (Take::One, &["assistant: 1 []", "user: a", "assistant: 2 []", "user: b", "assistant: 3 []"][..]),
        (Take::All, &["assistant: 1 []", "user: a", "user: b", "assistant: 2 []"]),
    ] {
        let rig = Rig::new([says("1"), says("2"), says("3")]);
        rig.agent.set_take(take);
        rig.on("answer_start", |agent| {
            agent.steer("a").unwrap();
            agent.steer("b").unwrap();
        });
        rig.prompt("Go.").await;
        assert_eq!(rig.said().await[1..], *expect, "{take:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn follow_ups_wait_for_the_end_and_come_one_at_a_time_or_all_at_once() {
    for (take, expect) in [
        (Take::One, &["assistant: 2 []", "user: a", "assistant: 3 []", "user: b", "assistant: 4 []"][..]),
        (Take::All, &["assistant: 2 []", "user: a", "user: b", "assistant: 3 []"]),
    ] {
        let rig = Rig::new([calls([("x", "look", json!({ "say": "1" }))]), says("2"), says("3"), says("4")]);
        rig.agent.set_take(take);
        rig.agent.follow_up("a").unwrap();
        rig.agent.follow_up("b").unwrap();
        assert_eq!(ended(&rig.prompt("Go.").await), "completed");
        assert_eq!(rig.said().await[3..], *expect, "{take:?}");
        let runs = rig.told().iter().filter(|told| *told == "run_start").count();
        assert_eq!(runs, 1, "follow-ups are of the same run");
    }
}

#[tokio::test(start_paused = true)]
async fn a_terminal_tool_ends_the_run_once_its_batch_is_done() {
    let rig = Rig::new([
        calls([("end", "finish", json!({ "say": "bye" })), ("a", "look", json!({ "ms": 9, "say": "seen" }))]),
        says("Again."),
    ]);
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    assert_eq!(rig.said().await[2..], ["result end ok: bye", "result a ok: seen"]);
    assert_eq!(rig.asked(), 1);
    // What a person said meanwhile is still answered.
    let rig = Rig::new([calls([("end", "finish", json!({}))]), says("Again.")]);
    rig.on("call_start end", |agent| agent.steer("Wait.").unwrap());
    rig.prompt("Go.").await;
    assert_eq!(rig.said().await[3..], ["user: Wait.", "assistant: Again. []"]);
    // One that fails ends nothing.
    let rig = Rig::new([calls([("end", "finish", json!({ "then": "fail" }))]), says("Again.")]);
    rig.prompt("Go.").await;
    assert_eq!(rig.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_run_can_be_spawned_and_there_is_one_at_a_time() {
    let rig = Rig::new([calls([("a", "look", json!({ "ms": 100 }))]), says("Done.")]);
    let agent = rig.agent.clone();
    let run = tokio::spawn(async move { agent.prompt("Go.").await });
    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    assert!(rig.agent.prompt("Me too.").await.is_err());
    assert!(rig.agent.resume(mica_agent::Decisions::default()).await.is_err());
    assert!(rig.agent.with(|_| ()).await.is_err());
    assert_eq!(ended(&run.await.unwrap().unwrap()), "completed");
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_says_so() {
    let rig = Rig::new([]);
    for _ in 0..mica_agent::queue::LONGEST {
        rig.agent.steer("x").unwrap();
    }
    assert!(rig.agent.steer("x").is_err());
    assert!(rig.agent.interrupt("x").is_err());
    rig.agent.follow_up("y").unwrap();
    assert_eq!(rig.agent.take_back().len(), mica_agent::queue::LONGEST + 1);
    rig.agent.steer("x").unwrap();
}
