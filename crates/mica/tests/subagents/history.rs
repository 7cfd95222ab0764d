//! What is kept of subagents: resumed, after a crash too, and cleaned up.

use mica_testkit::Scenario;
use serde_json::json;

use crate::{
    Pipe, after, asked, children, done, ends, fact, first, hangs, results, send, sends, stage::Stage, text,
    told,
};

#[tokio::test]
async fn one_goes_on_with_new_instructions() {
    let scenario = Scenario::new()
        .turn(send(first("begin"), "call_1", sends("general", "read it")))
        .turn(after("begin", 1).text("First part."))
        .turn(first("read it").call("file_read", json!({ "path": "a.txt" })))
        .turn(after("read it", 1).text("It says hello."))
        .turn(first("now write it").call("file_write", json!({ "path": "a.txt", "content": "bye\n" })))
        .turn(after("now write it", 1).text("It could not be written."))
        .turn(after("go on", 1).text("So be it."));
    let stage = Stage::new(scenario).await;
    done(&stage.ask(&["-p", "begin"]).await);
    let id = fact(&results(asked(&stage, "begin").last().unwrap())[0], "id");
    // Another process goes on: the script knows the id only now.
    let mut again = stage;
    let next = json!({ "description": "write it", "prompt": "now write it", "resume": id });
    again.server = mica_testkit::ScriptedServer::start(
        Scenario::new()
            .turn(send(first("go on"), "call_2", next))
            .turn(first("now write it").call("file_write", json!({ "path": "a.txt", "content": "bye\n" })))
            .turn(after("now write it", 1).text("It could not be written."))
            .turn(after("go on", 1).text("So be it.")),
    )
    .await
    .unwrap();
    done(&again.ask(&["--continue", "-p", "go on", "--yes"]).await);
    let theirs = asked(&again, "now write it");
    let said: Vec<String> =
        theirs[0]["messages"].as_array().unwrap().iter().map(|message| text(&message["content"])).collect();
    assert!(said.iter().any(|text| text.contains("read it")), "its history is sent: {said:?}");
    assert!(said.iter().any(|text| text == "It says hello."), "{said:?}");
    // Its tools are fresh: what was read before they were made does not count as read.
    let refused = results(theirs.last().unwrap()).pop().unwrap();
    assert!(refused.contains("read"), "{refused}");
    assert_eq!(std::fs::read_to_string(again.project().join("a.txt")).unwrap(), "hello\nworld\n");
    let children = children(&again);
    assert_eq!(
        (children.len(), ends(&children[0])),
        (1, vec!["completed".to_owned(), "completed".to_owned()])
    );
    let result = results(asked(&again, "go on").last().unwrap()).pop().unwrap();
    assert_eq!(fact(&result, "id"), id);
}

/// A conversation that is not kept sends subagents, too, and they go on as long as it does.
#[tokio::test]
async fn without_a_session_one_goes_on_all_the_same() {
    let more = json!({ "description": "more", "prompt": "and then", "resume": "explore-1" });
    let scenario = Scenario::new()
        .turn(send(first("begin"), "call_1", sends("explore", "look here")))
        .turn(send(after("begin", 1), "call_2", more))
        .turn(after("begin", 2).text("Both."))
        .turn(told("look here").text("Here it is."))
        .turn(told("and then").text("There it is."));
    let stage = Stage::new(scenario).await;
    done(&stage.ask(&["-p", "begin", "--no-session"]).await);
    let told = results(asked(&stage, "begin").last().unwrap());
    assert_eq!(
        (fact(&told[0], "id"), fact(&told[1], "id")),
        ("explore-1".to_owned(), "explore-1".to_owned())
    );
    let theirs = asked(&stage, "and then");
    let said = theirs[0]["messages"].as_array().unwrap().iter().map(|message| text(&message["content"]));
    assert!(said.into_iter().any(|text| text == "Here it is."), "{theirs:?}");
    assert!(stage.sessions(jiff::Timestamp::now()).list(None).sessions.is_empty());
}

#[tokio::test]
async fn what_cannot_be_resumed_is_said() {
    let resume = |id: &str, profile: Option<&str>| {
        let mut arguments = json!({ "description": "go on", "prompt": "more", "resume": id });
        if let Some(profile) = profile {
            arguments["profile"] = json!(profile);
        }
        arguments
    };
    let none = json!({ "description": "who", "prompt": "more" });
    let calls = [resume("explore-00000000", None), none];
    let scenario = Scenario::new()
        .turn(send(send(first("begin"), "call_1", calls[0].clone()), "call_2", calls[1].clone()))
        .turn(after("begin", 2).text("Well."));
    let stage = Stage::new(scenario).await;
    done(&stage.ask(&["-p", "begin"]).await);
    let told = results(asked(&stage, "begin").last().unwrap());
    assert_eq!(
        told,
        [
            "The subagent cannot be sent: this session has no subagent \"explore-00000000\" any more: one that ended more \
             than an hour ago is cleaned up. Send a new one. Nothing was begun.",
            "Say which profile: explore, general. Nothing was begun.",
        ]
    );
}

