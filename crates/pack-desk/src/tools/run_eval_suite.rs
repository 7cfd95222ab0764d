//! `run_eval_suite`: begins a suite of evals and goes on.

use std::sync::Arc;

use mica_agent::{Access, Effect, Tool, ToolError, TypedTool};
use mica_domain::Act;
use mica_domain::tasks::Announced;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{output, told};
use crate::jobs;
use crate::station::Station;
use crate::store::{Done, jobs as rows};

/// Its name.
pub const NAME: &str = "run_eval_suite";

const ABOUT: &str = "Begins a suite of evals and returns at once. End your turn then: the conversation goes on by itself when the \
                     suite is done. Do not wait for it, and do not begin it again.";

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The name of the suite; "desk" when absent.
    suite: Option<String>,
}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    let station = station.clone();
    let tool = TypedTool::new(NAME, ABOUT, move |input: Input, cx| {
        let station = station.clone();
        async move {
            let suite =
                input.suite.filter(|suite| !suite.trim().is_empty()).unwrap_or_else(|| "desk".to_owned());
            let names = station.suites.names();
            if !names.contains(&suite) {
                let known = names.join(", ");
                return Err(ToolError::new(format!(
                    "There is no suite {suite:?}; there are: {known}. Nothing was begun."
                )));
            }
            let hand = station.hand(&cx.effect_key);
            let begun = station.store.once(NAME, hand, move |tx, hand| {
                let job = rows::begin(tx, hand, jobs::EVAL_SUITE, &json!({ "suite": suite }))?;
                let text = format!(
                    "Begun as {}. End your turn: you will be told when it is done. Do not begin it again.",
                    job.id
                );
                let announced = Announced::new(jobs::EVAL_SUITE, &job.id).details();
                Ok(Done { text, details: json!({ "job": job, Announced::KEY: announced[Announced::KEY] }) })
            });
            let begun = begun.await.map_err(|error| told(&error))?;
            if let Some(id) = begun.details["job"]["id"].as_str() {
                jobs::spawn(&station, id);
            }
            Ok(output(begun))
        }
    });
    Arc::new(tool.with(|spec| {
        spec.label = "Run evals".to_owned();
        (spec.access, spec.effect) = (Access::Write, Effect::Keyed);
    }))
}

pub(crate) fn act() -> Act {
    Act::of(NAME)
        .needing("agents.write")
        .digesting(|args| format!("Run the evals {}", super::text(args, "suite")))
}
