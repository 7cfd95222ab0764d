//! The example of `docs/rpc.md`, played line by line, and approvals of a run that another process left waiting.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

use std::process::Stdio;
use std::time::Duration;

use mica_testkit::{Scenario, ScriptedServer};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

const SCENARIO: &str = r#"
name = "rpc"
[[turns]]
steps = [
  { text = "I write it." },
  { call = { id = "call_1", name = "file_write", args = { path = "a.txt", content = "mica\n" } } },
]
[[turns]]
steps = [{ text = "Done." }]
"#;

/// A program at the other end of the pipe.
struct Pipe {
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    _program: Child,
    /// Events that came while something else was expected: they may overtake an answer.
    passed: Vec<Value>,
}

impl Pipe {
    fn open(mut command: Command) -> Self {
        let mut program =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let output = BufReader::new(program.stdout.take().unwrap()).lines();
        Self { input: program.stdin.take().unwrap(), output, _program: program, passed: Vec::new() }
    }

    async fn send(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Reads until a line fits. Only events may be passed over.
    async fn expect(&mut self, expected: &Value) -> Value {
        if let Some(at) = self.passed.iter().position(|value| fits(expected, value)) {
            return self.passed.remove(at);
        }
        loop {
            let line = tokio::time::timeout(Duration::from_secs(100), self.output.next_line()).await;
            let line = line.unwrap_or_else(|_| panic!("never came: {expected}")).unwrap().unwrap();
            let value: Value = serde_json::from_str(&line).unwrap();
            if fits(expected, &value) {
                return value;
            }
            assert!(value.get("event").is_some(), "expected {expected}, read {value}");
            self.passed.push(value);
        }
    }
}

/// Whether a value has all that is expected. `"…"` is any value; lists are as long as they are written.
fn fits(expected: &Value, value: &Value) -> bool {
    match (expected, value) {
        (Value::String(any), _) if any == "…" => true,
        (Value::Object(expected), Value::Object(value)) => {
            expected.iter().all(|(key, expected)| value.get(key).is_some_and(|value| fits(expected, value)))
        }
        (Value::Array(expected), Value::Array(value)) => {
            expected.len() == value.len()
                && expected.iter().zip(value).all(|(expected, value)| fits(expected, value))
        }
        _ => expected == value,
    }
}

fn mica(folder: &tempfile::TempDir, server: &ScriptedServer, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mica"));
    command
        .env_clear()
        .env("MICA_HOME", folder.path().join("home"))
        .current_dir(folder.path().join("project"))
        .args(arguments)
        .args(["--base-url", &server.url("/v1"), "--model", "scripted"]);
    command
}

async fn stage() -> (tempfile::TempDir, ScriptedServer) {
    with(SCENARIO).await
}

async fn with(scenario: &str) -> (tempfile::TempDir, ScriptedServer) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("project")).unwrap();
    (folder, ScriptedServer::start(Scenario::from_toml(scenario).unwrap()).await.unwrap())
}

#[tokio::test]
async fn the_example_of_the_page_plays() {
    let page = include_str!("../../../docs/rpc.md");
    let example = page.split("## An example").nth(1).unwrap();
    let (folder, server) = stage().await;
    let mut pipe = Pipe::open(mica(&folder, &server, &["rpc"]));
    let mut played = 0;
    for line in example.lines() {
        if let Some(sent) = line.strip_prefix("> ") {
            pipe.send(sent).await;
            played += 1;
        } else if let Some(read) = line.strip_prefix("< ") {
            pipe.expect(&serde_json::from_str(read).unwrap()).await;
        }
    }
    assert_eq!(played, 12);
}

