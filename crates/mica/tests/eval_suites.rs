//! The suites that come along, and the cases in the page about evals, through the real binary: all of them tell the same
//! bytes whenever they are played.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "helpers of tests are tests")]

mod stage;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mica_testkit::{Scenario, Turn};
use serde_json::{Value, json};
use stage::Stage;
use tokio::process::Command;

/// How long a suite may take on a machine that does other things as well.
const PATIENCE: Duration = Duration::from_secs(900);

fn suite(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).canonicalize().unwrap()
}

/// Plays a suite, and answers the journal of each case.
async fn journals(suite: &Path, folder: &Path, name: &str, jobs: &str) -> BTreeMap<String, Vec<u8>> {
    let (told, report) = (folder.join(name), folder.join(format!("{name}.json")));
    let mut command = Command::new(env!("CARGO_BIN_EXE_mica"));
    command
        .env_clear()
        .env("MICA_HOME", folder.join("home"))
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .current_dir(folder)
        .arg("eval")
        .arg(suite)
        .args(["--jobs", jobs, "--deadline", "600", "--journal"])
        .arg(&told)
        .arg("--report")
        .arg(&report)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let ran = tokio::time::timeout(PATIENCE, command.output()).await.unwrap().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stdout));
    let report: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
    let cases = report["cases"].as_array().unwrap().iter();
    let read = |case: &Value| {
        let name = case["name"].as_str().unwrap().to_owned();
        let bytes = std::fs::read(told.join(format!("{name}.jsonl"))).unwrap_or_default();
        (name, bytes)
    };
    cases.map(read).collect()
}

/// Every case of a suite tells something, and the same whether others are played beside it or not.
async fn tells_the_same(path: &str) -> BTreeMap<String, Vec<u8>> {
    let (suite, folder) = (suite(path), tempfile::tempdir().unwrap());
    let one = journals(&suite, folder.path(), "one", "6").await;
    let two = journals(&suite, folder.path(), "two", "2").await;
    assert!(one.keys().eq(two.keys()));
    let silent: Vec<&String> = one.iter().filter(|(_, told)| told.is_empty()).map(|(name, _)| name).collect();
    assert!(silent.is_empty(), "these tell nothing: {silent:?}");
    let differs: Vec<String> = one
        .iter()
        .filter(|(name, told)| two[*name] != **told)
        .map(|(name, told)| format!("{name}: {}", difference(told, &two[name])))
        .collect();
    assert!(differs.is_empty(), "{}", differs.join("\n"));
    one
}

