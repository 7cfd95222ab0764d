//! `get_eval_run`: how a suite of evals went, and what changed since the one before.

use std::sync::Arc;

use mica_agent::Tool;
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::DeskTool;
use crate::error::DeskError;
use crate::jobs::EVAL_SUITE;
use crate::station::Station;
use crate::store::jobs::{self, Job};
use crate::store::{Done, Result};

/// Its name.
pub const NAME: &str = "get_eval_run";

const ABOUT: &str = "Reads how a suite of evals went, case by case, and what changed since the run before. Without an id, the newest.";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The id of the run, for example "job:003".
    run: Option<String>,
}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    DeskTool::looking(station, NAME, "Read an eval run", ABOUT, look).tool()
}

fn look(_: &Station, connection: &Connection, input: Input) -> Result<Done> {
    let runs = jobs::newest(connection, Some(EVAL_SUITE), Some(50))?;
    let job = match input.run.as_deref().filter(|run| !run.trim().is_empty()) {
        None => runs.first().cloned().ok_or_else(|| DeskError::invalid("no suite of evals was run yet"))?,
        Some(run) => jobs::get(connection, &crate::ids::of_kind(run, "job")?)?,
    };
    if job.kind != EVAL_SUITE {
        return Err(DeskError::invalid(format!("{} is a job of another kind", job.id)));
    }
    let before = runs.iter().find(|other| {
        other.id < job.id && other.state == "done" && other.request["suite"] == job.request["suite"]
    });
    let text = said(&job, before);
    Ok(Done { text, details: json!({ "eval_run": job, "before": before.map(|job| &job.id) }) })
}

fn said(job: &Job, before: Option<&Job>) -> String {
    let suite = job.request["suite"].as_str().unwrap_or_default();
    let Some(result) = &job.result else {
        return format!("{} ({suite}) is {}: {} of {} cases.", job.id, job.state, job.done, job.total);
    };
    if job.state == "failed" {
        return format!("{} ({suite}) failed: {}", job.id, result["problem"].as_str().unwrap_or_default());
    }
    let cases = result["cases"].as_array().cloned().unwrap_or_default();
    let passed = cases.iter().filter(|case| case["passed"] == true).count();
    let mut text = format!("{} ({suite}): {passed} of {} cases passed.", job.id, cases.len());
    for case in cases.iter().filter(|case| case["passed"] != true) {
        let name = case["name"].as_str().unwrap_or_default();
        text.push_str(&format!("\n- failed: {name}: {}", case["why"].as_str().unwrap_or_default()));
    }
    if let Some(before) = before.and_then(|before| before.result.as_ref()) {
        for case in &cases {
            let then = before["cases"]
                .as_array()
                .and_then(|all| all.iter().find(|other| other["name"] == case["name"]));
            let change = match (
                then.map(|then| then["passed"] == Value::Bool(true)),
                case["passed"] == Value::Bool(true),
            ) {
                (Some(true), false) => "regressed",
                (Some(false), true) => "fixed",
                (None, _) => "new",
                _ => continue,
            };
            text.push_str(&format!("\n- {change}: {}", case["name"].as_str().unwrap_or_default()));
        }
    }
    text
}
