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
    let out = out + rest;
    let Some((before, after)) = out.rsplit_once(" in ") else { return out };
    format!(
        "{before} in N{}",
        after.trim_start_matches(|c: char| c.is_ascii_digit() || ". s".contains(c)).replacen('(', " (", 1)
    )
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
            "mica: P/cases/wrong.toml:20:34: unknown key `tmes`; did you mean `times`? (known: tool, args, match, matches, times)\n"
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
    assert_eq!(
        (ran.code, ran.out.as_str(), ran.err.replace(&project, "P").as_str()),
        (
            Some(2),
            "",
            "mica: P/other.toml: there is no product \"mia\"; did you mean \"mi\"? (there are: mi, desk)\n"
        )
    );
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
    let temporary = tempfile::tempdir().unwrap();
    let temporary = temporary.path();
    let mut stage = Stage::new(Scenario::new()).await;
    stage.set("TMPDIR", temporary.to_str().unwrap());
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
    let left: Vec<_> = std::fs::read_dir(temporary).unwrap().flatten().collect();
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
            "the cassette judge.jsonl does not fit: request 1 is not the one that was recorded: message 1 user changed in it: recorded"
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
    assert!(ran.out.contains("the cassette 20_replay.jsonl does not fit: request 1"), "{}", ran.out);
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

