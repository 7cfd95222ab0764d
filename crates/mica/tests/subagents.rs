//! Subagents through the whole program: the real binary, a scripted model on the wire, no network beyond loopback.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

mod stage;

#[path = "subagents/background.rs"]
mod background;
#[path = "subagents/history.rs"]
mod history;
#[path = "subagents/packs.rs"]
mod packs;
#[path = "subagents/people.rs"]
mod people;
#[path = "subagents/work.rs"]
mod work;

use std::process::Stdio;
use std::time::Duration;

use mica_session::{Access, Body, Session};
use mica_testkit::{Call, Fault, Step, Turn, When};
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

/// The system prompt of a request.
fn system(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap();
    let system = messages
        .iter()
        .filter(|message| ["system", "developer"].contains(&message["role"].as_str().unwrap()));
    system.map(|message| text(&message["content"])).collect::<Vec<_>>().join("\n\n")
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
            let line = tokio::time::timeout(Duration::from_secs(100), self.output.next_line()).await;
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

/// An answer that never ends.
fn hangs(words: &str) -> Turn {
    let mut turn = told(words).text("I am still looking at it, and will be for long.");
    turn.fault = Some(Fault::Stall { at: mica_testkit::At::Middle });
    turn
}

fn beside(prompt: &str) -> Value {
    let mut arguments = sends("explore", prompt);
    arguments["background"] = json!(true);
    arguments
}
