//! Subagents through the whole program: the real binary, a scripted model on the wire, no network beyond loopback.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

mod stage;

use std::process::Stdio;
use std::time::Duration;

use mica_session::{Access, Body, Session};
use mica_testkit::{Call, Fault, Pacing, Scenario, Step, Turn, When};
use serde_json::{Value, json};
use stage::{Ran, Stage};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// A turn that answers whoever was told this.
fn told(words: &str) -> Turn {
    let when = When { user_contains: Some(words.to_owned()), ..When::default() };
    Turn { when: Some(when), ..Turn::new() }
}

/// The same, before any tool was called.
fn first(words: &str) -> Turn {
    let mut turn = told(words);
    turn.when.as_mut().unwrap().tool_results = Some(0);
    turn
}

/// The same, after so many results.
fn after(words: &str, results: usize) -> Turn {
    let mut turn = told(words);
    turn.when.as_mut().unwrap().tool_results = Some(results);
    turn
}

fn sends(profile: &str, prompt: &str) -> Value {
    json!({ "profile": profile, "description": format!("about {prompt}"), "prompt": prompt })
}

fn send(turn: Turn, id: &str, arguments: Value) -> Turn {
    let mut turn = turn;
    turn.steps.push(Step::Call(Call::new("create_subagent", arguments).with_id(id)));
    turn
}

/// What a model was told as the results of its calls, in a request on the chat wire.
fn results(request: &Value) -> Vec<String> {
    let messages = request["messages"].as_array().unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results.map(|message| text(&message["content"])).collect()
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        parts => {
            let parts = parts.as_array().unwrap().iter().filter_map(|part| part["text"].as_str());
            parts.collect::<Vec<_>>().join("\n")
        }
    }
}

/// What the user said last in a request.
fn user(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap();
    let said = messages.iter().rev().find(|message| message["role"] == "user");
    said.map(|message| text(&message["content"])).unwrap_or_default()
}

fn tools(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

/// The requests that a subagent or an agent made whose user said this.
fn asked(stage: &Stage, words: &str) -> Vec<Value> {
    let all = stage.server.captured();
    all.iter().map(|request| request.json.clone()).filter(|json| user(json).contains(words)).collect()
}

/// An attribute of the facts behind a subagent's words.
fn fact(result: &str, name: &str) -> String {
    let facts = result.rsplit_once("<subagent ").unwrap_or_else(|| panic!("no facts in {result:?}")).1;
    let value = facts.split_once(&format!("{name}=\"")).unwrap().1;
    value.split_once('"').unwrap().0.to_owned()
}

/// The sessions of the subagents of the only session.
fn children(stage: &Stage) -> Vec<Session> {
    let sessions = stage.sessions(jiff::Timestamp::now());
    let listing = sessions.list(None);
    assert_eq!(listing.sessions.len(), 1, "subagents are not listed");
    let children = sessions.children(&listing.sessions[0].path);
    children.iter().map(|child| sessions.open(&child.path, Access::Read).unwrap()).collect()
}

fn ends(session: &Session) -> Vec<String> {
    let branch = session.branch().unwrap();
    let ends = branch.entries.iter().filter_map(|entry| match &entry.body {
        Body::RunEnd { outcome, .. } => Some(outcome.clone()),
        _ => None,
    });
    ends.collect()
}

fn done(ran: &Ran) {
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
}

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
    assert_eq!(tools(&theirs[0]), ["file_read", "glob", "grep", "list_dir"]);
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
    let slow = |turn: Turn| turn.pacing(Pacing { chars: 4, first_ms: 700, delay_ms: 0 });
    let both = send(first("begin"), "call_1", sends("explore", "the first"));
    let scenario = Scenario::new()
        .turn(send(both, "call_2", sends("explore", "the second")))
        .turn(after("begin", 2).text("Both."))
        .turn(slow(told("the first")).text("one"))
        .turn(told("the second").text("two"));
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
    }
    assert!(!stage.project().join("b.txt").exists());
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
    assert_eq!(tool["function"]["parameters"]["properties"]["profile"]["enum"], json!(["general", "reader"]));
    stage.settings("[subagents.reader]\ndescription = \"reads\"\nprompt = \"\"\nmax_turn = 3\n");
    let ran = stage.ask(&["-p", "begin"]).await;
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err.contains("the subagent \"reader\" cannot be used: unknown field `max_turn`"),
        "{}",
        ran.err
    );
}