fn difference(one: &[u8], two: &[u8]) -> String {
    let (one, two) = (String::from_utf8_lossy(one), String::from_utf8_lossy(two));
    let differs = one.lines().zip(two.lines()).find(|(one, two)| one != two);
    differs.map_or_else(|| "one is longer".to_owned(), |(one, two)| format!("\n  {one}\n  {two}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_case_of_the_desk_tells_the_same_bytes_twice() {
    let told = tells_the_same("../pack-desk/evals").await;
    assert!(told.len() > 90, "{}", told.len());
}

/// What is compared is what the program printed, with ids counted and times named.
#[tokio::test(flavor = "multi_thread")]
async fn every_case_of_projects_tells_the_same_bytes_twice() {
    let told = tells_the_same("../pack-mi/scenarios").await;
    assert!(told.len() > 30, "{}", told.len());
}

/// The cases in the page: each block is one.
#[tokio::test(flavor = "multi_thread")]
async fn every_case_in_the_page_can_be_played() {
    let page = include_str!("../../../docs/evals.md");
    let blocks: Vec<&str> =
        page.split("```toml\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect();
    assert_eq!(blocks.len(), 4, "what is added to the page is played here as well");
    let verdict = r#"{"verdict":"true","reason":"It is so."}"#;
    for (index, block) in blocks.iter().enumerate() {
        let stage = match block {
            block if block.contains("kind = \"cassette\"") => {
                Stage::new(Scenario::new().turn(Turn::new().text("Ana Silva is a contact."))).await
            }
            block if block.contains("[judge]") => {
                let judge = Scenario::new().turn(Turn::new().text(verdict)).turn(Turn::new().text(verdict));
                Stage::new(judge).await
            }
            _ => Stage::new(Scenario::new()).await,
        };
        let path = stage.project().join("shown.toml");
        std::fs::write(&path, block).unwrap();
        let ran = stage.mica(&["eval", "shown.toml"]).await;
        if block.contains(".jsonl") {
            assert_eq!(ran.code, Some(1), "{}", ran.out);
            assert!(ran.out.contains("record it with --record"), "{}", ran.out);
            let url = stage.server.url("/v1");
            let ran = stage.mica(&["eval", "shown.toml", "--record", "--base-url", &url]).await;
            assert_eq!(ran.code, Some(0), "block {}: {}{}", index + 1, ran.out, ran.err);
            assert!(!stage.server.captured().is_empty());
            let ran = stage.mica(&["eval", "shown.toml"]).await;
            assert_eq!(ran.code, Some(0), "block {}: {}{}", index + 1, ran.out, ran.err);
        } else {
            assert_eq!(ran.code, Some(0), "block {}: {}{}", index + 1, ran.out, ran.err);
        }
        assert!(!ran.out.contains("note:"), "{}", ran.out);
    }
}

/// A case of the desk that two models play a part in: the one that answers, and the one that judges.
const ASKED: &str = r#"
about = "A customer is found, and the answer is judged."
product = "desk"
clock = 2026-11-15T19:00:00Z

[model]
kind = "cassette"
file = "data/answer.jsonl"

[judge]
cassette = "data/judge.jsonl"

[[step]]
say = "Who is Ana Silva? The key is sk-live-0123456789abcdef0123."

[step.expect]
calls = ["search_records"]
text = { has = "contact" }

[[step]]
say = "Thank you."

[step.expect]
text = { has = "welcome" }
judge = ["The answer is polite."]
"#;

/// Recorded from an endpoint that speaks a wire, and played again when nobody is there.
async fn recorded_and_replayed(dialect: &str) {
    let verdict = r#"{"verdict":"true","reason":"It says welcome."}"#;
    let scenario = Scenario::new()
        .named(format!("{dialect} recorded"))
        .turn(
            Turn::new()
                .thinking("A name.")
                .text("I look.")
                .call("search_records", json!({ "query": "Ana Silva" })),
        )
        .turn(Turn::new().text("She is a contact of ours."))
        .turn(Turn::new().text("You are welcome; my own key is hunter2-hunter2 \"so\" it is."))
        .turn(Turn::new().text(verdict));
    let mut stage = Stage::new(scenario).await;
    // It comes back escaped: the quotes of it are within texts within texts.
    stage.set("SOME_SECRET", "hunter2-hunter2 \"so\"");
    std::fs::write(stage.project().join("asked.toml"), ASKED).unwrap();
    let root = if dialect == "messages" { "" } else { "/v1" };
    let url = stage.server.url(root);
    let arguments =
        ["eval", "asked.toml", "--record", "--base-url", &url, "--model", "scripted", "--dialect", dialect];
    let ran = stage.mica(&[&arguments[..], &["--journal", "recorded"]].concat()).await;
    assert_eq!(ran.code, Some(0), "{dialect}: {}{}", ran.out, ran.err);
    let asked = stage.server.captured();
    assert_eq!(asked.len(), 4, "{dialect}");
    assert!(asked.iter().all(|one| one.dialect.is_some_and(|spoken| spoken.name() == dialect)), "{dialect}");
    let tape = std::fs::read_to_string(stage.project().join("data/answer.jsonl")).unwrap();
    assert!(
        tape.starts_with(&format!("{{\"cassette\":1,\"model\":\"scripted\",\"dialect\":\"{dialect}\"}}\n")),
        "{tape}"
    );
    for secret in ["hunter2", "sk-live-0123456789"] {
        assert!(!tape.contains(secret), "{dialect}: {tape}");
    }

    // The endpoint is gone, and so are the words that were secret.
    let Stage { folder, server, .. } = stage;
    drop(server);
    let mut told = Vec::new();
    for name in ["one", "two"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mica"));
        command
            .env_clear()
            .env("MICA_HOME", folder.path().join("home"))
            .current_dir(folder.path().join("project"));
        command.args(["eval", "asked.toml", "--journal", name, "--report", "report.json"]);
        let ran = tokio::time::timeout(PATIENCE, command.output()).await.unwrap().unwrap();
        let out = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert_eq!(ran.status.code(), Some(0), "{dialect}: {out}");
        told.push(std::fs::read(folder.path().join("project").join(name).join("asked.jsonl")).unwrap());
    }
    assert!(told[0] == told[1], "{dialect}: {}", difference(&told[0], &told[1]));
    let report = std::fs::read(folder.path().join("project/report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    let checks = report["cases"][0]["checks"].as_array().unwrap();
    assert_eq!(checks.iter().filter(|check| check["judged"] == true).count(), 1, "{dialect}");
    // What was told while it was recorded, but for what was secret, is what is told again.
    let recorded = std::fs::read_to_string(folder.path().join("project/recorded/asked.jsonl")).unwrap();
    let (recorded, told) = (spoken(&recorded), spoken(&String::from_utf8_lossy(&told[0])));
    assert_eq!(recorded.replace("hunter2-hunter2 \"so\"", "[redacted]"), told, "{dialect}");
}

/// What a journal tells, with the pieces of texts put together: what is redacted is not told in pieces.
fn spoken(journal: &str) -> String {
    let mut all = String::new();
    for line in journal.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        match (event["type"].as_str().unwrap(), event["delta"]["text"].as_str()) {
            ("answer", Some(text)) => all.push_str(text),
            (kind, _) => all.push_str(&format!("\n{kind} {} {}\n", event["tool"], event["arguments"])),
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_recorded_on_the_wire_of_responses_is_played_without_it() {
    recorded_and_replayed("responses").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_recorded_on_the_wire_of_messages_is_played_without_it() {
    recorded_and_replayed("messages").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_recorded_on_the_wire_of_chat_is_played_without_it() {
    recorded_and_replayed("chat").await;
}
