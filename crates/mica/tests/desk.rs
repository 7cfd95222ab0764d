//! The help desk through the real binary: its cases, and what people type.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

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
        (["--page", "inbx"], 1, "there is no page \"inbx\"; the pages are: inbox"),
        (["--open", "thread:9"], 1, "there is no thread \"thread:9\""),
        (["-p", "/pge inbox"], 1, "there is no command /pge; did you mean /page?"),
        (["-p", "/approve nothing"], 1, "nothing"),
        (["-p", "/inbound nobody"], 1, "write for example: /inbound contact:ana-silva"),
        (["-p", "/clock -2h"], 1, "time goes forward only"),
    ] {
        let mut all = vec!["desk", "--data", "desk", "--scripted"];
        all.extend(arguments);
        let ran = stage.mica(&all).await;
        assert_eq!(ran.code, Some(code), "{arguments:?} {}{}", ran.out, ran.err);
        assert!(ran.err.contains(expect), "{arguments:?} {}", ran.err);
    }
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
    assert!(runs.contains("  proposes 1 actions: /bundle fire/new-mail/message:1061-1\n"), "{runs}");
    // A day passes: the night's sweep is made up for, once, and each thread has a bundle of its own.
    let night = stage.mica(&with(&["-p", "/clock +24h", "-p", "/clock +1m", "-p", "/runs"])).await.out;
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