/// A case of a project, with other lines in it.
fn project_case(setup: &str, end: &str) -> String {
    format!(
        "about = \"It stays where it belongs.\"\nproduct = \"mi\"\n{setup}\n[[step]]\nsay = \"Hi\"\nturn = [{{ says = \"Ho\" }}]\n{end}\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_case_reads_and_writes_nothing_but_its_own() {
    let stage = Stage::new(Scenario::new()).await;
    let outside = stage.folder.path().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("secret.txt"), "sesame").unwrap();
    let out = outside.display().to_string();
    put(&stage, "cases/sample/pom.xml", "<project/>");
    std::os::unix::fs::symlink(outside.join("secret.txt"), stage.project().join("cases/sample/stolen.txt"))
        .unwrap();
    std::os::unix::fs::symlink(&outside, stage.project().join("cases/linked")).unwrap();
    let link = "[[step]]\nevent = \"command\"\nargs = { args = [\"-C\", \"/\", \"check\"] }";
    let cases = [
        (
            "files_up",
            project_case("setup.files.\"../../up.txt\" = \"x\"", ""),
            "setup.files: \"../../up.txt\" has `..` in it: name something below the project",
        ),
        (
            "files_abs",
            project_case(&format!("setup.files.\"{out}/abs.txt\" = \"x\""), ""),
            "setup.files: \"OUT/abs.txt\" is an absolute path: name something below the project",
        ),
        (
            "look_abs",
            project_case("", &format!("[after.\"{out}/secret.txt\"]\ngone = true")),
            "\"OUT/secret.txt\" is an absolute path",
        ),
        ("look_up", project_case("", "[after.\"../../../x\"]\ngone = true"), "\"../../../x\" has `..` in it"),
        (
            "sample_up",
            project_case("setup.sample = \"../../outside\"", ""),
            "setup.sample: \"../../outside\" has `..` in it",
        ),
        (
            "sample_link",
            project_case("setup.sample = \"linked\"", ""),
            "setup.sample: linked leads out of the folder of the case",
        ),
        (
            "sample_stolen",
            project_case("setup.sample = \"sample\"", ""),
            "is a link that leads out of the sample, or to a folder",
        ),
        ("command", project_case("", link), "args.args: \"-C\" leads elsewhere: a case stays in its project"),
        (
            "flag",
            project_case("", "")
                .replace("turn =", &format!("with = {{ args = [\"--extension={out}/x.rhai\"] }}\nturn =")),
            "with.args: \"--extension=OUT/x.rhai\" leads out of the project",
        ),
    ];
    for (name, text, _) in &cases {
        put(&stage, &format!("cases/{name}.toml"), text);
    }
    let ran = stage.mica(&["eval", "cases", "--report", "report.json"]).await;
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let report = report(&stage, "report.json");
    for (name, _, problem) in &cases {
        let case = report["cases"].as_array().unwrap().iter().find(|case| case["name"] == *name).unwrap();
        let said = case["problem"].as_str().unwrap_or_default().replace(&out, "OUT");
        assert_eq!(case["status"], "error", "{name}: {case}");
        assert!(said.contains(problem), "{name}: {said}");
    }
    let left: Vec<_> = std::fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["secret.txt"]);

    // Recordings and scripts: what leads out by its words is no case, and what leads out over a link is not played.
    let taped = |file: &str| {
        format!(
            "about = \"x\"\nproduct = \"desk\"\n[model]\nkind = \"scenario\"\nfile = \"{file}\"\n[[step]]\nsay = \"Hi\"\nexpect.text = {{ has = \"x\" }}\n"
        )
    };
    put(&stage, "tape/up.toml", &taped("../up.json"));
    let ran = stage.mica(&["eval", "tape/up.toml"]).await;
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("up.toml:5:8: `model.file`: \"../up.json\" has `..` in it"), "{}", ran.err);
    std::os::unix::fs::symlink(&outside, stage.project().join("tape/linked")).unwrap();
    put(&stage, "tape/linked.toml", &taped("linked/secret.txt"));
    let ran = stage.mica(&["eval", "tape/linked.toml"]).await;
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("linked/secret.txt leads out of the folder of the case"), "{}", ran.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_wrongly_is_said_and_nothing_is_played() {
    let stage = Stage::new(Scenario::new()).await;
    put(&stage, "cases/fine.toml", FINE);
    for (flags, said) in [
        (&["--jobs", "0"][..], "0 is not in 1..=65535"),
        (&["--deadline", "0"], "0 is not in 1.."),
        (
            &["--mode", "ask"],
            "mica: `mica eval` does not take --mode: a case says itself how it is played (docs/evals.md)",
        ),
        (
            &["--allow", "shell", "--resume", "x", "--pack", "mi", "--yes"],
            "does not take --resume, --pack, --allow, --yes:",
        ),
        (&["--max-turns", "3", "--extension", "x"], "does not take --max-turns, --extension:"),
    ] {
        let ran = stage.mica(&[&["eval", "cases"], flags].concat()).await;
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{flags:?}");
        assert!(ran.err.contains(said), "{flags:?}: {}", ran.err);
    }
    let tape = "about = \"x\"\nproduct = \"desk\"\n[model]\nkind = \"cassette\"\nfile = \"one.jsonl\"\n[[step]]\nsay = \"Hi\"\n";
    put(&stage, "two/a.toml", tape);
    put(&stage, "two/b.toml", tape);
    let ran = stage.ask(&["eval", "two", "--record"]).await;
    let project = stage.project().display().to_string();
    assert_eq!(
        (ran.code, ran.err.replace(&project, "P").as_str()),
        (Some(2), "mica: P/two/b.toml: one.jsonl is recorded by P/two/a.toml as well: give each its own\n")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_in_a_case_name_what_is_wrong() {
    let stage = Stage::new(Scenario::new()).await;
    let case = |more: &str| {
        format!(
            "about = \"x\"\nproduct = \"desk\"\n{more}\n[[step]]\nsay = \"Hi\"\nturn = [{{ says = \"\\u001b[31mHo\" }}]\n"
        )
    };
    put(&stage, "c/nothing.toml", &case(""));
    put(&stage, "c/limits.toml", &case("setup.limits.tokens = \"many\""));
    put(&stage, "c/seed.toml", &case("setup.mailz = []"));
    put(&stage, "c/mock.toml", &case("[[mock]]\ntool = \"search_record\"\noutput = \"x\""));
    put(&stage, "c/red.toml", &(case("") + "expect.text = { equals = \"Hi\" }\n"));
    let ran = stage.mica(&["eval", "c", "--junit", "out.xml"]).await;
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    for said in [
        "ok    nothing (",
        "      note: it expects nothing but that its runs complete: say what must come of it with [step.expect] or [after]\n",
        "`setup.limits.tokens`: this is the text \"many\"; a whole number from 0 on is expected\n",
        "unknown key `mailz`; did you mean `mails`?",
        "mock 1: there is no tool \"search_record\"; did you mean \"search_records\"?",
        "found:    \\u{1b}[31mHo\n",
    ] {
        assert!(ran.out.contains(said), "{said}: {}", ran.out);
    }
    let xml = read(&stage, "out.xml");
    assert!(!ran.out.contains('\u{1b}') && !xml.contains('\u{1b}'), "{xml}");
    assert!(xml.contains("found: \\u{1b}[31mHo"), "{xml}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_makes_nothing_gone() {
    let stage = Stage::new(Scenario::new()).await;
    for name in ["a", "b", "c"] {
        put(&stage, &format!("cases/{name}_case.toml"), FINE);
    }
    let ran = stage.mica(&["eval", "cases", "--report", "all.json"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    std::fs::remove_file(stage.project().join("cases/c_case.toml")).unwrap();
    let since = |out: &str| out.split_once("Since the baseline:\n").unwrap().1.to_owned();
    let ran = stage.mica(&["eval", "cases", "--filter", "a_case", "--baseline", "all.json"]).await;
    assert_eq!((ran.code, since(&ran.out).as_str()), (Some(0), "1 gone:\n  c_case\n"));
    let ran = stage.mica(&["eval", "cases", "--baseline", "all.json", "--format", "json"]).await;
    let compared: Value = serde_json::from_str(&ran.out).unwrap();
    let changes: Vec<&Value> =
        compared["comparison"].as_array().unwrap().iter().map(|case| &case["change"]).collect();
    assert_eq!(changes, ["still_passing", "still_passing", "gone"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_stops_it_reads_what_was_played() {
    let stage = Stage::new(Scenario::new()).await;
    let desk = "about = \"x\"\nproduct = \"desk\"\n[[step]]\nsay = \"Hi\"\n";
    put(
        &stage,
        "cases/a_quick.toml",
        &format!("{desk}turn = [{{ says = \"Ho\" }}]\nexpect.text.has = \"Ho\"\n"),
    );
    let stalls = format!("{desk}turn = [{{ says = \"Ho\", fault = {{ stall = {{ at = \"middle\" }} }} }}]\n");
    put(&stage, "cases/b_stalls.toml", &stalls);
    put(&stage, "cases/c_waits.toml", &stalls);
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_mica"));
    command
        .env_clear()
        .env("MICA_HOME", stage.folder.path().join("home"))
        .current_dir(stage.project())
        .args([
            "eval",
            "cases",
            "--jobs",
            "1",
            "--report",
            "out.json",
            "--junit",
            "out.xml",
            "--journal",
            "told",
        ])
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true);
    let child = command.spawn().unwrap();
    // The first is over when its journal is there.
    let told = stage.project().join("told/a_quick.jsonl");
    let wait = async {
        while !told.exists() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(110), wait).await.unwrap();
    let id = child.id().unwrap().to_string();
    let sent = tokio::process::Command::new("kill").args(["-INT", &id]).status().await.unwrap();
    assert!(sent.success());
    let ended = tokio::time::timeout(std::time::Duration::from_secs(110), child.wait_with_output()).await;
    let ended = ended.unwrap().unwrap();
    let out = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{out}");
    assert!(out.contains("1 passed, 0 failed, 2 left out in "), "{out}");
    let report = report(&stage, "out.json");
    let statuses: Vec<&Value> =
        report["cases"].as_array().unwrap().iter().map(|case| &case["status"]).collect();
    assert_eq!(statuses, ["passed", "skipped", "skipped"]);
    assert_eq!(report["cases"][1]["problem"], "it was not played to its end: playing was stopped");
    assert_eq!(read(&stage, "out.xml").matches("<skipped ").count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_with_something_secret_in_it_is_not_written() {
    // An escape that nobody redacts: the model spells the slash of the key as JSON may have it.
    let mut stage =
        Stage::new(Scenario::new().turn(Turn::new().text(r#"{"key": "open\/sesame\/now"}"#))).await;
    stage.set("DOOR_KEY", "open/sesame/now");
    let case = "about = \"x\"\nproduct = \"desk\"\n[model]\nkind = \"cassette\"\nfile = \"one.jsonl\"\n[[step]]\nsay = \"Hi\"\nexpect.text.has = \"sesame\"\n";
    put(&stage, "one.toml", case);
    let ran = stage.ask(&["eval", "one.toml", "--record"]).await;
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(
        ran.out.contains("one.jsonl was not written: something secret of the environment or the settings"),
        "{}",
        ran.out
    );
    assert!(!stage.project().join("one.jsonl").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_mistake_of_every_file_is_told_and_nothing_moves_the_cursor() {
    let stage = Stage::new(Scenario::new()).await;
    put(&stage, "c/one.toml", "about = 3\nproduct = \"mi\"\n[[step]]\nsay = \"Hi\"\nexpect.text = \"Ho\"\n");
    put(&stage, "c/two.toml", "about = \"x\"\nprodukt = \"mi\"\n[[step]]\nsay = \"Hi\"\n");
    let ran = stage.mica(&["eval", "c"]).await;
    let project = stage.project().display().to_string();
    assert_eq!(
        (ran.code, ran.out.as_str(), ran.err.replace(&project, "P").as_str()),
        (
            Some(2),
            "",
            "mica: P/c/one.toml:1:9: `about`: this is 3; a text is expected\n\
             mica: P/c/one.toml:5:15: `step[0].expect.text`: this is the text \"Ho\"; a table with any of equals, not, has, lacks, \
             matches, includes, excludes, exists, gone, same, at_least, at_most, near, count is expected\n\
             mica: P/c/two.toml:2:1: unknown key `produkt`; did you mean `product`? (known: about, product, tags, clock, \
             deadline, journal, setup, unmatched, mock, model, judge, turn, step, after)\n"
        )
    );
    // Names and sentences are other people's words, and a row is a row.
    put(&stage, "d/a\u{1b}[2Jb\nc.toml", &FINE.replace("A file is", "A \\u001b[31mfile\\nis"));
    put(&stage, "d/z.toml", FINE);
    let listed = stage.mica(&["eval", "--list", "d"]).await;
    assert_eq!(
        (listed.code, listed.out.as_str()),
        (Some(0), "a\\u{1b}[2Jb\\nc  A \\u{1b}[31mfile\\nis written.\nz               A file is written.\n")
    );
    put(&stage, "e/a\u{1b}[2Jb.toml", "x");
    let ran = stage.mica(&["eval", "e", "--filter", "\u{9b}"]).await;
    assert_eq!(ran.code, Some(2));
    assert!(
        !ran.err.contains(['\u{1b}', '\u{9b}']) && ran.err.contains("a\\u{1b}[2Jb.toml:1:"),
        "{:?}",
        ran.err
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_the_way_of_a_report_is_said_before_anything_is_played() {
    let stage = Stage::new(Scenario::new()).await;
    put(&stage, "cases/fine.toml", FINE);
    let tape = "about = \"x\"\nproduct = \"desk\"\n[model]\nkind = \"cassette\"\nfile = \"data/t.jsonl\"\n[[step]]\nsay = \"Hi\"\n";
    put(&stage, "taped/a.toml", tape);
    put(&stage, "taped/data/t.jsonl", "theirs");
    put(&stage, "file", "");
    put(&stage, "old.json", &json!({ "version": 1, "cases": [] }).to_string());
    std::os::unix::fs::symlink("x.json", stage.project().join("link.json")).unwrap();
    put(&stage, "x.json", "mine");
    let project = stage.project().display().to_string();
    for (flags, said) in [
        (
            &["cases", "--report", "x.json", "--junit", "./x.json"][..],
            "mica: --junit and --report are one file, P/./x.json: one would overwrite the other\n",
        ),
        (
            &["cases", "--report", "link.json", "--junit", "x.json"],
            "mica: --junit and --report are one file, P/x.json: one would overwrite the other\n",
        ),
        (
            &["cases", "--junit", "old.json", "--baseline", "old.json"],
            "mica: --junit and --baseline are one file, P/old.json: one would overwrite the other\n",
        ),
        (
            &["cases", "--report", "file/x", "--junit", "cases", "--journal", "file"],
            "mica: --report: P/file/x: P/file is no folder\nmica: --junit: P/cases: this is a folder: name a file in it\n\
             mica: --journal: P/file/a case: P/file is no folder\n",
        ),
        (
            &["cases", "--report", "cases/fine.toml"],
            "mica: --report: P/cases/fine.toml belongs to the case fine\n",
        ),
        (
            &["taped", "--junit", "taped/data/t.jsonl"],
            "mica: --junit: P/taped/data/t.jsonl belongs to the case a\n",
        ),
        (
            &["cases", "--record"],
            "mica: there is nothing to record: no case has a cassette (`kind = \"cassette\"` in [model], or `cassette` in \
             [judge])\n",
        ),
    ] {
        let ran = stage.mica(&[&["eval"], flags].concat()).await;
        assert_eq!(
            (ran.code, ran.out.as_str(), ran.err.replace(&project, "P").as_str()),
            (Some(2), "", said),
            "{flags:?}"
        );
    }
    assert_eq!(
        (read(&stage, "x.json").as_str(), read(&stage, "taped/data/t.jsonl").as_str()),
        ("mine", "theirs")
    );
    // A recording that could not be kept is not paid for.
    std::fs::remove_dir_all(stage.project().join("taped/data")).unwrap();
    put(&stage, "taped/data", "a file");
    let ran = stage.ask(&["eval", "taped", "--record"]).await;
    assert_eq!(
        (ran.code, ran.err.replace(&project, "P").as_str()),
        (
            Some(2),
            "mica: P/taped/a.toml: nothing can be recorded: P/taped/data/t.jsonl: P/taped/data is no folder\n"
        )
    );
    assert_eq!(stage.server.captured().len(), 0);
    // Folders are made, and a report may take the place of the baseline.
    let ran = stage.mica(&["eval", "cases", "--report", "new/deep/x.json", "--junit", "/dev/null"]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let both = ["eval", "cases", "--report", "new/deep/x.json", "--baseline", "new/deep/x.json"];
    assert!(stage.does(&both).await.contains("Since the baseline:\nnothing changed\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asks_twice_leaves_nothing_behind() {
    let stage = Stage::new(Scenario::new()).await;
    let temporary = tempfile::tempdir().unwrap();
    // More than a pipe takes: nobody reads it, so that after the first signal it waits for the second.
    let words = "x".repeat(1 << 20);
    let desk = format!("about = \"{words}\"\nproduct = \"desk\"\n[[step]]\nsay = \"Hi\"\n");
    let stalls = format!("{desk}turn = [{{ says = \"Ho\", fault = {{ stall = {{ at = \"middle\" }} }} }}]\n");
    put(&stage, "cases/stalls.toml", &stalls);
    // One that was killed, long ago.
    std::fs::create_dir_all(temporary.path().join("mica-eval-1-dead/0/home")).unwrap();
    std::fs::write(temporary.path().join("mica-eval-1-dead/lock"), "").unwrap();
    let names = || -> Vec<String> {
        let entries = std::fs::read_dir(temporary.path()).unwrap().flatten();
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
    };
    let start = || {
        tokio::process::Command::new(env!("CARGO_BIN_EXE_mica"))
            .env_clear()
            .env("MICA_HOME", stage.folder.path().join("home"))
            .env("TMPDIR", temporary.path())
            .current_dir(stage.project())
            .args(["eval", "cases", "--format", "json"])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap()
    };
    let plays = |name: &str| {
        let world = temporary.path().join(name).join("0/desk.db");
        name.starts_with("mica-eval-") && world.exists()
    };
    let wait = async |other: &str| -> String {
        loop {
            if let Some(name) = names().into_iter().find(|name| plays(name) && name != other) {
                return name;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let mut killed = start();
    let left = wait("").await;
    assert_eq!(names(), [left.as_str()], "what was left behind is gone");
    // It lives, so another one leaves it alone.
    let mut twice = start();
    let own = wait(&left).await;
    assert!(names().contains(&left));
    killed.kill().await.unwrap();
    let id = twice.id().unwrap().to_string();
    let tell = async || {
        tokio::process::Command::new("kill").args(["-INT", &id]).status().await.unwrap();
    };
    // How often it was asked decides, not how fast: it is asked until it is gone.
    let ended = async {
        loop {
            tell().await;
            let again = std::time::Duration::from_millis(50);
            if let Ok(ended) = tokio::time::timeout(again, twice.wait()).await {
                return ended.unwrap();
            }
        }
    };
    assert_eq!(ended.await.code(), Some(130));
    assert!(!names().contains(&own), "{:?}", names());
    // The next one takes away what the one that was killed left.
    put(&stage, "cases/stalls.toml", FINE);
    let done = start().wait_with_output().await.unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert_eq!(names(), Vec::<String>::new());
}
