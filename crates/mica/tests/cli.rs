//! The program as people run it: the real binary, a scripted model over real HTTP, folders of its own.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mica_testkit::{At, Fault, Scenario, ScriptedServer, Turn};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// A folder to work in, a home, and a model.
struct Stage {
    folder: tempfile::TempDir,
    server: ScriptedServer,
}

/// What a run of the program came to.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Stage {
    async fn new(scenario: Scenario) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        std::fs::write(folder.path().join("project/a.txt"), "hello\nworld\n").unwrap();
        Self { folder, server: ScriptedServer::start(scenario).await.unwrap() }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.project().join(name)).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mica"));
        command
            .env_clear()
            .env("MICA_HOME", self.folder.path().join("home"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .current_dir(self.project())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Runs the program with the scripted model.
    async fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, None).await
    }

    async fn run_with(&self, arguments: &[&str], input: Option<&str>) -> Ran {
        let url = self.server.url("/v1");
        let mut command = self.command(arguments);
        command.args(["--base-url", &url, "--model", "scripted"]);
        if input.is_some() {
            command.stdin(Stdio::piped());
        }
        finish(command, input).await
    }
}

async fn finish(mut command: Command, input: Option<&str>) -> Ran {
    let mut child = command.spawn().unwrap();
    if let Some(input) = input {
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).await.unwrap();
    }
    let output =
        tokio::time::timeout(Duration::from_secs(110), child.wait_with_output()).await.unwrap().unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn reads_and_edits() -> Scenario {
    Scenario::new()
        .turn(Turn::new().text("I read it.").call("file_read", json!({ "path": "a.txt" })))
        .turn(Turn::new().call("file_edit", json!({ "path": "a.txt", "old": "world", "new": "mica" })))
        .turn(Turn::new().text("Done."))
}

#[tokio::test]
async fn a_prompt_is_answered_and_the_file_is_changed() {
    let stage = Stage::new(reads_and_edits()).await;
    let ran = stage.run(&["-p", "change it", "--yes"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "I read it.\nDone.\n"), "{}", ran.err);
    assert_eq!(stage.file("a.txt"), "hello\nmica\n");
    assert!(ran.err.contains("a.txt"), "what it does is told: {}", ran.err);
}