#[tokio::test]
async fn a_run_that_waits_is_answered_at_the_start() {
    let (folder, server) = stage().await;
    let waits = mica(&folder, &server, &["-p", "write a.txt"]).stdin(Stdio::null()).output().await.unwrap();
    assert_eq!(waits.status.code(), Some(4));
    let mut pipe = Pipe::open(mica(&folder, &server, &["rpc", "--continue"]));
    pipe.send(r#"{"id": 1, "method": "state"}"#).await;
    let asks = json!([{ "call": { "id": "call_1", "name": "file_write" } }]);
    pipe.expect(&json!({ "id": 1, "result": { "running": false, "asks": asks } })).await;
    pipe.send(r#"{"id": 2, "method": "resume", "decisions": [{"call": "call_1", "shown": "ba88d0d9da0b90f368abba1104f44ea2", "answer": "allow"}]}"#).await;
    pipe.expect(&json!({ "id": 2, "result": { "outcome": "completed" } })).await;
    assert_eq!(std::fs::read_to_string(folder.path().join("project/a.txt")).unwrap(), "mica\n");
}

const THREE: &str = r#"
name = "three"
[[turns]]
steps = [
  { call = { id = "one", name = "file_write", args = { path = "a.txt", content = "x" } } },
  { call = { id = "two", name = "file_write", args = { path = "AGENTS.md", content = "x" } } },
  { call = { id = "three", name = "file_write", args = { path = "c.txt", content = "x" } } },
]
[[turns]]
steps = [{ text = "Done." }]
[[turns]]
steps = [{ call = { id = "four", name = "file_write", args = { path = "d.txt", content = "x" } } }]
[[turns]]
steps = [{ text = "Done again." }]
[[turns]]
steps = [{ call = { id = "five", name = "file_write", args = { path = "e.txt", content = "x" } } }]
[[turns]]
steps = [{ text = "Not that." }]
"#;

#[tokio::test]
async fn a_yes_is_remembered_over_the_pipe() {
    let (folder, server) = with(THREE).await;
    let mut pipe = Pipe::open(mica(&folder, &server, &["rpc"]));
    let proposal =
        json!({ "scope": "session", "key": "file changes", "text": "all changes to files in this project" });
    pipe.send(r#"{"id": 1, "method": "prompt", "text": "write"}"#).await;
    let mut shown = Vec::new();
    for (call, proposals) in
        [("one", Some(json!([proposal]))), ("two", None), ("three", Some(json!([proposal])))]
    {
        let asked = json!({ "event": { "type": "approval_asked", "ask": { "call": { "id": call } } } });
        let ask = pipe.expect(&asked).await["event"]["ask"].clone();
        assert_eq!(ask.get("proposals"), proposals.as_ref(), "{ask}");
        shown.push(ask["shown"].clone());
    }
    let decide = |id: u32, call: &str, shown: &Value, remember: &Value| {
        let decision = json!({ "call": call, "shown": shown, "answer": "allow", "remember": remember });
        json!({ "id": id, "method": "approve", "decisions": [decision] }).to_string()
    };
    // What the question does not propose is an error, and the question stays open.
    for (call, shown, remember, words) in [
        ("two", &shown[1], &proposal, "does not propose to remember \"file changes\" for the session"),
        ("three", &shown[2], &json!({ "scope": "project", "key": "file changes" }), "for the project"),
    ] {
        pipe.send(&decide(2, call, shown, remember)).await;
        let error = pipe.expect(&json!({ "id": 2, "error": { "message": "…" } })).await;
        assert!(error["error"]["message"].as_str().unwrap().contains(words), "{error}");
    }
    pipe.send(r#"{"id": 3, "method": "approve", "decisions": [{"call": "one", "answer": "later"}]}"#).await;
    pipe.expect(&json!({ "id": 3, "error": { "message": "…" } })).await;
    // The last is answered first, by what names the proposal; the first is covered, and only the second is asked again.
    pipe.send(&decide(4, "three", &shown[2], &json!({ "scope": "session", "key": "file changes" }))).await;
    pipe.expect(&json!({ "id": 4, "result": {} })).await;
    let given = |call: &str| json!({ "event": { "type": "approval_given", "call": call } });
    let remembered = pipe.expect(&given("three")).await["event"]["decision"].clone();
    assert_eq!(remembered["remember"]["key"], "file changes");
    assert_eq!(pipe.expect(&given("one")).await["event"]["decision"], json!({ "answer": "allow" }));
    pipe.expect(&json!({ "event": { "type": "approval_asked", "ask": { "call": { "id": "two" } } } })).await;
    pipe.send(r#"{"id": 5, "method": "state"}"#).await;
    pipe.expect(&json!({ "id": 5, "result": { "asks": [{ "call": { "id": "two" } }] } })).await;
    pipe.send(
        r#"{"id": 6, "method": "approve", "decisions": [{"call": "two", "answer": "deny", "reason": "no"}]}"#,
    )
    .await;
    pipe.expect(&json!({ "id": 6, "result": {} })).await;
    pipe.expect(&json!({ "id": 1, "result": { "outcome": "completed" } })).await;
    pipe.send(r#"{"id": 7, "method": "prompt", "text": "more"}"#).await;
    pipe.expect(&json!({ "id": 7, "result": { "outcome": "completed" } })).await;
    pipe.send(r#"{"id": 8, "method": "rules"}"#).await;
    pipe.expect(&json!({ "id": 8, "result": { "remembered": [proposal] } })).await;
    let forget =
        json!({ "id": 9, "method": "rules", "forget": { "scope": "session", "key": "file changes" } });
    pipe.send(&forget.to_string()).await;
    pipe.expect(&json!({ "id": 9, "result": { "remembered": [] } })).await;
    pipe.send(&forget.to_string()).await;
    pipe.expect(&json!({ "id": 9, "error": { "message": "file changes is not remembered" } })).await;
    pipe.send(r#"{"id": 10, "method": "prompt", "text": "more"}"#).await;
    pipe.expect(&json!({ "event": { "type": "approval_asked", "ask": { "call": { "id": "five" } } } })).await;
    pipe.send(r#"{"id": 11, "method": "approve", "decisions": [{"call": "five", "answer": "deny", "reason": "no"}]}"#).await;
    pipe.expect(&json!({ "id": 11, "result": {} })).await;
    pipe.expect(&json!({ "id": 10, "result": { "outcome": "completed" } })).await;
    let exists = |name: &str| folder.path().join("project").join(name).exists();
    assert_eq!(
        ["a.txt", "AGENTS.md", "c.txt", "d.txt", "e.txt"].map(exists),
        [true, false, true, true, false]
    );
}

#[tokio::test]
async fn a_run_that_waited_remembers_over_the_pipe() {
    let (folder, server) = with(THREE).await;
    let waits = mica(&folder, &server, &["-p", "write"]).stdin(Stdio::null()).output().await.unwrap();
    assert_eq!(waits.status.code(), Some(4));
    let mut pipe = Pipe::open(mica(&folder, &server, &["rpc", "--continue"]));
    pipe.send(r#"{"id": 1, "method": "state"}"#).await;
    let state = pipe.expect(&json!({ "id": 1, "result": { "asks": ["…", "…", "…"] } })).await;
    let ask = &state["result"]["asks"][0];
    let decisions = json!([
        { "call": "one", "shown": ask["shown"], "answer": "allow", "remember": ask["proposals"][0] },
        // Asked again, behind what was remembered.
        { "call": "two", "answer": "later" },
    ]);
    pipe.send(&json!({ "id": 2, "method": "resume", "decisions": decisions }).to_string()).await;
    pipe.expect(&json!({ "event": { "type": "approval_asked", "ask": { "call": { "id": "two" } } } })).await;
    pipe.send(
        r#"{"id": 3, "method": "approve", "decisions": [{"call": "two", "answer": "deny", "reason": "no"}]}"#,
    )
    .await;
    pipe.expect(&json!({ "id": 3, "result": {} })).await;
    pipe.expect(&json!({ "id": 2, "result": { "outcome": "completed" } })).await;
    let exists = |name: &str| folder.path().join("project").join(name).exists();
    assert_eq!(["a.txt", "AGENTS.md", "c.txt"].map(exists), [true, false, true]);
}

#[tokio::test]
async fn promise_8_a_program_undoes_and_redoes() {
    let (folder, server) = stage().await;
    let file = folder.path().join("project/a.txt");
    let mut pipe = Pipe::open(mica(&folder, &server, &["rpc", "--yes"]));
    pipe.send(r#"{"id": 1, "method": "prompt", "text": "write a.txt"}"#).await;
    pipe.expect(&json!({ "id": 1, "result": { "outcome": "completed" } })).await;
    pipe.send(r#"{"id": 2, "method": "undoable"}"#).await;
    let files = json!([{ "path": "a.txt", "before": "nothing", "after": "a file", "bytes_after": 5 }]);
    pipe.expect(&json!({ "id": 2, "result": { "runs": [{ "words": "write a.txt", "undone": false, "files": files }] } }))
        .await;
    pipe.send(r#"{"id": 3, "method": "undo", "dry_run": true}"#).await;
    pipe.expect(
        &json!({ "id": 3, "result": { "done": false, "files": [{ "path": "a.txt", "does": "remove" }] } }),
    )
    .await;
    assert!(file.exists());
    pipe.send(r#"{"id": 4, "method": "undo"}"#).await;
    pipe.expect(&json!({ "id": 4, "result": { "done": true, "way": "undo" } })).await;
    assert!(!file.exists());
    pipe.send(r#"{"id": 5, "method": "redo"}"#).await;
    pipe.expect(&json!({ "id": 5, "result": { "done": true, "way": "redo" } })).await;
    assert!(file.exists());
    std::fs::write(&file, "mine\n").unwrap();
    pipe.send(r#"{"id": 6, "method": "undo"}"#).await;
    let conflicts = json!([{ "path": "a.txt", "why": "it was edited since: +1 −1 lines" }]);
    pipe.expect(&json!({ "id": 6, "result": { "done": false, "conflicts": conflicts } })).await;
    pipe.send(r#"{"id": 7, "method": "redo"}"#).await;
    pipe.expect(&json!({ "id": 7, "error": { "message": "…" } })).await;
}

/// The same as for a plain call: who answers over the pipe needs to know nothing of how it was called.
#[tokio::test]
async fn a_deferred_call_that_waits_is_answered_over_the_pipe() {
    let deferred = SCENARIO.replace(
        r#"name = "file_write", args = { path = "a.txt", content = "mica\n" }"#,
        r#"name = "call_tool", args = { name = "file_write", arguments = { path = "a.txt", content = "mica\n" } }"#,
    );
    let (folder, server) = with(&deferred).await;
    let settings = folder.path().join("home/config");
    std::fs::create_dir_all(&settings).unwrap();
    std::fs::write(settings.join("config.toml"), "defer = [\"file_write\"]\n").unwrap();
    let waits = mica(&folder, &server, &["-p", "write a.txt"]).stdin(Stdio::null()).output().await.unwrap();
    assert_eq!(waits.status.code(), Some(4));
    let mut pipe = Pipe::open(mica(&folder, &server, &["rpc", "--continue"]));
    pipe.send(r#"{"id": 1, "method": "state"}"#).await;
    let asks = json!([{
        "call": { "id": "call_1", "name": "file_write" },
        "arguments": { "path": "a.txt", "content": "mica\n" },
        "preview": { "kind": "diff", "title": "a.txt" },
    }]);
    pipe.expect(&json!({ "id": 1, "result": { "running": false, "asks": asks } })).await;
    pipe.send(r#"{"id": 2, "method": "resume", "decisions": [{"call": "call_1", "shown": "ba88d0d9da0b90f368abba1104f44ea2", "answer": "allow"}]}"#).await;
    pipe.expect(&json!({ "event": { "type": "call_start", "tool": "file_write", "label": "Write file" } }))
        .await;
    pipe.expect(&json!({ "id": 2, "result": { "outcome": "completed" } })).await;
    assert_eq!(std::fs::read_to_string(folder.path().join("project/a.txt")).unwrap(), "mica\n");
}

const TALK: &str = r#"
name = "talk"
[[turns]]
steps = [{ text = "One." }]
[[turns]]
steps = [{ text = "Two." }]
[[turns]]
steps = [{ text = "Three." }]
[[turns]]
steps = [{ text = "Four." }]
[[turns]]
steps = [{ call = { id = "write", name = "file_write", args = { path = "a.txt", content = "x" } } }]
[[turns]]
steps = [{ text = "Six." }]
[[turns]]
steps = [{ text = "Seven." }]
"#;

/// What the newest user message of each request says about the editor.
fn about_the_editor(server: &ScriptedServer) -> Vec<String> {
    let said = |request: &mica_testkit::Captured| {
        let messages = request.json["messages"].as_array().unwrap().clone();
        let newest = messages.iter().rev().find(|message| message["role"] == "user").unwrap().to_string();
        let at = newest.find("<section id=\\\"editor\\\"");
        let tail = at.map_or("", |at| &newest[at..]);
        let end = tail.find("</section>").or(tail.find("/>")).unwrap_or(0);
        tail[..end].replace("\\\"", "'").replace("\\n", "|")
    };
    server.captured().iter().map(said).collect()
}

#[tokio::test]
async fn what_a_client_tells_of_its_editor_is_told_once_and_taken_back() {
    // Any pack hears of it: the folder with a project of Micro Integrator, and one without.
    for is_mi in [false, true] {
        let (folder, server) = with(TALK).await;
        if is_mi {
            std::fs::create_dir_all(folder.path().join("project/src/main/wso2mi/artifacts")).unwrap();
        }
        let mut pipe = Pipe::open(mica(&folder, &server, &["rpc"]));
        let open = r#""context": {"open_file": "apis/A.xml", "selection": "<call/>"}"#;
        for (id, context) in [
            (1, format!(", {open}")),
            (2, format!(", {open}")),
            (3, r#", "context": {"open_file": "b"}"#.into()),
            (4, String::new()),
        ] {
            pipe.send(&format!(r#"{{"id": {id}, "method": "prompt", "text": "Go on."{context}}}"#)).await;
            pipe.expect(&json!({ "id": id, "result": { "outcome": "completed" } })).await;
        }
        // What is said to a run that goes on tells it too; said without, everything is as it was.
        pipe.send(r#"{"id": 5, "method": "prompt", "text": "Write."}"#).await;
        let asked = pipe.expect(&json!({ "event": { "type": "approval_asked" } })).await;
        pipe.send(&format!(r#"{{"id": 6, "method": "steer", "text": "Look.", {open}}}"#)).await;
        pipe.expect(&json!({ "id": 6, "result": {} })).await;
        pipe.send(r#"{"id": 7, "method": "steer", "text": "And go on."}"#).await;
        pipe.expect(&json!({ "id": 7, "result": {} })).await;
        let shown = asked["event"]["ask"]["shown"].as_str().unwrap();
        pipe.send(&format!(
            r#"{{"id": 8, "method": "approve", "decisions": [{{"call": "write", "shown": "{shown}", "answer": "allow"}}]}}"#
        ))
        .await;
        pipe.expect(&json!({ "id": 8, "result": {} })).await;
        pipe.expect(&json!({ "id": 5, "result": { "outcome": "completed" } })).await;
        let told = "<section id='editor'>|The user has apis/A.xml open.|Selected there:|<call/>|";
        assert_eq!(
            about_the_editor(&server),
            [
                told,
                "",
                "<section id='editor'>|The user has b open.|",
                "<section id='editor' state='gone'",
                "",
                told,
                ""
            ]
        );

        pipe.send(r#"{"id": 9, "method": "prompt", "text": "x", "context": {"opened": "a"}}"#).await;
        let refused = pipe.expect(&json!({ "id": 9, "error": {} })).await;
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(
            message.starts_with(
                "this is no request: unknown field `opened`, expected `open_file` or `selection`"
            ),
            "{message}"
        );
    }
}
