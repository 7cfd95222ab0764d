//! The tools of the desk, one file each, and what they have in common.
//!
//! Promises: a call that changes something happens once by its key, in one transaction with the record of it; a call that
//! fails changed nothing; words from outside reach the model behind a boundary.

#![allow(clippy::needless_pass_by_value, reason = "one form for all tools: each owns its arguments")]

pub mod add_note;
pub mod bulk_update_records;
pub mod create_record;
pub mod create_task;
pub mod edit_article;
pub mod find_threads;
pub mod get_article;
pub mod get_eval_run;
pub mod get_record;
pub mod get_thread;
pub mod list_members;
pub mod list_tasks;
pub mod reindex_articles;
pub mod reply_to_thread;
pub mod run_eval_suite;
pub mod search_articles;
pub mod search_records;
pub mod set_agent_prompt;
pub(crate) mod standing;
pub mod suggest_replies;
pub mod update_record;
pub mod update_thread;

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::typed::schema_of;
use mica_agent::{
    Access, Approval, Args, Effect, Preview, Resource, Tool, ToolCx, ToolError, ToolOutput, ToolSpec,
};
pub use mica_context::fence::OUTSIDE;
pub(crate) use mica_context::fence::outside;
use rusqlite::{Connection, Transaction};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::DeskError;
use crate::station::Station;
use crate::store::{Done, Hand, Result};

type Looking<A> = fn(&Station, &Connection, A) -> Result<Done>;
type Changing<A> = fn(&Station, &Transaction<'_>, &Hand, A) -> Result<Done>;
type Previewing<A> = fn(&Station, &Connection, A) -> Result<Preview>;

/// A tool on the desk's data.
pub(crate) struct DeskTool<A> {
    spec: ToolSpec,
    station: Station,
    work: Work<A>,
    previews: Option<Previewing<A>>,
    touches: fn(&A) -> Vec<String>,
}

enum Work<A> {
    Look(Looking<A>),
    Change(&'static str, Changing<A>),
}

impl<A: JsonSchema + DeserializeOwned + Send + 'static> DeskTool<A> {
    /// A tool that only looks.
    pub(crate) fn looking(
        station: &Station,
        name: &'static str,
        label: &str,
        about: &str,
        look: Looking<A>,
    ) -> Self {
        let mut spec = ToolSpec::new(name, about, schema_of::<A>());
        label.clone_into(&mut spec.label);
        Self {
            spec,
            station: station.clone(),
            work: Work::Look(look),
            previews: None,
            touches: |_| Vec::new(),
        }
    }

    /// A tool that changes something, once. A person is asked.
    pub(crate) fn changing(
        station: &Station,
        name: &'static str,
        label: &str,
        about: &str,
        change: Changing<A>,
    ) -> Self {
        let mut spec = ToolSpec::new(name, about, schema_of::<A>());
        label.clone_into(&mut spec.label);
        (spec.access, spec.effect, spec.approval) = (Access::Write, Effect::Transactional, Approval::Needed);
        let work = Work::Change(name, change);
        Self { spec, station: station.clone(), work, previews: None, touches: |_| Vec::new() }
    }

    /// Nobody is asked.
    pub(crate) fn unasked(mut self) -> Self {
        self.spec.approval = Approval::NotNeeded;
        self
    }

    /// Whoever is asked sees what would happen.
    pub(crate) fn previewing(mut self, previews: Previewing<A>) -> Self {
        self.previews = Some(previews);
        self
    }

    /// What a call touches, by ids.
    pub(crate) fn touching(mut self, touches: fn(&A) -> Vec<String>) -> Self {
        self.touches = touches;
        self
    }

    pub(crate) fn tool(self) -> Arc<dyn Tool> {
        Arc::new(self)
    }
}

#[async_trait]
impl<A: JsonSchema + DeserializeOwned + Send + 'static> Tool for DeskTool<A> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn touches(&self, args: &Args) -> Vec<Resource> {
        let ids = arguments::<A>(args.clone()).map(|args| (self.touches)(&args)).unwrap_or_default();
        ids.iter().map(|id| Resource::named("desk", &crate::ids::reduced(id))).collect()
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        let previews = self.previews?;
        let args = match arguments::<A>(args.clone()) {
            Ok(args) => args,
            Err(error) => return Some(Preview::Fails { reason: error.message }),
        };
        let station = self.station.clone();
        let seen = self.station.store.read(move |connection| previews(&station, connection, args)).await;
        Some(seen.unwrap_or_else(|error| Preview::Fails { reason: error.for_model() }))
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args = arguments::<A>(args)?;
        let station = self.station.clone();
        let store = &self.station.store;
        let done = match self.work {
            Work::Look(look) => store.read(move |connection| look(&station, connection, args)).await,
            Work::Change(name, change) => {
                let hand = self.station.hand(&cx.effect_key);
                store.once(name, hand, move |tx, hand| change(&station, tx, hand, args)).await
            }
        };
        done.map(output).map_err(|error| told(&error))
    }
}

pub(crate) fn output(done: Done) -> ToolOutput {
    ToolOutput::text(done.text).with_details(done.details)
}

pub(crate) fn told(error: &DeskError) -> ToolError {
    if !matches!(error, DeskError::Missing { .. } | DeskError::Invalid { .. } | DeskError::Held { .. }) {
        tracing::warn!(%error, "a call failed on the desk's data");
    }
    ToolError::new(error.for_model())
}

fn arguments<A: DeserializeOwned>(args: Args) -> Result<A, ToolError> {
    serde_json::from_value(Value::Object(args)).map_err(|error| {
        ToolError::new(format!("The arguments do not fit the tool: {error}. Nothing was done."))
    })
}

/// A text in one line of a list, and not too long for it.
pub(crate) fn line(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let cut: String = line.chars().take(most).collect();
    format!("{cut}…")
}

/// What a part of a longer answer is called, with how many of how many when not all are shown.
pub(crate) fn part(what: &str, shown: usize, all: usize) -> String {
    if shown < all { format!("{what} ({shown} of {all})") } else { what.to_owned() }
}

/// How many of how many, when not all are shown.
pub(crate) fn more(shown: usize, all: usize, what: &str) -> String {
    match all {
        0 => format!("No {what}."),
        _ if shown < all => format!("{shown} of {all} {what}; narrow the search for others."),
        _ => format!("{all} {what}."),
    }
}

/// A change of fields as a diff.
pub(crate) fn diff(title: &str, before: &str, after: &str) -> Preview {
    let changes = similar::TextDiff::from_lines(before, after);
    let count =
        |tag: similar::ChangeTag| changes.iter_all_changes().filter(|change| change.tag() == tag).count();
    Preview::Diff {
        title: title.to_owned(),
        diff: changes.unified_diff().context_radius(2).header("before", "after").to_string(),
        added: count(similar::ChangeTag::Insert),
        removed: count(similar::ChangeTag::Delete),
    }
}

/// Fields as rows of `name: value`.
pub(crate) fn rows(fields: &Map<String, Value>) -> String {
    fields
        .iter()
        .map(|(name, value)| {
            format!("{name}: {}\n", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        })
        .collect()
}

/// The text of an argument, for a line about a call.
pub(crate) fn text<'a>(args: &'a Args, name: &str) -> &'a str {
    args.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
