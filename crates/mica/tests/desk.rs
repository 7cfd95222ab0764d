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
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { 1 }).sum()
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
