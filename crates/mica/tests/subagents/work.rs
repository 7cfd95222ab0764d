//! Subagents that the run waits for: what they tell, side by side, stopped, failed, at a limit, by settings.

use mica_session::Access;
use mica_testkit::Fault;
use mica_testkit::Pacing;
use mica_testkit::Scenario;
use mica_testkit::Turn;
use serde_json::Value;
use serde_json::json;

use crate::{
    Pipe, after, asked, children, done, ends, fact, first, hangs, results, send, sends, stage::Stage, text,
    told, tools,
};

#[tokio::test]
async fn one_is_sent_and_tells_what_it_found() {
    let read = |turn: Turn| turn.call("file_read", json!({ "path": "a.txt" }));
    let scenario = Scenario::new()
        .turn(send(first("begin"), "call_1", sends("explore", "what does it say")))
        .turn(after("begin", 1).text("It says hello."))
        .turn(read(first("what does it say")))
        .turn(after("what does it say", 1).text("`a.txt:1` says hello."));
    let stage = Stage::new(scenario).await;
    let ran = stage.ask(&["-p", "begin"]).await;
    done(&ran);
    assert_eq!(ran.out, "It says hello.\n");
    let own = asked(&stage, "begin");
    let result = results(own.last().unwrap()).remove(0);
    let id = fact(&result, "id");
    let expect = "`a.txt:1` says hello.\n<subagent id=";
    assert!(result.starts_with(expect), "{result}");
    assert_eq!((fact(&result, "outcome"), fact(&result, "turns")), ("completed".to_owned(), "2".to_owned()));
    assert!(result.contains("\ntools: file_read 1\n</subagent>"), "{result}");
    // Only looking, nobody to ask, and no others to send.
    let theirs = asked(&stage, "what does it say");
    assert_eq!(tools(&theirs[0]), ["file_read", "glob", "grep", "list_dir", "load_skill", "web_fetch"]);
    assert!(tools(&own[0]).contains(&"create_subagent".to_owned()));
    let system = text(&theirs[0]["messages"][0]["content"]) + &text(&theirs[0]["messages"][1]["content"]);
    assert!(system.contains("You are a subagent.") && !system.contains("create_subagent"), "{system}");
    // A line for each of its steps.
    assert!(ran.err.contains(&format!("↳ {id} turn 1: Read file path=a.txt")), "{}", ran.err);
    assert!(ran.err.contains(&format!("↳ {id} completed after 2 turns")), "{}", ran.err);
    // Kept beside the session that sent it, and leading there.
    let children = children(&stage);
    let of = children[0].header().child_of.clone().unwrap();
    assert_eq!((children.len(), of.call.as_str()), (1, "call_1"));
    assert_eq!(ends(&children[0]), ["completed"]);
    let tree = stage.does(&["sessions", "tree", &of.session.to_string()]).await;
    assert!(tree.contains("about what does it say"), "{tree}");
    let shown = stage.does(&["sessions", "show", &id[id.len() - 8..]]).await;
    assert!(shown.contains("says hello."), "{shown}");
}