/// A program at the other end of the pipe.
struct Pipe {
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    program: Child,
    passed: Vec<Value>,
}

impl Pipe {
    fn open(stage: &Stage, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mica"));
        command
            .env_clear()
            .env("MICA_HOME", stage.folder.path().join("home"))
            .current_dir(stage.project())
            .args(arguments)
            .args(["--base-url", &stage.server.url("/v1"), "--model", "scripted"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut program = command.spawn().unwrap();
        let output = BufReader::new(program.stdout.take().unwrap()).lines();
        Self { input: program.stdin.take(), output, program, passed: Vec::new() }
    }

    async fn send(&mut self, request: Value) {
        self.input.as_mut().unwrap().write_all(format!("{request}\n").as_bytes()).await.unwrap();
    }

    /// The next line that fits; those before it are kept for later.
    async fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.passed.iter().position(&fits) {
            return self.passed.remove(at);
        }
        loop {
            let line = tokio::time::timeout(Duration::from_secs(30), self.output.next_line()).await;
            let line = line.unwrap_or_else(|_| panic!("never came: {what}; {:?}", self.passed)).unwrap();
            let Some(line) = line else { panic!("the program ended before: {what}") };
            let value: Value = serde_json::from_str(&line).unwrap();
            if fits(&value) {
                return value;
            }
            self.passed.push(value);
        }
    }

    /// The next event of a kind in a subagent.
    async fn in_subagent(&mut self, kind: &str) -> Value {
        let found = self.until(kind, |value| value["event"]["event"]["type"] == kind).await;
        found["event"].clone()
    }

    async fn answer(&mut self, id: u64) -> Value {
        self.until("an answer", |value| value["id"] == id).await
    }
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

/// An answer that never ends.
fn hangs(words: &str) -> Turn {
    let mut turn = told(words).text("I am still looking at it, and will be for long.");
    turn.fault = Some(Fault::Stall { at: mica_testkit::At::Middle });
    turn
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

fn beside(prompt: &str) -> Value {
    let mut arguments = sends("explore", prompt);
    arguments["background"] = json!(true);
    arguments
}

/// Two in the background: one is killed, the other goes on and its end is told, once.
#[tokio::test]
async fn one_of_two_in_the_background_is_killed() {
    let scenario = Scenario::new()
        .turn(send(first("begin"), "call_1", beside("the first")))
        .turn(send(after("begin", 1), "call_2", beside("the second")))
        .turn(after("begin", 2).call("kill_task", json!({ "id": "agent-1" })))
        .turn(after("begin", 3).call("task_output", json!({ "id": "agent-2", "wait_seconds": 20 })))
        .turn(after("begin", 4).text("Enough."))
        .turn(hangs("the first"))
        .turn(told("the second").pacing(Pacing { chars: 4, first_ms: 2_000, delay_ms: 0 }).text("two"));
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
    assert!(told.contains("\nfound it\n"), "{told}");
    pipe.send(json!({ "id": 50, "method": "prompt", "text": "thanks" })).await;
    pipe.answer(50).await;
    assert_eq!(asked(&stage, "has ended").len(), 1);
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
    let code = tokio::time::timeout(Duration::from_secs(20), program.wait()).await.unwrap().unwrap();
    assert_eq!(code.code(), Some(0));
    assert_eq!(ends(&children(&stage)[0]), ["aborted"]);
    // Whoever goes on with the session is told, once.
    done(&stage.ask(&["--continue", "-p", "and now"]).await);
    let told = user(&asked(&stage, "has ended")[0]);
    assert!(told.contains("has ended, and its end was not told when the program ended"), "{told}");
    done(&stage.ask(&["--continue", "-p", "has ended?"]).await);
    assert_eq!(asked(&stage, "Note from the system").len(), 1);
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
