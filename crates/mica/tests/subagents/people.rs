//! Questions, rules and modes: what holds for the agent holds for those that it sends.

use mica_testkit::Call;
use mica_testkit::Scenario;
use mica_testkit::Step;
use mica_testkit::Turn;
use serde_json::json;

use crate::{Pipe, after, asked, done, first, results, send, sends, stage::Stage};

#[tokio::test]
async fn without_a_person_what_would_be_asked_is_refused() {
    let scenario = Scenario::new()
        .turn(send(first("begin"), "call_1", sends("general", "write it")))
        .turn(after("begin", 1).text("It was refused."))
        .turn(first("write it").call("file_write", json!({ "path": "b.txt", "content": "b\n" })))
        .turn(after("write it", 1).text("Not allowed."));
    let stage = Stage::new(scenario).await;
    done(&stage.ask(&["-p", "begin"]).await);
    let refused = results(asked(&stage, "write it").last().unwrap()).remove(0);
    assert!(
        refused.starts_with("Refused without asking a person: nobody is there to approve it"),
        "{refused}"
    );
    assert!(!stage.project().join("b.txt").exists());
    // What rules allow for the agent, they allow for those that it sends.
    done(&stage.ask(&["-p", "begin", "--allow", "file_write"]).await);
    assert_eq!(std::fs::read_to_string(stage.project().join("b.txt")).unwrap(), "b\n");
    let told = results(asked(&stage, "begin").last().unwrap()).remove(0);
    let changed = format!("\nchanged: {}\n", stage.project().join("b.txt").display());
    assert!(told.contains(&changed), "{told}");
}

#[tokio::test]
async fn the_mode_holds_for_those_that_are_sent() {
    let scenario = Scenario::new()
        .turn(send(first("begin"), "call_1", sends("general", "write it")))
        .turn(after("begin", 1).text("No."))
        .turn(first("write it").call("file_write", json!({ "path": "b.txt", "content": "b\n" })))
        .turn(after("write it", 1).text("Not in this mode."));
    let stage = Stage::new(scenario).await;
    for mode in ["ask", "plan"] {
        done(&stage.ask(&["-p", "begin", "--mode", mode, "--yes"]).await);
        let refused = results(asked(&stage, "write it").last().unwrap()).remove(0);
        assert!(refused.starts_with(&format!("file_write is not available in {mode} mode")), "{refused}");
        // It is told so, and not of a plan, which it could not write.
        let request = asked(&stage, "write it").pop().unwrap()["messages"].to_string();
        assert!(request.contains(&format!("The mode is {mode}: look at whatever you need")), "{request}");
        assert!(!request.contains("Markdown file"), "{request}");
    }
    assert!(!stage.project().join("b.txt").exists());
}

#[tokio::test]
async fn a_person_is_asked_on_behalf_of_a_subagent() {
    let scenario = Scenario::new()
        .turn(send(first("begin"), "call_1", sends("general", "write it")))
        .turn(after("begin", 1).text("Written."))
        .turn(first("write it").call("file_write", json!({ "path": "b.txt", "content": "b\n" })))
        .turn(after("write it", 1).text("It is there."));
    let stage = Stage::new(scenario).await;
    let mut pipe = Pipe::open(&stage, &["rpc"]);
    pipe.send(json!({ "id": 1, "method": "prompt", "text": "begin" })).await;
    let asked = pipe.in_subagent("approval_asked").await;
    assert!(asked["agent"].as_str().unwrap().starts_with("general-"), "{asked}");
    let ask = &asked["event"]["ask"];
    pipe.send(json!({ "id": 2, "method": "state" })).await;
    let state = pipe.answer(2).await;
    assert_eq!(state["result"]["asks"][0]["call"]["id"], ask["call"]["id"], "{state}");
    let yes = json!({ "call": ask["call"]["id"], "shown": ask["shown"], "answer": "allow" });
    pipe.send(json!({ "id": 3, "method": "approve", "decisions": [yes] })).await;
    assert_eq!(pipe.answer(3).await["result"], json!({}));
    assert_eq!(pipe.answer(1).await["result"]["outcome"], "completed");
    assert_eq!(std::fs::read_to_string(stage.project().join("b.txt")).unwrap(), "b\n");
    pipe.send(json!({ "id": 4, "method": "usage" })).await;
    let usage = pipe.answer(4).await;
    let (all, theirs) = (&usage["result"]["usage"]["output"], &usage["result"]["subagents"]["output"]);
    assert!(theirs.as_u64().unwrap() > 0 && theirs.as_u64() < all.as_u64(), "{usage}");
}

