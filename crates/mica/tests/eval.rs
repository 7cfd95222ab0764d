//! `mica eval`, through the real binary: what passes, what fails, what is no case, reports, comparisons and recordings.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "helpers of tests are tests")]

#[path = "eval/breaking.rs"]
mod breaking;
#[path = "eval/mistakes.rs"]
mod mistakes;
#[path = "eval/recordings.rs"]
mod recordings;
#[path = "eval/reports.rs"]
mod reports;
mod stage;
#[path = "eval/worlds.rs"]
mod worlds;

use mica_testkit::{Scenario, Turn};
use serde_json::{Value, json};
use stage::Stage;

const FINE: &str = r#"
about = "A file is written."
product = "mi"
tags = ["files"]
setup.runtime = "4.4.0"

[[step]]
say = "Write it."
with = { args = ["--yes"] }

[[step.turn]]
sees = ["Write it."]
calls = [{ tool = "file_write", args = { path = "notes.txt", content = "one\n" } }]

[[step.turn]]
says = "Written."

[step.expect]
text = { has = "Written." }
called = [{ tool = "file_write", args = { path = "notes.txt" }, times = 1 }]
not_called = ["shell"]
prefix_stable = true

[after."notes.txt"]
equals = "one\n"
"#;

fn put(stage: &Stage, path: &str, text: &str) {
    let path = stage.project().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn read(stage: &Stage, path: &str) -> String {
    std::fs::read_to_string(stage.project().join(path)).unwrap()
}

fn report(stage: &Stage, path: &str) -> Value {
    serde_json::from_str(&read(stage, path)).unwrap()
}

/// What is printed, without how long it took.
fn timeless(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(" s") {
        let number = rest[..at].rfind('(').unwrap_or(at);
        let is_time = rest[number..at].trim_start_matches('(').parse::<f64>().is_ok();
        out.push_str(if is_time { &rest[..number] } else { &rest[..at + 2] });
        out.push_str(if is_time { "(TIME" } else { "" });
        rest = &rest[at + 2..];
    }
    let out = out + rest;
    let Some((before, after)) = out.rsplit_once(" in ") else { return out };
    format!(
        "{before} in N{}",
        after.trim_start_matches(|c: char| c.is_ascii_digit() || ". s".contains(c)).replacen('(', " (", 1)
    )
}

/// The cases that come with the help desk.
fn desk_evals() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../pack-desk/evals").canonicalize().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_passes_passes_and_what_fails_says_why() {
    let stage = Stage::new(Scenario::new()).await;
    put(&stage, "cases/fine.toml", FINE);
    let ran = stage.mica(&["eval", "cases"]).await;
    assert_eq!(
        (ran.code, timeless(&ran.out).as_str(), ran.err.as_str()),
        (Some(0), "ok    fine (TIME)\n1 passed, 0 failed in N (TIME of playing)\n", "")
    );

    put(
        &stage,
        "cases/sub/broken.toml",
        &FINE.replace("equals = \"one\\n\"", "equals = \"two\\n\"").replace("times = 1", "times = 2"),
    );
    let ran = stage.mica(&["eval", "cases"]).await;
    assert_eq!(
        (ran.code, timeless(&ran.out).as_str()),
        (
            Some(1),
            "ok    fine (TIME)\nFAIL  sub/broken (TIME)\n      A file is written.\n      step 1: called\n        expected: \
             file_write {\"path\":\"notes.txt\"}, 2 times\n        found:    file_write \
             {\"content\":\"one\\n\",\"path\":\"notes.txt\"}\n      the end: notes.txt\n        expected: two\n        found:    \
             one\n1 passed, 1 failed in N (TIME of playing)\n"
        )
    );

    let listed = stage.mica(&["eval", "cases", "--list", "--filter", "BROKEN"]).await;
    assert_eq!((listed.code, listed.out.as_str()), (Some(0), "sub/broken  A file is written.\n"));
    let tagged = stage.does(&["eval", "cases", "--list", "--filter", "files", "--format", "json"]).await;
    let tagged: Value = serde_json::from_str(&tagged).unwrap();
    assert_eq!(tagged[0]["name"], "fine");
    assert_eq!(tagged.as_array().unwrap().len(), 2);
    let none = stage.mica(&["eval", "cases", "--filter", "nothing"]).await;
    assert_eq!(none.code, Some(2));
    assert_eq!(none.err, "mica: no case has nothing in its name, tags or sentence\n");
}
