//! The help desk through the real binary: its cases, and what people type.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "helpers of tests are tests")]

mod stage;

use std::path::{Path, PathBuf};

use mica_testkit::Scenario;
use serde_json::Value;
use stage::Stage;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../pack-desk/evals").canonicalize().unwrap()
}

fn files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    // What cases play from lies beside them.
    let is_case = |path: &Path| path.extension().is_some_and(|kind| kind == "toml");
    entries.map(|path| if path.is_dir() { files(&path) } else { usize::from(is_case(&path)) }).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_case_passes() {
    let count = files(&folder());
    assert!(count >= 70, "{count}");
    let stage = Stage::new(Scenario::new()).await;
    let folder = folder().display().to_string();
    let ran = stage.mica(&["eval", &folder, "--jobs", "2", "--report", "report.json"]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(stage.project().join("report.json")).unwrap()).unwrap();
    let cases = report["cases"].as_array().unwrap();
    for case in cases {
        assert_eq!(case["status"], "passed", "{case}");
    }
    assert_eq!(cases.len(), count);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_survives_the_process() {
    let stage = Stage::new(Scenario::new()).await;
    let desk = ["desk", "--data", "desk", "--scripted"];
    let with = |more: &[&'static str]| -> Vec<&'static str> {
        desk.iter().copied().chain(more.iter().copied()).collect()
    };
    let asked = stage.mica(&with(&["-p", "Mark Initech as active."])).await;
    assert_eq!(asked.code, Some(4), "{}{}", asked.out, asked.err);
    assert!(asked.err.contains("-status: at risk\n  +status: active"), "{}", asked.err);
    let waiting = stage.mica(&with(&["-p", "/waiting"])).await;
    assert!(waiting.out.starts_with("update_record Initech (company:initech) (+1 -1)"), "{}", waiting.out);
    let shown = stage.mica(&with(&["-p", "/show company:initech"])).await;
    assert!(shown.out.contains("status: at risk"), "{}", shown.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_are_told_with_what_would_be_right() {
    let stage = Stage::new(Scenario::new()).await;
    for (arguments, code, expect) in [
        (["--as", "nobody"], 1, "there is no member \"nobody\"; did you mean member:jonas"),
        (["--page", "inbx"], 1, "there is no page \"inbx\"; did you mean inbox? (the pages are: inbox"),
        (["--open", "thread:9"], 1, "there is no thread \"thread:9\""),
        (["-p", "/pge inbox"], 1, "there is no command /pge; did you mean /page?"),
        (["-p", "/approve nothing"], 1, "nothing"),
        (["-p", "/inbound nobody"], 1, "write for example: /inbound contact:ana-silva"),
        (["-p", "/clock -2h"], 1, "time goes forward only"),
        (["-p", "/clock +99999999999999d"], 1, "is no time that could pass; write for example /clock +2h"),
        (["-p", "/clock +9000y"], 1, "is too far"),
        (["-p", "/approve"], 1, "something is missing; write for example: /approve ID"),
        (["-p", "/snooze thread:1"], 1, "there is no proposal, and no question, \"thread:1\""),
        (["--approve", "q9"], 1, "there is no question \"q9\": nothing is asked in this conversation"),
        (["--mode", "plan"], 2, "--mode means nothing at the desk; what may be done is up to the member"),
        (["--allow", "shell"], 2, "--allow means nothing at the desk"),
        (["--resume", "abc"], 2, "--resume means nothing at the desk; the desk keeps conversations by name"),
        (["--pack", "mi"], 2, "--pack means nothing at the desk"),
        (["--extension", "a.ts"], 2, "--extension means nothing at the desk"),
        (["--model", "m"], 2, "--scripted asks no model, so --model means nothing"),
        (["--format", "json"], 2, "--format json is for what is done once"),
    ] {
        let mut all = vec!["desk", "--data", "desk", "--scripted"];
        all.extend(arguments);
        let ran = stage.mica(&all).await;
        assert_eq!(ran.code, Some(code), "{arguments:?} {}{}", ran.out, ran.err);
        assert!(ran.err.contains(expect), "{arguments:?} {}", ran.err);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_by_its_name() {
    let stage = Stage::new(Scenario::new()).await;
    let desk = ["desk", "--data", "desk", "--scripted"];
    let with =
        |more: &[&str]| -> Vec<String> { desk.iter().chain(more).map(|word| (*word).to_owned()).collect() };
    async fn runs(stage: &Stage, arguments: Vec<String>) -> stage::Ran {
        stage.mica(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).await
    }
    let asked = runs(&stage, with(&["-p", "Mark Initech as active."])).await;
    assert_eq!(asked.code, Some(4), "{}{}", asked.out, asked.err);
    let name = asked.err.split("its name: ").nth(1).and_then(|rest| rest.lines().next()).unwrap().to_owned();
    let how = format!(
        "desk: it waits for an answer: `mica desk --data desk --approve {name}`, or `--reject {name} --why …`"
    );
    assert!(asked.err.contains(&how), "{}", asked.err);
    let seen = runs(&stage, with(&["--format", "json", "-p", "/waiting"])).await;
    let seen: Value = serde_json::from_str(&seen.out).unwrap();
    assert_eq!(seen["waiting"][0]["name"], name.as_str());
    assert_eq!(seen["waiting"][0]["call"]["name"], "update_record");
    assert_eq!(seen["waiting"][0]["may"], true);
    let wrong = runs(&stage, with(&["--approve", "q7"])).await;
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.err.contains(&format!("there is no question \"q7\"; asked is: {name}")), "{}", wrong.err);
    let no = runs(&stage, with(&["--reject", "q1", "--why", "not yet"])).await;
    assert_eq!(no.code, Some(0), "{}{}", no.out, no.err);
    // The tour says what was done, and that was nothing.
    assert!(
        no.out.starts_with("That was not done.\n\n- update_record: ") && no.out.contains("not yet"),
        "{}",
        no.out
    );
    assert!(
        stage
            .does(&["desk", "--data", "desk", "--scripted", "-p", "/show company:initech"])
            .await
            .contains("at risk")
    );
    let again = runs(&stage, with(&["-p", "Mark Initech as active.", "--format", "json"])).await;
    assert_eq!(again.code, Some(4), "{}", again.err);
    let again: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(again["did"][0]["ended"], "suspended");
    let yes = runs(&stage, with(&["--approve", again["waiting"][0]["name"].as_str().unwrap()])).await;
    assert_eq!(yes.code, Some(0), "{}{}", yes.out, yes.err);
    assert!(yes.out.contains("standard, active"), "{}", yes.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_is_refused_what_they_may_not() {
    let stage = Stage::new(Scenario::new()).await;
    for (line, right) in [
        ("/assign thread:1053 triage", "mail.sort"),
        ("/unsend mail:001", "mail.send"),
        ("/undo 0001", "kb.write"),
        ("/sweep", "mail.sort"),
        ("/clock +1d", "agents.write"),
    ] {
        let ran = stage.mica(&["desk", "--data", "desk", "--scripted", "--as", "tomas", "-p", line]).await;
        let name = line.split(' ').next().unwrap();
        assert_eq!(ran.code, Some(1), "{line} {}{}", ran.out, ran.err);
        let expect = format!("desk: member:tomas may not do that: {name} needs the right {right}\n");
        assert!(ran.err.ends_with(&expect), "{line} {}", ran.err);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_goes_away_breaks_nothing() {
    let stage = Stage::new(Scenario::new()).await;
    let program = env!("CARGO_BIN_EXE_mica");
    let home = stage.folder.path().join("home");
    let ran = tokio::process::Command::new("sh")
        .env("MICA_HOME", &home)
        .current_dir(stage.project())
        .arg("-c")
        .arg(format!("{{ '{program}' desk --data desk --scripted -p /help -p /inbox -p /runs; echo \"code $?\" >&2; }} | head -1"))
        .output()
        .await
        .unwrap();
    let (out, err) = (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap());
    assert_eq!(out, "Lines are said to the copilot. @thread:1001 in a line mentions something.\n");
    assert!(err.ends_with("code 0\n") && !err.contains("panicked"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_triggered_is_on_record_for_the_next_process() {
    let stage = Stage::new(Scenario::new()).await;
    let desk = ["desk", "--data", "desk", "--scripted"];
    let with = |more: &[&'static str]| -> Vec<&'static str> {
        desk.iter().copied().chain(more.iter().copied()).collect()
    };
    let mail = "/inbound contact:ana-silva | Printer is down | It stopped printing.";
    let came = stage.mica(&with(&["-p", mail])).await;
    assert_eq!(came.code, Some(0), "{}{}", came.out, came.err);
    assert!(came.err.starts_with("desk: no model is asked, a script answers"), "{}", came.err);
    assert!(came.out.contains("agent:triage looked at thread:1061 (completed)"), "{}", came.out);
    let runs = stage.mica(&with(&["-p", "/runs"])).await.out;
    assert!(runs.starts_with("next: "), "{runs}");
    assert!(
        runs.contains("new-mail  agent:triage  completed  thread:1061\n  I read it, tagged it"),
        "{runs}"
    );
    assert!(runs.contains("  proposes 1 action: /bundle fire/new-mail/message:1061-1\n"), "{runs}");
    // A day passes: the night's sweep is made up for, once, and each thread has a bundle of its own.
    let night = stage.mica(&with(&["-p", "/clock +24h", "-p", "/clock +1s", "-p", "/runs"])).await.out;
    assert_eq!(night.matches("nightly-sweep  agent:sweep  completed").count(), 1, "{night}");
    assert_eq!(night.matches("quiet-thread  agent:sweep  completed").count(), 5, "{night}");
    let done = stage.mica(&with(&["-p", "/approve fire/new-mail/message:1061-1"])).await;
    assert!(done.out.contains("new-mail: approved\n  [x] temp_1"), "{}{}", done.out, done.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_answers_the_thread_that_it_has() {
    let stage = Stage::new(Scenario::new()).await;
    let mut all = vec!["desk", "--data", "desk", "--scripted"];
    for line in ["/assign thread:1053 triage", "/assign thread:1053 triage", "/show thread:1053"] {
        all.extend(["-p", line]);
    }
    let ran = stage.mica(&all).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert_eq!(ran.out.matches("the agent that has thread:1053 answered").count(), 1, "{}", ran.out);
    assert_eq!(ran.out.matches("by agent:triage, not sent:\n  Hello,").count(), 1, "{}", ran.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_nobody_answers_in_time_is_a_no() {
    let stage = Stage::new(Scenario::new()).await;
    let desk = ["desk", "--data", "desk", "--scripted"];
    let with = |more: &[&'static str]| -> Vec<&'static str> {
        desk.iter().copied().chain(more.iter().copied()).collect()
    };
    let asked = stage.mica(&with(&["-p", "Mark Initech as active."])).await;
    assert!(asked.err.contains("  an answer counts until "), "{}", asked.err);
    let late = stage.mica(&with(&["-p", "/clock +192h", "-p", "/waiting"])).await;
    assert!(late.out.ends_with("nothing is asked\n"), "{}{}", late.out, late.err);
    let shown = stage.mica(&with(&["-p", "/show company:initech"])).await;
    assert!(shown.out.contains("status: at risk"), "{}", shown.out);
}
