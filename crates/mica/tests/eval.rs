//! `mica eval`, through the real binary: what passes, what fails, what is no case, reports, comparisons and recordings.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "helpers of tests are tests")]

mod stage;

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
    out + rest
}

#[tokio::test(flavor = "multi_thread")]
async fn what_passes_passes_and_what_fails_says_why() {
    let stage = Stage::new(Scenario::new()).await;
    put(&stage, "cases/fine.toml", FINE);
    let ran = stage.mica(&["eval", "cases"]).await;
    assert_eq!(
        (ran.code, timeless(&ran.out).as_str(), ran.err.as_str()),
        (Some(0), "ok    fine (TIME)\n1 passed, 0 failed (TIME of playing)\n", "")
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
             one\n1 passed, 1 failed (TIME of playing)\n"
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

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_case_is_said_with_its_line_before_anything_is_played() {
    let stage = Stage::new(Scenario::new()).await;
    put(&stage, "cases/fine.toml", FINE);
    put(
        &stage,
        "cases/wrong.toml",
        &FINE.replace(
            "tool = \"file_write\", args = { path = \"notes.txt\" }, times",
            "tool = \"file_write\", tmes",
        ),
    );
    let project = stage.project().display().to_string();
    let ran = stage.mica(&["eval", "cases"]).await;
    assert_eq!(
        (ran.code, ran.out.as_str(), ran.err.replace(&project, "P").as_str()),
        (
            Some(2),
            "",
            "mica: P/cases/wrong.toml:20: unknown key `tmes`; did you mean `times`? (known: tool, args, match, matches, times)\n"
        )
    );
    let ran = stage.mica(&["eval", "nowhere.toml"]).await;
    assert_eq!(
        (ran.code, ran.err.replace(&project, "P").as_str()),
        (Some(2), "mica: P/nowhere.toml: No such file or directory (os error 2)\n")
    );
    std::fs::create_dir(stage.project().join("empty")).unwrap();
    let ran = stage.mica(&["eval", "empty"]).await;
    assert_eq!(
        (ran.code, ran.err.replace(&project, "P").as_str()),
        (Some(2), "mica: P/empty: there is no case (*.toml) below this folder\n")
    );
    put(&stage, "other.toml", &FINE.replace("product = \"mi\"", "product = \"mia\""));
    let ran = stage.mica(&["eval", "other.toml"]).await;
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("there is no product \"mia\"; did you mean \"mi\"?"), "{}", ran.out);
    let ran = stage.mica(&["eval", "cases/fine.toml", "--fail-on", "regressed"]).await;
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (Some(2), "mica: --fail-on regressed needs a --baseline to compare with\n")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_are_compared() {
    let stage = Stage::new(Scenario::new()).await;
    let failing = FINE.replace("equals = \"one\\n\"", "equals = \"two\\n\"");
    put(&stage, "cases/a.toml", FINE);
    put(&stage, "cases/b.toml", &failing);
    put(&stage, "cases/c.toml", FINE);
    let ran =
        stage.mica(&["eval", "cases", "--report", "out/before.json", "--junit", "out/before.xml"]).await;
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    let statuses = |report: &Value| -> Vec<Value> {
        report["cases"].as_array().unwrap().iter().map(|case| case["status"].clone()).collect()
    };
    assert_eq!(statuses(&report(&stage, "out/before.json")), ["passed", "failed", "passed"]);
    let xml = read(&stage, "out/before.xml");
    assert!(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"), "{xml}");
    assert_eq!((xml.matches("<testcase ").count(), xml.matches("<failure ").count()), (3, 1), "{xml}");

    // The baseline says that `a` failed and `b` passed, with the same cases: now it is the other way round.
    let mut before = report(&stage, "out/before.json");
    before["cases"][0]["status"] = json!("failed");
    before["cases"][0]["checks"] = before["cases"][1]["checks"].clone();
    before["cases"][1]["status"] = json!("passed");
    before["cases"][1]["checks"] = json!([]);
    put(&stage, "out/turned.json", &before.to_string());
    put(&stage, "cases/c.toml", &FINE.replace("Write it.", "Write this."));
    put(&stage, "cases/d.toml", FINE);
    let ran = stage.mica(&["eval", "cases", "--baseline", "out/turned.json", "--fail-on", "regressed"]).await;
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    let (_, since) = ran.out.split_once("Since the baseline:\n").unwrap();
    assert_eq!(
        since,
        "1 regressed:\n  b\n1 fixed:\n  a\n1 new:\n  d (passed)\n1 incomparable: the case was changed, or left out:\n  c \
         (passed)\n"
    );
    // What failed before may fail.
    let ran = stage.mica(&["eval", "cases", "--baseline", "out/before.json", "--fail-on", "regressed"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    let ran = stage.mica(&["eval", "cases", "--baseline", "cases/a.toml"]).await;
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("is no report of `mica eval --report`"), "{}", ran.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_read_one_object() {
    let stage = Stage::new(Scenario::new()).await;
    put(&stage, "fine.toml", FINE);
    let ran = stage.mica(&["eval", "fine.toml", "--format", "json"]).await;
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let case = &report["cases"][0];
    assert_eq!(
        (&case["name"], &case["status"], &case["requests"]),
        (&json!("fine"), &json!("passed"), &json!(2))
    );
    assert_eq!(report["version"], 1);
    // Folders of cases do not stay.
    let left = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    let left: Vec<_> = left
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with("mica-eval-")))
        .filter(|entry| {
            let name = entry.file_name();
            let id = name.to_str().unwrap().trim_start_matches("mica-eval-").to_owned();
            !std::path::Path::new("/proc").join(id).exists()
        })
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_judge_is_recorded_once_and_played_without_a_model() {
    let verdict = r#"{"verdict":"true","reason":"It says so."}"#;
    let stage = Stage::new(Scenario::new().turn(Turn::new().text(verdict))).await;
    let text = FINE
        .replace("prefix_stable = true", "judge = \"Something was written.\"")
        .replace("[[step]]", "[judge]\ncassette = \"tape/judge.jsonl\"\n\n[[step]]");
    put(&stage, "judged.toml", &text);
    let ran = stage.mica(&["eval", "judged.toml"]).await;
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("ERROR judged") && ran.out.contains("record it with --record"), "{}", ran.out);
    let ran = stage.ask(&["eval", "judged.toml", "--record"]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert_eq!(stage.server.captured().len(), 1);
    let tape = read(&stage, "tape/judge.jsonl");
    assert!(tape.starts_with("{\"cassette\":1,\"model\":\"scripted\","), "{tape}");
    // No model is there, and none is asked.
    let ran = stage.mica(&["eval", "judged.toml", "--report", "report.json"]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let checks = report(&stage, "report.json")["cases"][0]["checks"].clone();
    let judged: Vec<&Value> =
        checks.as_array().unwrap().iter().filter(|check| check["judged"] == true).collect();
    assert_eq!(judged.len(), 1);
    put(&stage, "judged.toml", &text.replace("Something was", "Nothing was"));
    let ran = stage.mica(&["eval", "judged.toml"]).await;
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.out.contains(
            "the cassette does not fit: request 1 is not the one that was recorded: message 1 user changed in it: recorded"
        ) && ran.out.contains("Nothing was written."),
        "{}",
        ran.out
    );
    assert_eq!(stage.server.captured().len(), 1, "nobody was asked");
}

/// The cases that come with the help desk.
fn desk_evals() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../pack-desk/evals").canonicalize().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_conversation_of_the_desk_is_replayed_byte_for_byte() {
    let card = "```mica:record-card\n{ \"id\": \"contact:ana-silva\" }\n```";
    let scenario = Scenario::new()
        .named("desk replay")
        .turn(Turn::new().thinking("A contact.").call("search_records", json!({ "query": "Ana Silva" })))
        .turn(Turn::new().text(format!("Ana Silva is one of our contacts.\n\n{card}\n")))
        .turn(Turn::new().call("create_task", json!({ "title": "Call Ana Silva" })))
        .turn(Turn::new().text("It is on your list."));
    let stage = Stage::new(scenario).await;
    let case = std::fs::read_to_string(desk_evals().join("20_replay_byte_for_byte.toml")).unwrap();
    let journal = case.lines().find(|line| line.starts_with("journal = ")).unwrap().to_owned();
    put(&stage, "replay.toml", &case.replace(&format!("{journal}\n"), ""));

    // Recording it again gives the file that comes along.
    let ran = stage.ask(&["eval", "replay.toml", "--record"]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert_eq!(stage.server.captured().len(), 4);
    let recorded = read(&stage, "data/20_replay.jsonl");
    let kept = desk_evals().join("data/20_replay.jsonl");
    let fresh = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("20_replay.jsonl");
    std::fs::write(&fresh, &recorded).unwrap();
    assert_eq!(
        std::fs::read_to_string(&kept).unwrap_or_default(),
        recorded,
        "when the desk says something else on purpose, put {} in the place of {}",
        fresh.display(),
        kept.display()
    );

    // Played twice it tells the same, and it is what was told when the case was written.
    let mut journals = Vec::new();
    for folder in ["one", "two"] {
        let ran = stage.mica(&["eval", "replay.toml", "--journal", folder, "--report", "report.json"]).await;
        assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
        journals.push(std::fs::read(stage.project().join(folder).join("replay.jsonl")).unwrap());
    }
    assert_eq!(stage.server.captured().len(), 4, "nobody was asked again");
    assert!(!journals[0].is_empty() && journals[0] == journals[1]);
    let digest = report(&stage, "report.json")["cases"][0]["journal"].clone();
    assert_eq!(journal, format!("journal = {digest}"));

    // Another journal fails the case, and a changed word does not fit the cassette.
    put(&stage, "other.toml", &case.replace(&journal, "journal = \"0123456789abcdef\""));
    let ran = stage.mica(&["eval", "other.toml"]).await;
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("the end: journal\n        expected: 0123456789abcdef"), "{}", ran.out);
    put(&stage, "changed.toml", &case.replace("Who is Ana", "Who was Ana"));
    let ran = stage.mica(&["eval", "changed.toml"]).await;
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("the cassette does not fit: request 1"), "{}", ran.out);
}

/// Each of these breaks a case of the desk on purpose: what it shows is really looked at.
#[tokio::test(flavor = "multi_thread")]
async fn cases_of_the_desk_fail_when_what_they_show_is_not_so() {
    let stage = Stage::new(Scenario::new()).await;
    let broken = [
        ("14_valves/01_turns", "turns = 2", "turns = 3"),
        ("14_valves/02_tokens", "tokens = 10000", "tokens = 100000"),
        ("14_valves/03_cost", "cost = 1.0", "cost = 100.0"),
        ("14_valves/04_cost_without_prices", "{ limits = { cost = 1.0 } }", "{}"),
        ("14_valves/05_time", "milliseconds = 50", "milliseconds = 60000"),
        ("14_valves/06_failures", "failures = 3", "failures = 9"),
        ("14_valves/07_failures_between_successes", "failures = 2", "failures = 1"),
        ("14_valves/08_identical_calls", "args = { query = \"a\" }", "args = { query = \"b\" }"),
        ("14_valves/09_a_failing_call_again", "times = 2", "times = 3"),
        (
            "14_valves/10_terminal_tool",
            "suggest_replies\", args = { replies = [\"Close it\", \"Wait\"] }",
            "list_members\", args = {}",
        ),
        (
            "14_valves/11_terminal_tool_beside_a_failure",
            "\"always_fails\", args = { name = \"one\" }",
            "\"list_members\", args = {}",
        ),
        ("14_valves/12_truncated_answer", "stop = \"length\"", ""),
        ("14_valves/13_truncated_text", "stop = \"length\"", ""),
        ("14_valves/14_tool_deadline", "60000", "1"),
        ("14_valves/15_huge_output", "500000", "90000"),
        ("14_valves/16_huge_output_spilled", ", spill = 4000", ""),
        ("14_valves/17_plan_size", ", { label = \"Step 31\" }", ""),
        ("14_valves/18_plan_step_length", "xx", ""),
        ("14_valves/19_context_slice", "90002", "2"),
        ("14_valves/20_approvals", "approvals = 2", "approvals = 3"),
        ("14_valves/21_injecting_output", "update_record\\\"", "get_record\\\""),
        ("05_reconnect_in_a_run", "lose = 3", "lose = 300"),
        (
            "22_another_model_goes_on",
            "args = { name = \"gpt-5.5\", dialect = \"responses\" }",
            "args = { name = \"claude-sonnet-4-6\", dialect = \"messages\" }",
        ),
    ];
    for (name, of, with) in broken {
        let text = std::fs::read_to_string(desk_evals().join(format!("{name}.toml"))).unwrap();
        assert!(text.contains(of), "{name} has no {of}");
        let at = if name.contains("08_identical") { 1 } else { usize::MAX };
        let text =
            if at == 1 { text.replacen(of, with, 2).replacen(with, of, 1) } else { text.replace(of, with) };
        put(&stage, &format!("broken/{name}.toml"), &text);
    }
    let ran = stage.mica(&["eval", "broken", "--report", "broken.json"]).await;
    assert_eq!(ran.code, Some(1));
    let report = report(&stage, "broken.json");
    let passed: Vec<&Value> =
        report["cases"].as_array().unwrap().iter().filter(|case| case["status"] == "passed").collect();
    assert_eq!(report["cases"].as_array().unwrap().len(), broken.len());
    assert!(passed.is_empty(), "{passed:?}");
}
