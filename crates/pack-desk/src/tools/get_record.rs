//! `get_record`: one company or contact, with what belongs to it.

use std::fmt::Write as _;
use std::sync::Arc;

use mica_agent::Tool;
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::search_records::{data, row};
use super::{DeskTool, line, outside, part, rows};
use crate::station::{Sight, Station};
use crate::store::entities::{self, Kind, Search};
use crate::store::{Done, Result, notes, tasks, team, threads};

/// Its name.
pub const NAME: &str = "get_record";

const ABOUT: &str =
    "Reads one company or contact: its fields, its people, its open threads and tasks, and the newest notes.";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The id of the record, for example "company:acme-logistics".
    record: String,
}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    DeskTool::looking(station, NAME, "Read a record", ABOUT, look).tool()
}

fn look(station: &Station, connection: &Connection, input: Input) -> Result<Done> {
    let id = crate::ids::record(connection, &input.record, None)?;
    let entity = entities::get(connection, &id)?;
    let mut words = format!("name: {}\n{}", entity.name, rows(&entity.fields));
    let mut people = Vec::new();
    if entity.kind == Kind::Company {
        let search = Search { company: Some(id.clone()), limit: Some(10), ..Search::default() };
        let (found, all) = entities::search(connection, &search)?;
        people = found;
        if !people.is_empty() {
            let _ = writeln!(words, "{}:", part("people", people.len(), all));
        }
        for person in &people {
            let _ = writeln!(words, "- {}", row(person));
        }
    }
    let open = threads::Search { about: Some(id.clone()), limit: Some(5), ..threads::Search::default() };
    // Subjects are mail: who may not read mail does not find them here either.
    let reads = team::rights(connection, &station.who)?.allow("mail.read");
    let (threads, all) = if reads { threads::search(connection, &open)? } else { (Vec::new(), 0) };
    if !threads.is_empty() {
        let _ = writeln!(words, "{}:", part("newest threads", threads.len(), all));
    }
    for thread in &threads {
        let _ = writeln!(words, "- {} ({}): {}", line(&thread.subject, 80), thread.id, thread.status);
    }
    let search = tasks::Search { about: Some(id.clone()), limit: Some(5), ..tasks::Search::default() };
    let (tasks, all) = tasks::search(connection, &search)?;
    if !tasks.is_empty() {
        let _ = writeln!(words, "{}:", part("open tasks", tasks.len(), all));
    }
    for task in &tasks {
        let _ = writeln!(words, "- {}", super::list_tasks::row(station, task));
    }
    let notes =
        if station.sight == Sight::Member { notes::about(connection, &id, None)? } else { Vec::new() };
    if !notes.is_empty() {
        let _ = writeln!(words, "{}:", part("newest notes", notes.len(), notes::count(connection, &id)?));
    }
    for note in &notes {
        let _ = writeln!(words, "- {}, {}: {}", note.author, station.said(note.at), line(&note.body, 1000));
    }
    let gone = if entity.deleted { " It was deleted, and cannot be changed." } else { "" };
    let text = format!(
        "{id}, version {}, changed {}.{gone}\n{}",
        entity.version,
        station.said(entity.updated),
        outside("record", words.trim_end())
    );
    let mut records = vec![data(&entity)];
    records.extend(people.iter().map(data));
    let details: Value = json!({ "records": records, "threads": threads, "tasks": tasks, "notes": notes });
    Ok(Done { text, details })
}
