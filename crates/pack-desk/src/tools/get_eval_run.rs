//! `get_eval_run`: how a suite of evals went, and what changed since the one before.

use std::sync::Arc;

use mica_agent::Tool;
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{DeskTool, line, outside};
use crate::error::DeskError;
use crate::jobs::EVAL_SUITE;
use crate::station::Station;
use crate::store::jobs::{self, Job};
use crate::store::{Done, Result};

/// Its name.
pub const NAME: &str = "get_eval_run";

/// Letters of why something failed at most.
const WHY: usize = 400;

/// Rows at most.
const ROWS: usize = 100;

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
    // Names of suites and cases, and why one failed, quote whatever was tried.
    let quoted = |value: &Value, most: usize| line(value.as_str().unwrap_or_default(), most);
    let suite = format!("suite: {}", quoted(&job.request["suite"], 80));
    let Some(result) = &job.result else {
        let text = format!("{} is {}: {} of {} cases.", job.id, job.state, job.done, job.total);
        return format!("{text}\n{}", outside("eval run", &suite));
    };
    if job.state == "failed" {
        let problem = format!("{suite}\nproblem: {}", quoted(&result["problem"], WHY));
        return format!("{} failed.\n{}", job.id, outside("eval run", &problem));
    }
    let cases = result["cases"].as_array().cloned().unwrap_or_default();
    let passed = cases.iter().filter(|case| case["passed"] == true).count();
    let head = format!("{}: {passed} of {} cases passed.", job.id, cases.len());
    let mut rows = vec![suite];
    for case in cases.iter().filter(|case| case["passed"] != true) {
        rows.push(format!("- failed: {}: {}", quoted(&case["name"], 120), quoted(&case["why"], WHY)));
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
            rows.push(format!("- {change}: {}", quoted(&case["name"], 120)));
        }
    }
    let left = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    let left = if left > 0 { format!(" {left} rows are left out.") } else { String::new() };
    format!("{head}{left}\n{}", outside("eval run", &rows.join("\n")))
}
