//! `find_threads`: finds conversations.

use std::sync::Arc;

use jiff::SignedDuration;
use mica_agent::Tool;
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::list_tasks::whose;
use super::{DeskTool, line, more, outside};
use crate::error::DeskError;
use crate::station::Station;
use crate::store::threads::{self, STATES, Search, Thread};
use crate::store::{Done, Result};

/// Its name.
pub const NAME: &str = "find_threads";

const ABOUT: &str = "Finds conversations with customers, the newest first: by words, state, assignee, tag, or whom they are with.";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// Words of the subject, the messages or the sender. Leave it out to list.
    query: Option<String>,
    /// Only threads in this state: open, waiting or closed.
    status: Option<String>,
    /// Whose: a member or an agent, "me", or "none" for threads that nobody has.
    assignee: Option<String>,
    /// Only threads with this tag.
    tag: Option<String>,
    /// Only threads with this company or contact: its id.
    about: Option<String>,
    /// Only threads in which the customer wrote last.
    unanswered: Option<bool>,
    /// Only threads without a message for so many days.
    quiet_for_days: Option<u32>,
    /// How many at most, up to 50.
    limit: Option<u32>,
}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    DeskTool::looking(station, NAME, "Find threads", ABOUT, look).tool()
}

fn look(station: &Station, connection: &Connection, input: Input) -> Result<Done> {
    let given =
        |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let status = given(input.status).map(|status| status.to_lowercase());
    if let Some(status) = &status
        && !STATES.contains(&status.as_str())
    {
        return Err(DeskError::invalid(format!(
            "status cannot be {status:?}; it is one of {}",
            STATES.join(", ")
        )));
    }
    let quiet = input
        .quiet_for_days
        .map(|days| (station.now)() - SignedDuration::from_hours(24 * i64::from(days.min(3650))));
    let search = Search {
        words: input.query.unwrap_or_default(),
        status,
        assignee: given(input.assignee).map(|who| whose(station, connection, &who)).transpose()?,
        tag: given(input.tag).map(|tag| tag.trim_start_matches('#').to_owned()),
        about: given(input.about).map(|about| crate::ids::record(connection, &about, None)).transpose()?,
        before: quiet,
        unanswered: input.unanswered.unwrap_or(false),
        limit: input.limit,
    };
    let (found, all) = threads::search(connection, &search)?;
    let rows: Vec<String> = found
        .iter()
        .enumerate()
        .map(|(index, thread)| format!("{}. {}", index + 1, row(station, thread)))
        .collect();
    let mut text = more(found.len(), all, "threads");
    if !rows.is_empty() {
        text = format!("{text}\n{}", outside("threads", &rows.join("\n")));
    }
    Ok(Done { text, details: json!({ "threads": found, "total": all }) })
}

/// A thread in one line.
pub(crate) fn row(station: &Station, thread: &Thread) -> String {
    let mut facts = vec![thread.status.clone()];
    if thread.priority != "normal" {
        facts.push(format!("{} priority", thread.priority));
    }
    if thread.unread {
        facts.push("unread".to_owned());
    }
    facts.push(thread.assignee.clone().unwrap_or_else(|| "nobody has it".to_owned()));
    facts.extend(thread.tags.iter().map(|tag| format!("#{tag}")));
    let from =
        thread.sender.as_deref().map(|sender| format!(" from {}", line(sender, 40))).unwrap_or_default();
    format!(
        "{} ({}){from}, {}: {}",
        line(&thread.subject, 80),
        thread.id,
        station.said(thread.last_message),
        facts.join(", ")
    )
}