#[tokio::test]
async fn without_an_approval_the_run_is_suspended_and_goes_on_later() {
    let stage = Stage::new(reads_and_edits()).await;
    let ran = stage.run(&["-p", "change it"]).await;
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert_eq!(stage.file("a.txt"), "hello\nworld\n", "nothing was changed");
    let ran = stage.run(&["--continue", "--yes"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Done.\n"), "{}", ran.err);
    assert_eq!(stage.file("a.txt"), "hello\nmica\n");
    assert_eq!(stage.server.captured().len(), 3, "nothing was asked twice");
}

#[tokio::test]
async fn promise_6_a_headless_run_never_waits_for_a_person() {
    let stage = Stage::new(reads_and_edits()).await;
    // With a session the question is kept, and without an answer the next run takes it as a no, with a reason.
    let ran = stage.run(&["-p", "change it", "--output", "json"]).await;
    let summary: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &summary["outcome"]), (Some(4), &json!("suspended")), "{}", ran.err);
    let ran = stage.run(&["--continue"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Done.\n"), "{}", ran.err);
    let sent = stage.server.captured()[2].json["messages"].as_array().unwrap().clone();
    let refusal = sent.last().unwrap();
    assert_eq!(refusal["role"], "tool");
    assert!(
        refusal["content"]
            .to_string()
            .contains("Refused without asking a person: the run was continued without an approval"),
        "{refusal}"
    );
    assert_eq!(stage.file("a.txt"), "hello\nworld\n");
    // Without a session nobody can answer later: it is refused with a reason, and the run goes on.
    let stage = Stage::new(reads_and_edits()).await;
    let ran = stage.run(&["-p", "change it", "--no-session"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "I read it.\nDone.\n"), "{}", ran.err);
    assert!(!ran.err.contains("--resume"), "{}", ran.err);
    let sent = stage.server.captured()[2].json["messages"].as_array().unwrap().clone();
    let refusal = sent.last().unwrap()["content"].to_string();
    assert!(refusal.contains("Refused without asking a person: nobody is there to approve it"), "{refusal}");
    assert_eq!(stage.file("a.txt"), "hello\nworld\n");
}

#[tokio::test]
async fn a_rule_allows_what_it_names() {
    let stage = Stage::new(reads_and_edits()).await;
    let ran = stage.run(&["-p", "change it", "--allow", "file_edit(*.txt)"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(stage.file("a.txt"), "hello\nmica\n");
}

#[tokio::test]
async fn ask_mode_changes_nothing() {
    let stage = Stage::new(reads_and_edits()).await;
    let ran = stage.run(&["-p", "change it", "--yes", "--mode", "ask"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(stage.file("a.txt"), "hello\nworld\n");
}

#[tokio::test]
async fn a_session_goes_on_with_everything_that_was_said() {
    let stage = Stage::new(reads_and_edits().turn(Turn::new().text("It was world."))).await;
    assert_eq!(stage.run(&["-p", "change it", "--yes"]).await.code, Some(0));
    let ran = stage.run(&["-c", "-p", "what was it?"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "It was world.\n"), "{}", ran.err);
    let requests = stage.server.captured();
    let before = requests[2].json["messages"].as_array().unwrap().clone();
    let now = requests[3].json["messages"].as_array().unwrap().clone();
    assert_eq!(now[..before.len()], before[..], "the conversation only grew");
    let listed = finish(stage.command(&["sessions", "list", "--json"]), None).await;
    let sessions: Value = serde_json::from_str(&listed.out).unwrap();
    assert_eq!(sessions[0]["title"], "change it");
    let id = sessions[0]["id"].as_str().unwrap();
    let exported = finish(stage.command(&["sessions", "export", id, "--form", "html"]), None).await;
    assert!(exported.out.contains("It was world.") && exported.out.contains("</html>"));
    // Once taken for the form of a run's output.
    let written = finish(stage.command(&["sessions", "export", id, "--output", "said.md"]), None).await;
    assert_eq!((written.code, written.out.as_str()), (Some(0), "said.md is written\n"), "{}", written.err);
    assert_eq!(finish(stage.command(&["sessions", "rm", id]), None).await.code, Some(0));
    assert_eq!(finish(stage.command(&["sessions", "list", "--json"]), None).await.out.trim(), "[]");
}

#[tokio::test]
async fn json_is_one_object_and_stream_json_every_event() {
    let stage = Stage::new(reads_and_edits()).await;
    let ran = stage.run(&["-p", "change it", "--yes", "--output", "json"]).await;
    let summary: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (&summary["outcome"], &summary["text"], &summary["turns"]),
        (&json!("completed"), &json!("Done."), &json!(3))
    );
    let stage = Stage::new(reads_and_edits()).await;
    let ran = stage.run(&["-p", "change it", "--yes", "--output", "stream-json"]).await;
    let events: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seq: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seq, (0..events.len() as u64).collect::<Vec<_>>());
    assert_eq!(
        (&events[0]["type"], &events[events.len() - 1]["type"]),
        (&json!("run_start"), &json!("run_end"))
    );
}

#[tokio::test]
async fn what_is_piped_in_joins_the_prompt() {
    let stage = Stage::new(Scenario::from(Turn::new().text("Seen."))).await;
    let ran = stage.run_with(&["-p", "explain"], Some("line one\nline two\n")).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Seen.\n"), "{}", ran.err);
    let sent = stage.server.captured()[0].json["messages"].to_string();
    assert!(sent.contains("explain") && sent.contains("line two"), "{sent}");
}

#[tokio::test]
async fn limits_end_a_run_with_their_own_code() {
    let turns = Turn::new().call("file_read", json!({ "path": "a.txt" })).repeat(2);
    let scenario = Scenario::new().turn(turns).otherwise(Turn::new().text("I stop here."));
    let stage = Stage::new(scenario).await;
    let ran = stage.run(&["-p", "read on", "--max-turns", "2"]).await;
    assert_eq!(ran.code, Some(3), "{} {}", ran.out, ran.err);
    assert!(ran.err.contains("turns"), "{}", ran.err);
}

#[tokio::test]
async fn mistakes_are_told_with_what_to_do() {
    let stage = Stage::new(Scenario::new()).await;
    let nothing = finish(stage.command(&["-p", "hi"]), None).await;
    assert_eq!(nothing.code, Some(1));
    assert!(nothing.err.contains("AZURE_OPENAI"), "{}", nothing.err);
    let usage = finish(stage.command(&["--no-such-flag"]), None).await;
    assert_eq!(usage.code, Some(2));
    let effort = stage.run(&["-p", "hi", "--effort", "much"]).await;
    assert!(effort.code == Some(2) && effort.err.contains("minimal"), "{}", effort.err);
    let mode = stage.run(&["-p", "hi", "--mode", "yolo"]).await;
    assert!(mode.code == Some(2) && mode.err.contains("plan"), "{}", mode.err);
    let rule = stage.run(&["-p", "hi", "--allow", "file_edit("]).await;
    assert!(rule.code == Some(2) && rule.err.contains("file_edit("), "{}", rule.err);
    let dialect = stage.run(&["-p", "hi", "--dialect", "klingon"]).await;
    assert!(dialect.code == Some(2) && dialect.err.contains("responses"), "{}", dialect.err);
    let resumed = stage.run(&["--resume", "nope", "-p", "hi"]).await;
    assert_eq!(resumed.code, Some(1), "{}", resumed.err);
    let both = stage.run(&["--resume", "nope", "--no-session", "-p", "hi"]).await;
    assert!(both.code == Some(2) && both.err.contains("--no-session"), "{}", both.err);
    let empty = stage.run(&["-p", " "]).await;
    assert!(empty.code == Some(1) && empty.err.contains("nothing to do"), "{}", empty.err);
    for command in ["enable", "disable", "log", "allow"] {
        let unknown = finish(stage.command(&["ext", command, "nope"]), None).await;
        assert!(
            unknown.code == Some(1) && unknown.err.contains("no extension"),
            "{command}: {}",
            unknown.err
        );
    }
}

#[tokio::test]
async fn settings_that_nobody_set_are_explained() {
    let stage = Stage::new(Scenario::new()).await;
    for (key, value) in [("mcp.send_tools", "10"), ("hooks.enabled", "true"), ("extensions.disable", "[]")] {
        let told = finish(stage.command(&["config", "explain", key]), None).await;
        assert!(told.out.starts_with(value) && told.out.contains("\n# "), "{key}: {}{}", told.out, told.err);
    }
    let paths = finish(stage.command(&["config", "paths"]), None).await.out;
    for place in ["config/extensions\n", "config/hooks.json\n", "config/mcp.json\n"] {
        assert!(paths.contains(place), "{paths}");
    }
}

#[tokio::test]
async fn project_settings_need_trust() {
    let stage = Stage::new(Scenario::new()).await;
    std::fs::create_dir(stage.project().join(".mica")).unwrap();
    std::fs::write(stage.project().join(".mica/config.toml"), "allow = [\"*\"]\n").unwrap();
    let explain = |stage: &Stage| stage.command(&["config", "explain", "allow"]);
    let before = finish(explain(&stage), None).await;
    assert_eq!(before.code, Some(1), "{}", before.out);
    assert_eq!(finish(stage.command(&["trust"]), None).await.code, Some(0));
    let after = finish(explain(&stage), None).await;
    assert!(after.out.contains("counts"), "{} {}", after.out, after.err);
    std::fs::write(stage.project().join(".mica/config.toml"), "allow = [\"*\", \"x\"]\n").unwrap();
    assert_eq!(finish(explain(&stage), None).await.code, Some(1), "what changed needs trust anew");
}

#[tokio::test]
async fn the_settings_of_the_page_are_read() {
    let page = include_str!("../../../docs/cli.md");
    let settings = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let stage = Stage::new(Scenario::new()).await;
    let home = stage.folder.path().join("home/config");
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("config.toml"), settings).unwrap();
    let models = finish(stage.command(&["models", "my-model"]), None).await;
    let row = models.out.lines().nth(1).map(|row| row.split_whitespace().collect::<Vec<_>>());
    assert_eq!(row, Some(vec!["my-model", "chat", "32000", "8000", "?", "?", "local"]), "{}", models.err);
    let doctor = finish(stage.command(&["doctor"]), None).await;
    assert_eq!(doctor.code, Some(0), "{}", doctor.out);
}

#[tokio::test]
async fn a_pipe_drives_an_agent() {
    let stage = Stage::new(reads_and_edits()).await;
    let url = stage.server.url("/v1");
    let mut command = stage.command(&["rpc", "--base-url", &url, "--model", "scripted"]);
    command.stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines =
        tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(child.stdout.take().unwrap()));
    let mut send = async |value: Value| stdin.write_all(format!("{value}\n").as_bytes()).await.unwrap();
    send(json!({ "id": 0, "method": "dance" })).await;
    send(json!({ "id": 1, "method": "prompt", "text": "change it" })).await;
    let mut results: Vec<Value> = Vec::new();
    while results.len() < 3 {
        let line = tokio::time::timeout(Duration::from_secs(100), lines.next_line())
            .await
            .unwrap()
            .unwrap()
            .unwrap();
        let value: Value = serde_json::from_str(&line).unwrap();
        if value["event"]["type"] == "approval_asked" {
            let call = value["event"]["ask"]["call"]["id"].clone();
            let shown = value["event"]["ask"]["shown"].clone();
            let decision = json!({ "call": call, "shown": shown, "answer": "allow" });
            send(json!({ "id": 2, "method": "approve", "decisions": [decision] })).await;
        }
        if value.get("id").is_some() {
            results.push(value);
        }
    }
    assert!(results[0]["error"]["message"].as_str().unwrap().contains("dance"));
    assert_eq!(results[1], json!({ "id": 2, "result": {} }));
    assert_eq!(results[2], json!({ "id": 1, "result": { "outcome": "completed" } }));
    assert_eq!(stage.file("a.txt"), "hello\nmica\n");
}

#[tokio::test]
async fn a_killed_run_is_marked_and_goes_on() {
    let stalls = Turn::new().text("half").fault(Fault::Stall { at: At::Middle });
    let stage = Stage::new(reads_and_edits_until(stalls).turn(Turn::new().text("Back."))).await;
    let url = stage.server.url("/v1");
    let mut command = stage.command(&["-p", "change it", "--yes", "--base-url", &url, "--model", "scripted"]);
    let mut child = command.spawn().unwrap();
    let began = std::time::Instant::now();
    while stage.server.captured().len() < 3 {
        assert!(began.elapsed() < Duration::from_secs(100), "the third request never came");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    child.kill().await.unwrap();
    assert_eq!(stage.file("a.txt"), "hello\nmica\n");
    let ran = stage.run(&["-c", "-p", "go on"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Back.\n"), "{}", ran.err);
    let sent = stage.server.captured()[3].json["messages"].as_array().unwrap().clone();
    let roles: Vec<&str> = sent.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(
        roles.iter().filter(|role| **role == "tool").count(),
        2,
        "no finished turn is missing: {roles:?}"
    );
}

fn reads_and_edits_until(last: Turn) -> Scenario {
    Scenario::new()
        .turn(Turn::new().text("I read it.").call("file_read", json!({ "path": "a.txt" })))
        .turn(Turn::new().call("file_edit", json!({ "path": "a.txt", "old": "world", "new": "mica" })))
        .turn(last)
}

#[test]
fn the_manual_and_completions_are_written() {
    let run = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_mica"))
            .env("MICA_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")))
            .args(arguments)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run(&["man"]).contains(".TH mica"));
    assert!(run(&["completions", "bash"]).contains("_mica"));
}
