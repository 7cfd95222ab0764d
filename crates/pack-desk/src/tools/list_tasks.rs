//! `list_tasks`: what has to be done, by whom and until when.

use std::sync::Arc;

use mica_agent::Tool;
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{DeskTool, line, more, outside};
use crate::station::Station;
use crate::store::tasks::{self, Search, Task};
use crate::store::{Done, Result};

/// Its name.
pub const NAME: &str = "list_tasks";

const ABOUT: &str =
    "Lists tasks, the most urgent first: of somebody, about a record or thread, or due until a time.";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// Whose: a member, "me", or "none" for tasks that nobody has.
    assignee: Option<String>,
    /// Only tasks about this record or thread: its id.
    about: Option<String>,
    /// Only tasks that are due until then, for example "tomorrow" or "end of week".
    due: Option<String>,
    /// Those that are done, too.
    include_done: Option<bool>,
    /// How many at most, up to 50.
    limit: Option<u32>,
}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    DeskTool::looking(station, NAME, "List tasks", ABOUT, look).tool()
}

fn look(station: &Station, connection: &Connection, input: Input) -> Result<Done> {
    let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let assignee = given(input.assignee).map(|who| whose(station, connection, &who)).transpose()?;
    let about = given(input.about).map(|about| crate::ids::anything(connection, &about)).transpose()?;
    let now = (station.now)();
    let due = given(input.due).map(|due| crate::deadline::parse(&due, now, &station.zone)).transpose()?;
    let search = Search {
        assignee,
        about,
        due_before: due,
        done: input.include_done.unwrap_or(false),
        limit: input.limit,
    };
    let (found, all) = tasks::search(connection, &search)?;
    let rows: Vec<String> = found
        .iter()
        .enumerate()
        .map(|(index, task)| format!("{}. {}", index + 1, row(station, task)))
        .collect();
    let mut text = more(found.len(), all, "tasks");
    if !rows.is_empty() {
        text = format!("{text}\n{}", outside("tasks", &rows.join("\n")));
    }
    Ok(Done { text, details: json!({ "tasks": found, "total": all }) })
}

/// Who is meant: a member, whoever acts, or nobody.
pub(crate) fn whose(station: &Station, connection: &Connection, who: &str) -> Result<String> {
    match who.trim().to_lowercase().as_str() {
        "me" | "myself" | "mine" => Ok(station.who.clone()),
        "none" | "nobody" | "unassigned" => Ok("none".to_owned()),
        _ => crate::ids::actor(connection, who),
    }
}

/// A task in one line.
pub(crate) fn row(station: &Station, task: &Task) -> String {
    let who = task.assignee.as_deref().unwrap_or("nobody");
    let when = match (task.done, task.deadline) {
        (Some(done), _) => format!("done {}", station.said(done)),
        (None, Some(due)) if due < (station.now)() => format!("overdue since {}", station.said(due)),
        (None, Some(due)) => format!("due {}", station.said(due)),
        (None, None) => "no deadline".to_owned(),
    };
    let about = task.about.as_deref().map(|about| format!(", about {about}")).unwrap_or_default();
    format!("{} ({}): {who}, {when}{about}", line(&task.title, 120), task.id)
}