/// Two in the background ask while no run goes on. Whichever is answered first, each yes reaches its own question.
#[tokio::test]
async fn those_in_the_background_ask_when_no_run_goes_on() {
    let writes = |turn: Turn, id: &str, path: &str| {
        let mut turn = turn;
        let call = Call::new("file_write", json!({ "path": path, "content": "mine\n" }));
        turn.steps.push(Step::Call(call.with_id(id)));
        turn
    };
    let beside = |prompt: &str| {
        let mut arguments = sends("general", prompt);
        arguments["background"] = json!(true);
        arguments
    };
    let both = send(first("begin"), "call_1", beside("the first"));
    let scenario = Scenario::new()
        .turn(send(both, "call_2", beside("the second")))
        .turn(after("begin", 2).text("Under way."))
        .turn(writes(first("the first"), "write_1", "one.txt"))
        .turn(writes(first("the second"), "write_2", "two.txt"))
        .turn(after("the first", 1).text("one"))
        .turn(after("the second", 1).text("two"));
    let stage = Stage::new(scenario).await;
    let mut pipe = Pipe::open(&stage, &["rpc"]);
    pipe.send(json!({ "id": 1, "method": "prompt", "text": "begin" })).await;
    assert_eq!(pipe.answer(1).await["result"]["outcome"], "completed");
    let mut asks = Vec::new();
    for _ in 0..2 {
        asks.push(pipe.in_subagent("approval_asked").await["event"]["ask"].clone());
    }
    for (number, ask) in asks.iter().rev().enumerate() {
        let yes = json!({ "call": ask["call"]["id"], "shown": ask["shown"], "answer": "allow" });
        let id = 2 + number as u64;
        pipe.send(json!({ "id": id, "method": "approve", "decisions": [yes] })).await;
        assert_eq!(pipe.answer(id).await["result"], json!({}));
    }
    for _ in 0..2 {
        assert_eq!(pipe.in_subagent("run_end").await["event"]["outcome"]["outcome"], "completed");
    }
    for file in ["one.txt", "two.txt"] {
        assert_eq!(std::fs::read_to_string(stage.project().join(file)).unwrap(), "mine\n");
    }
    pipe.send(json!({ "id": 9, "method": "approve", "decisions": [] })).await;
    assert_eq!(pipe.answer(9).await["error"]["message"], "nothing is asked: no run goes on");
}

#[tokio::test]
async fn hooks_about_tools_see_calls_of_subagents_and_skills_are_theirs_too() {
    let stage = Stage::new(scenario_of_hooks()).await;
    let config = stage.folder.path().join("home/config");
    let skill = config.join("skills/tides");
    std::fs::create_dir_all(&skill).unwrap();
    std::fs::write(
        skill.join("SKILL.md"),
        "---\nname: tides\ndescription: About tides.\n---\nHigh water comes twice.\n",
    )
    .unwrap();
    let hook = |command: &str| json!([{ "matcher": "file_write", "hooks": [{ "command": command }] }]);
    let hooks = json!({ "hooks": {
        "PostToolUse": hook("echo after >> seen.txt"),
        "PermissionRequest": hook("echo asked >> seen.txt; echo '{\"hookSpecificOutput\":{\"decision\":{\"behavior\":\"allow\"}}}'"),
    } });
    std::fs::write(config.join("hooks.json"), hooks.to_string()).unwrap();
    let ran = stage.ask(&["-p", "begin here"]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert_eq!(
        std::fs::read_to_string(stage.project().join("seen.txt")).unwrap(),
        "asked\nafter\n",
        "{}",
        ran.err
    );
    let requests: Vec<serde_json::Value> =
        stage.server.captured().iter().map(|one| one.json.clone()).collect();
    let mut theirs =
        requests.iter().filter(|request| request["messages"].to_string().contains("write the file"));
    let last = theirs.rfind(|request| results(request).len() == 2).unwrap().clone();
    assert!(results(&last)[0].contains("High water comes twice."), "{last}");
    assert!(last["messages"].to_string().contains("tides: About tides."), "{last}");
}

fn scenario_of_hooks() -> mica_testkit::Scenario {
    let skill = |turn: Turn| turn.call("load_skill", json!({ "name": "tides" }));
    let write = |turn: Turn| turn.call("file_write", json!({ "path": "new.txt", "content": "made\n" }));
    mica_testkit::Scenario::new()
        .turn(send(first("begin here"), "one", sends("general", "write the file")))
        .turn(skill(first("write the file")))
        .turn(write(after("write the file", 1)))
        .turn(after("write the file", 2).text("Written."))
        .turn(after("begin here", 1).text("Done."))
}