/// Both are asked before either is answered, so they are at work at the same time; and their results are in order.
#[tokio::test]
async fn two_that_only_read_work_side_by_side() {
    let slow = |turn: Turn| turn.pacing(Pacing { chars: 4, first_ms: 10_000, delay_ms: 0 });
    let both = send(first("begin"), "call_1", sends("explore", "the first"));
    let scenario = Scenario::new()
        .turn(send(both, "call_2", sends("explore", "the second")))
        .turn(after("begin", 2).text("Both."))
        .turn(slow(told("the first")).text("one"))
        .turn(slow(told("the second")).text("two"));
    let stage = Stage::new(scenario).await;
    let ran = stage.ask(&["-p", "begin", "--output", "stream-json"]).await;
    done(&ran);
    let events: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| {
        let inner = |event: &&Value| event["type"] == "subagent" && event["event"]["type"] == kind;
        events.iter().filter(inner).map(|event| event["seq"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let (starts, ends) = (of("run_start"), of("run_end"));
    assert_eq!((starts.len(), ends.len()), (2, 2));
    assert!(
        starts.iter().max() < ends.iter().min(),
        "one began after the other had ended: {starts:?} {ends:?}"
    );
    let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>(), "one order, without gaps");
    let told = results(asked(&stage, "begin").last().unwrap());
    assert!(told[0].starts_with("one\n") && told[1].starts_with("two\n"), "{told:?}");
}

#[tokio::test]
async fn a_failure_is_told_and_not_tried_again() {
    let mut fails = told("look");
    fails.fault = Some(Fault::Http("openai_401".into()));
    let scenario = Scenario::new()
        .turn(send(first("begin"), "call_1", sends("explore", "look")))
        .turn(after("begin", 1).text("It failed."))
        .turn(fails);
    let stage = Stage::new(scenario).await;
    let ran = stage.ask(&["-p", "begin"]).await;
    done(&ran);
    let told = results(asked(&stage, "begin").last().unwrap()).remove(0);
    assert!(told.starts_with("The subagent failed: "), "{told}");
    assert!(told.contains("It was not tried again"), "{told}");
    assert_eq!(fact(&told, "outcome"), "failed");
    assert_eq!(asked(&stage, "look").len(), 1, "asked once");
    assert_eq!(ends(&children(&stage)[0]), ["failed"]);
}

/// The limit is reached in the subagent: it says goodbye, and so does the run, both with the reason.
#[tokio::test]
async fn one_purse_for_all() {
    let read = |turn: Turn| turn.call("file_read", json!({ "path": "a.txt" }));
    let cost = |mut turn: Turn, output: u64| {
        turn.usage = mica_testkit::TurnUsage::Exact(mica_ai::Usage { output, ..mica_ai::Usage::default() });
        turn
    };
    let scenario = Scenario::new()
        .turn(cost(send(first("begin"), "call_1", sends("explore", "look around")), 100_000))
        .turn(cost(told("Note from the system").text("Stopped in the middle."), 1_000))
        .turn(cost(read(first("look around")), 300_000))
        .turn(cost(read(after("look around", 1)), 300_000))
        .turn(cost(read(after("look around", 2)), 300_000))
        .turn(after("begin", 1).text("Not reached."));
    let stage = Stage::new(scenario).await;
    stage.settings("[models.scripted]\ndialect = \"chat\"\ncontext = 128000\nmax_output = 16000\nprices = { input = 1.0, output = 1.0 }\n");
    let ran = stage.ask(&["-p", "begin", "--max-cost", "1.0", "--output", "json"]).await;
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.err);
    let summary: Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&summary["outcome"], &summary["limit"]["name"]),
        (&json!("exhausted"), &json!("cost")),
        "{summary}"
    );
    assert_eq!(ends(&children(&stage)[0]), ["exhausted"]);
    // The subagent stops after two of its answers: 0.10 + 0.30 + 0.30, and another would be too much.
    assert!(summary["usage"]["output"].as_u64().unwrap() >= 700_000, "{summary}");
    let theirs: Vec<Value> = stage.server.captured().iter().map(|request| request.json.clone()).collect();
    assert!(theirs.len() <= 5, "{}", theirs.len());
    let session = stage.sessions(jiff::Timestamp::now()).list(None).sessions.remove(0);
    let session = stage.sessions(jiff::Timestamp::now()).open(&session.path, Access::Read).unwrap();
    let branch = session.branch().unwrap();
    let result = branch.messages().find_map(|message| match message {
        mica_ai::Message::ToolResult(result) => Some(format!("{:?}", result.content)),
        _ => None,
    });
    let result = result.unwrap();
    assert!(result.contains("stopped at a limit: the limit of cost is reached"), "{result}");
    assert!(result.contains("of the whole run with its subagents"), "{result}");
}

