//! Jobs in Micro Integrator projects, through the real binary: each file in `crates/pack-mi/scenarios` is one, and
//! `mica eval` plays them.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod stage;

use std::path::{Path, PathBuf};

use mica_testkit::Scenario;
use serde_json::Value;
use stage::Stage;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../pack-mi/scenarios").canonicalize().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_scenario_passes() {
    let mut files: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_str().unwrap().trim_end_matches(".toml").to_owned())
        .collect();
    files.sort();
    assert!(files.len() >= 33, "{files:?}");
    let stage = Stage::new(Scenario::new()).await;
    let folder = folder().display().to_string();
    let ran = stage.mica(&["eval", &folder, "--jobs", "2", "--report", "report.json"]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(stage.project().join("report.json")).unwrap()).unwrap();
    let played: Vec<String> = report["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| {
            assert_eq!(case["status"], "passed", "{case}");
            assert!(case["checks"].as_array().unwrap().len() > 1, "{case}");
            case["name"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(played, files);
}
