//! `reindex_articles`: makes new words of articles findable, while somebody waits or in the background.

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
pub const NAME: &str = "reindex_articles";

const ABOUT: &str = "Indexes the help articles anew, so that searching finds what changed. With background true you get a job at \
                     once: end your turn then, the conversation goes on by itself when it is done.";

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// Whether to go on without waiting for it.
    background: Option<bool>,
}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    let station = station.clone();
    let tool = TypedTool::new(NAME, ABOUT, move |input: Input, cx| {
        let station = station.clone();
        async move {
            let background = input.background.unwrap_or(false);
            let hand = station.hand(&cx.effect_key);
            let begun = station
                .store
                .once(NAME, hand, move |tx, hand| {
                    let job = rows::begin(tx, hand, jobs::REINDEX, &json!({}))?;
                    let mut details = json!({ "job": job });
                    if background {
                        let announced = Announced::new(jobs::REINDEX, &job.id);
                        details[Announced::KEY] = announced.details()[Announced::KEY].clone();
                    }
                    Ok(Done { text: job.id, details })
                })
                .await;
            let begun = begun.map_err(|error| told(&error))?;
            let id = begun.text.clone();
            if background {
                jobs::spawn(&station, &id);
                let text = format!(
                    "Begun as {id}. End your turn: you will be told when it is done. Do not begin it again."
                );
                return Ok(output(Done { text, details: begun.details }));
            }
            let told = |done: i64, total: i64| cx.progress(format!("{done} of {total} articles"));
            let job = tokio::select! {
                job = jobs::run(&station, &id, &told) => job,
                () = cx.cancel.cancelled() => {
                    jobs::spawn(&station, &id);
                    return Err(ToolError::new(format!("Not waited for any longer; {id} goes on in the background.")));
                }
            };
            let job = job.map_err(|error| super::told(&error))?;
            let count =
                job.result.as_ref().map_or(0, |result| result["articles"].as_i64().unwrap_or_default());
            Ok(output(Done { text: format!("Indexed {count} articles."), details: json!({ "job": job }) }))
        }
    });
    Arc::new(tool.with(|spec| {
        spec.label = "Index articles".to_owned();
        (spec.access, spec.effect) = (Access::Write, Effect::Keyed);
    }))
}

pub(crate) fn act() -> Act {
    Act::of(NAME).needing("kb.write").digesting(|_| "Index the articles anew".to_owned())
}