#[tokio::test]
async fn profiles_come_from_settings() {
    let scenario = Scenario::new()
        .turn(send(first("begin"), "call_1", sends("reader", "look")))
        .turn(after("begin", 1).text("Done."))
        .turn(told("look").text("Looked."));
    let stage = Stage::new(scenario).await;
    stage.settings(
        r#"
        small_model = "flags/tiny"
        [subagents.explore]
        disabled = true
        [subagents.reader]
        description = "reads one file"
        prompt = "You read."
        model = "small"
        tools = ["file_*"]
        read_only = true
        max_turns = 3
        "#,
    );
    done(&stage.ask(&["-p", "begin"]).await);
    let theirs = asked(&stage, "look");
    assert_eq!(tools(&theirs[0]), ["file_read"]);
    assert_eq!(theirs[0]["model"], "tiny");
    let own = asked(&stage, "begin");
    let tool = own[0]["tools"].as_array().unwrap().iter();
    let tool = tool.clone().find(|tool| tool["function"]["name"] == "create_subagent").unwrap();
    let which = "Which kind of subagent: general, reader. Leave it out with `resume`: it stays what it was.";
    assert_eq!(tool["function"]["parameters"]["properties"]["profile"]["description"], which);
    stage.settings("[subagents.reader]\ndescription = \"reads\"\nprompt = \"\"\nmax_turn = 3\n");
    let ran = stage.ask(&["-p", "begin"]).await;
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err.contains("the subagent \"reader\" cannot be used: unknown field `max_turn`"),
        "{}",
        ran.err
    );
}

#[tokio::test]
async fn who_stops_the_run_stops_those_it_waits_for() {
    let both = send(first("begin"), "call_1", sends("explore", "the first"));
    let scenario = Scenario::new()
        .turn(send(both, "call_2", sends("explore", "the second")))
        .turn(hangs("the first"))
        .turn(hangs("the second"))
        .turn(told("instead").text("Very well."));
    let stage = Stage::new(scenario).await;
    let mut pipe = Pipe::open(&stage, &["rpc"]);
    pipe.send(json!({ "id": 1, "method": "prompt", "text": "begin" })).await;
    for _ in 0..2 {
        pipe.in_subagent("answer").await;
    }
    // An interrupt cuts what is under way, and the run goes on with what is said instead.
    pipe.send(json!({ "id": 2, "method": "interrupt", "text": "do this instead" })).await;
    for _ in 0..2 {
        let end = pipe.in_subagent("run_end").await;
        assert_eq!(end["event"]["outcome"]["outcome"], "aborted");
    }
    assert_eq!(pipe.answer(1).await["result"]["outcome"], "completed");
    let told = results(asked(&stage, "instead").last().unwrap());
    for told in &told {
        assert!(told.starts_with("The subagent was stopped. "), "{told}");
        assert!(told.contains("It was not tried again"), "{told}");
        assert_eq!(fact(told, "outcome"), "aborted");
    }
    assert_eq!(told.len(), 2);
    for child in children(&stage) {
        assert_eq!(ends(&child), ["aborted"]);
    }
}

/// A project's own subagents are offered once the project is trusted.
#[tokio::test]
async fn a_project_has_its_own_once_it_is_trusted() {
    let scenario = Scenario::new().turn(told("begin").text("Hello."));
    let stage = Stage::new(scenario).await;
    std::fs::create_dir(stage.project().join(".mica")).unwrap();
    let settings = "[subagents.local]\ndescription = \"knows this project\"\nprompt = \"You know it.\"\n";
    std::fs::write(stage.project().join(".mica/config.toml"), settings).unwrap();
    let offered = |request: &Value| {
        let tools = request["tools"].as_array().unwrap().iter();
        let mut tools = tools.filter(|tool| tool["function"]["name"] == "create_subagent");
        let profile = tools.next().unwrap()["function"]["parameters"]["properties"]["profile"].clone();
        let names = profile["description"].as_str().unwrap().split(['.', ':']).nth(1).unwrap();
        names.trim().to_owned()
    };
    done(&stage.ask(&["-p", "begin"]).await);
    assert_eq!(offered(&asked(&stage, "begin")[0]), "explore, general");
    stage.does(&["trust"]).await;
    done(&stage.ask(&["-p", "begin"]).await);
    assert_eq!(offered(&asked(&stage, "begin")[1]), "explore, general, local");
}
