//! Calls that wait for people: told as questions, counted against no clock, cut like any other. And calls after which
//! something else may be done.

mod support;

use std::time::Duration;

use serde_json::json;
use support::{Rig, calls, ended, says};

/// Events of the calls.
fn of_calls(rig: &Rig) -> Vec<String> {
    let told = rig.told().into_iter();
    told.filter(|told| ["call_", "question", "progress"].iter().any(|kind| told.starts_with(kind))).collect()
}

#[tokio::test(start_paused = true)]
async fn promise_9_a_persons_thinking_time_counts_against_no_clock() {
    let hour = 3_600_000;
    let rig = Rig::new([
        // The tool has a minute, works for a second, and the person thinks for an hour.
        calls([("a", "look", json!({ "ms": 1000, "then": "ask", "think": hour, "news": "nearly" }))]),
        says("Done."),
    ]);
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    assert_eq!(rig.said().await[2], "result a ok: answered");
    assert_eq!(
        of_calls(&rig),
        ["call_start a", "progress a nearly", "question a [\"Which?\"]", "question_over a", "call_end a ok"]
    );
    let active = rig.agent.with(|cx| cx.tally.active).await.unwrap();
    assert_eq!(active, Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn the_deadline_goes_on_when_the_person_has_answered() {
    // 59 seconds of work, an hour of thinking, and then a call beside it that hangs: each has its own minute.
    let rig = Rig::new([
        calls([
            ("a", "look", json!({ "ms": 59_000, "then": "ask", "think": 3_600_000 })),
            ("b", "look", json!({ "then": "hang" })),
        ]),
        says("Done."),
    ]);
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    let said = rig.said().await;
    assert_eq!(said[2], "result a ok: answered");
    assert!(said[3].starts_with("result b failed: The call did not finish within 60 s"), "{said:?}");
}

#[tokio::test(start_paused = true)]
async fn nobody_there_is_no_question() {
    let rig = Rig::new([calls([("a", "look", json!({ "then": "ask" }))]), says("Done.")]);
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    assert_eq!(of_calls(&rig), ["call_start a", "call_end a ok"]);
    assert_eq!(rig.said().await[2], "result a ok: nobody");
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_withdraws_the_question() {
    let rig = Rig::new([
        calls([("a", "look", json!({ "then": "ask", "think": 3_600_000 }))]),
        says("Something else."),
    ]);
    rig.on("question a [\"Which?\"]", |agent| agent.interrupt("Never mind.").unwrap());
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    assert_eq!(
        of_calls(&rig),
        ["call_start a", "question a [\"Which?\"]", "question_over a", "call_end a ok"]
    );
    let said = rig.said().await;
    assert_eq!(&said[2..4], ["result a ok: withdrawn", "user: Never mind."]);
}

#[tokio::test(start_paused = true)]
async fn an_abort_withdraws_the_question() {
    let rig = Rig::new([calls([("a", "look", json!({ "then": "ask", "think": 3_600_000 }))])]);
    rig.on("question a [\"Which?\"]", mica_agent::Agent::abort);
    assert_eq!(ended(&rig.prompt("Go.").await), "aborted");
    assert_eq!(of_calls(&rig)[2..], ["question_over a", "call_end a ok"]);
}

#[tokio::test(start_paused = true)]
async fn what_stands_behind_a_call_that_ends_the_batch_is_not_run() {
    let rig = Rig::new([
        calls([
            ("before", "change", json!({ "ms": 10, "say": "changed" })),
            ("switch", "switch", json!({ "ms": 10, "say": "switched" })),
            ("after", "change", json!({ "say": "changed" })),
            ("looks", "look", json!({ "say": "seen" })),
        ]),
        calls([("again", "change", json!({ "say": "changed again" }))]),
        calls([
            ("broken", "switch", json!({ "then": "fail", "say": "not now" })),
            ("goes on", "change", json!({ "say": "changed" })),
        ]),
        says("Done."),
    ]);
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    assert_eq!(rig.ran(), ["before", "switch", "again", "broken", "goes on"]);
    let said = rig.said().await;
    assert_eq!(said[2..4], ["result before ok: changed", "result switch ok: switched"]);
    for (at, call) in [(4, "after"), (5, "looks")] {
        assert_eq!(
            said[at],
            format!(
                "result {call} failed: Not run: a call before it in the same answer changed what may be done. Look at \
                 its result, and call again what is still right."
            )
        );
    }
}
