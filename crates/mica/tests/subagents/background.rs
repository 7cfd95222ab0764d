//! Subagents in the background: read, killed, told about, and ended with the session.

use mica_testkit::Pacing;
use mica_testkit::Scenario;
use serde_json::json;
use std::time::Duration;

use crate::{
    Pipe, after, asked, beside, children, done, ends, first, hangs, results, send, stage::Stage, told, user,
};

/// Two in the background: one is killed, the other goes on and its end is told, once.
#[tokio::test]
async fn one_of_two_in_the_background_is_killed() {
    let scenario = Scenario::new()
        .turn(send(first("begin"), "call_1", beside("the first")))
        .turn(send(after("begin", 1), "call_2", beside("the second")))
        .turn(after("begin", 2).call("kill_task", json!({ "id": "agent-1" })))
        .turn(after("begin", 3).call("task_output", json!({ "id": "agent-2", "wait_seconds": 90 })))
        .turn(after("begin", 4).text("Enough."))
        .turn(hangs("the first"))
        .turn(told("the second").pacing(Pacing { chars: 4, first_ms: 10_000, delay_ms: 0 }).text("two"));
    let stage = Stage::new(scenario).await;
    let ran = stage.ask(&["-p", "begin"]).await;
    done(&ran);
    let told = results(asked(&stage, "begin").last().unwrap());
    assert!(told[0].starts_with("The subagent works in the background as task agent-1."), "{}", told[0]);
    assert!(told[2].starts_with("agent-1 has ended: it was stopped"), "{}", told[2]);
    assert!(told[3].contains("agent-2 (about the second): is done"), "{}", told[3]);
    assert!(told[3].contains("\ntwo\n\n<subagent id="), "{}", told[3]);
    let ends: Vec<Vec<String>> = children(&stage).iter().map(ends).collect();
    assert_eq!(ends, [["aborted"], ["completed"]]);
    let told: Vec<String> = stage.server.captured().iter().map(|request| user(&request.json)).collect();
    assert!(told.iter().all(|said| !said.contains("has ended")), "what was read is not told again: {told:?}");
}

/// It ends while nobody runs: the next prompt tells, and the one after that does not.
#[tokio::test]
async fn the_end_of_one_in_the_background_is_told_once() {
    let slow = Pacing { chars: 4, first_ms: 400, delay_ms: 0 };
    let scenario = Scenario::new()
        .turn(send(first("begin"), "call_1", beside("the task")))
        .turn(after("begin", 1).text("It is under way."))
        .turn(told("has ended").text("I see."))
        .turn(told("the task").pacing(slow).text("found it"))
        .turn(told("thanks").text("Gladly."));
    let stage = Stage::new(scenario).await;
    let mut pipe = Pipe::open(&stage, &["rpc"]);
    pipe.send(json!({ "id": 1, "method": "prompt", "text": "begin" })).await;
    assert_eq!(pipe.answer(1).await["result"]["outcome"], "completed");
    pipe.in_subagent("run_end").await;
    // The task's end follows the run's at once, but not in the same instant.
    let mut number = 2;
    loop {
        pipe.send(json!({ "id": number, "method": "prompt", "text": "what about it" })).await;
        pipe.answer(number).await;
        if !asked(&stage, "has ended").is_empty() || number > 20 {
            break;
        }
        number += 1;
    }
    let told = user(&asked(&stage, "has ended")[0]);
    let expect = "[Note from the system, not from the user: The subagent agent-1 (about the task) has ended: it is done.";
    assert!(told.starts_with(expect), "{told}");
    let (note, words) = told.split_once("\n\n<subagent_output note=").unwrap();
    assert!(!note.contains("found it"), "{note}");
    assert!(words.contains("\nfound it\n") && words.ends_with("\n</subagent_output>"), "{words}");
    pipe.send(json!({ "id": 50, "method": "prompt", "text": "thanks" })).await;
    pipe.answer(50).await;
    assert_eq!(asked(&stage, "has ended").len(), 1);
}

/// The end of the input ends the session, and with it what works in the background.
#[tokio::test]
async fn the_end_of_the_session_ends_those_in_the_background() {
    let scenario = Scenario::new()
        .turn(send(first("begin"), "call_1", beside("the task")))
        .turn(after("begin", 1).text("It is under way."))
        .turn(told("has ended").text("I know."))
        .turn(hangs("the task"));
    let stage = Stage::new(scenario).await;
    let mut pipe = Pipe::open(&stage, &["rpc"]);
    pipe.send(json!({ "id": 1, "method": "prompt", "text": "begin" })).await;
    pipe.answer(1).await;
    pipe.in_subagent("answer").await;
    let Pipe { input, mut program, .. } = pipe;
    drop(input);
    let code = tokio::time::timeout(Duration::from_secs(100), program.wait()).await.unwrap().unwrap();
    assert_eq!(code.code(), Some(0));
    assert_eq!(ends(&children(&stage)[0]), ["aborted"]);
    // Whoever goes on with the session is told, once.
    done(&stage.ask(&["--continue", "-p", "and now"]).await);
    let told = user(&asked(&stage, "has ended")[0]);
    assert!(told.contains("has ended, and its end was not told when the program ended"), "{told}");
    done(&stage.ask(&["--continue", "-p", "has ended?"]).await);
    assert_eq!(asked(&stage, "Note from the system").len(), 1);
}