/// One that does not work in the background is not sent there again, and nothing is kept of it.
#[tokio::test]
async fn what_cannot_be_resumed_in_the_background_leaves_no_trace() {
    let stage = Stage::new(
        Scenario::new()
            .turn(send(first("begin"), "call_1", sends("slow", "look")))
            .turn(after("begin", 1).text("Well."))
            .turn(told("look").text("Looked.")),
    )
    .await;
    stage.settings("[subagents.slow]\ndescription = \"looks\"\nprompt = \"You look.\"\nbackground = false\n");
    done(&stage.ask(&["-p", "begin"]).await);
    let id = fact(&results(asked(&stage, "begin").last().unwrap()).remove(0), "id");
    let again = json!({ "description": "more", "prompt": "more", "resume": id, "background": true });
    let mut stage = stage;
    stage.server = mica_testkit::ScriptedServer::start(
        Scenario::new()
            .turn(send(first("go on"), "call_2", again))
            .turn(told("thanks").text("Gladly."))
            .turn(after("go on", 1).text("No.")),
    )
    .await
    .unwrap();
    done(&stage.ask(&["--continue", "-p", "go on"]).await);
    let refused = results(&stage.server.captured()[1].json).pop().unwrap();
    assert_eq!(
        refused,
        "The subagent cannot be sent: slow does not work in the background; send it without `background`. Nothing was begun."
    );
    // Who opens the session again is not told of one that was cut off.
    done(&stage.ask(&["--continue", "-p", "thanks"]).await);
    let said = stage.server.captured().last().unwrap().json["messages"].to_string();
    assert!(!said.contains("Note from the system"), "{said}");
}

/// Killed while a subagent works: the session opens, the call is answered, and the subagent goes on.
#[tokio::test]
async fn a_killed_program_leaves_what_its_subagents_did() {
    let scenario = Scenario::new()
        .turn(send(first("begin"), "call_1", sends("explore", "look around")))
        .turn(first("look around").call("file_read", json!({ "path": "a.txt" })))
        .turn(hangs("look around"));
    let mut stage = Stage::new(scenario).await;
    let mut pipe = Pipe::open(&stage, &["-p", "begin", "--output", "stream-json"]);
    drop(pipe.input.take());
    let found = pipe.until("its second answer", |event| {
        event["type"] == "subagent"
            && event["event"]["type"] == "answer"
            && event["event"]["delta"]["type"] == "text_delta"
    });
    let id = found.await["agent"].as_str().unwrap().to_owned();
    pipe.program.start_kill().unwrap();
    pipe.program.wait().await.unwrap();
    let kept = children(&stage);
    assert!(kept[0].unfinished().unwrap().run.is_some());
    drop(kept);
    let resume = json!({ "description": "go on", "prompt": "finish it", "resume": id });
    stage.server = mica_testkit::ScriptedServer::start(
        Scenario::new()
            .turn(send(first("go on"), "call_2", resume))
            .turn(told("finish it").text("It says hello."))
            .turn(after("go on", 1).text("So it does.")),
    )
    .await
    .unwrap();
    let ran = stage.ask(&["--continue", "-p", "go on"]).await;
    done(&ran);
    let left = results(&asked(&stage, "go on")[0]).remove(0);
    let expect = format!(
        "No result: the program ended while the subagent {id} was at work. What it said and did until then is kept, and files \
         that it changed stay changed. To go on with it, call create_subagent with resume \"{id}\"."
    );
    assert_eq!(left, expect);
    // What it had read before the kill is in its window.
    let theirs = asked(&stage, "finish it");
    assert_eq!(results(&theirs[0]).len(), 1);
    assert!(results(&theirs[0])[0].contains("hello"), "{:?}", results(&theirs[0]));
}

/// An hour after its end a subagent is gone, and so is what was kept for it.
#[tokio::test]
async fn an_hour_after_its_end_one_is_cleaned_up() {
    let stage = Stage::new(Scenario::new().turn(told("hello").text("Hello."))).await;
    let long_ago = jiff::Timestamp::now() - jiff::SignedDuration::from_mins(61);
    let parent = stage.said("hello", 0);
    let of = mica_session::ChildOf {
        session: parent.header().id,
        run: mica_session::RunId::from("run"),
        call: "call_1".to_owned(),
    };
    let path = parent.path().to_owned();
    drop(parent);
    let mut child = stage.sessions(long_ago).draft_child(&path, &stage.project(), None, of);
    let message = mica_ai::Message::from(mica_ai::User::text("look"));
    child.append(message, mica_session::Durability::Now).unwrap();
    let kept = child.path().to_owned();
    drop(child);
    assert!(kept.exists());
    done(&stage.ask(&["-p", "hello"]).await);
    assert!(!kept.exists());
    assert!(path.exists());
}
