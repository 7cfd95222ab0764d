//! What somebody has to do.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Hand, Result, activity, at, bounded, number, one_line};
use crate::error::DeskError;

/// A task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its id.
    pub id: String,
    /// What is to be done.
    pub title: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Who does it.
    pub assignee: Option<String>,
    /// The record it is about.
    pub about: Option<String>,
    /// The thread it came from.
    pub thread: Option<String>,
    /// When it must be done.
    pub deadline: Option<Timestamp>,
    /// When it was.
    pub done: Option<Timestamp>,
}

/// A task that is to be made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct New {
    /// What is to be done.
    pub title: String,
    /// More about it.
    pub detail: String,
    /// Who does it.
    pub assignee: Option<String>,
    /// The record it is about.
    pub about: Option<String>,
    /// The thread it came from.
    pub thread: Option<String>,
    /// When it must be done.
    pub deadline: Option<Timestamp>,
}

/// Which tasks are wanted.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Only of this assignee. `none`: that nobody has.
    pub assignee: Option<String>,
    /// Only about this record or thread.
    pub about: Option<String>,
    /// Only those that must be done before.
    pub due_before: Option<Timestamp>,
    /// Those that are done, too.
    pub done: bool,
    /// So many at most.
    pub limit: Option<u32>,
}

const COLUMNS: &str = "id, title, detail, assignee, about, thread, deadline, done";

/// Tasks that fit, the most urgent first, and how many there are in all.
///
/// # Errors
/// Of the database.
pub fn search(connection: &Connection, search: &Search) -> Result<(Vec<Task>, usize)> {
    let conditions = "(?1 IS NULL OR (?1 = 'none' AND assignee IS NULL) OR assignee = ?1) AND (?2 IS NULL OR about = ?2 OR thread = ?2) \
                      AND (?3 IS NULL OR deadline < ?3) AND (?4 OR done IS NULL)";
    let due = search.due_before.map(Timestamp::as_millisecond);
    let values = (&search.assignee, &search.about, due, search.done);
    let all: i64 =
        connection
            .query_row(&format!("SELECT count(*) FROM tasks WHERE {conditions}"), values, |row| row.get(0))?;
    let select = format!(
        "SELECT {COLUMNS} FROM tasks WHERE {conditions} ORDER BY done IS NOT NULL, deadline IS NULL, deadline, id LIMIT {}",
        bounded(search.limit, 10)
    );
    let mut select = connection.prepare(&select)?;
    let rows = select.query_map(values, read)?;
    Ok((rows.collect::<rusqlite::Result<_>>()?, usize::try_from(all).unwrap_or_default()))
}

/// A task.
///
/// # Errors
/// [`DeskError::Missing`], or of the database.
pub fn get(connection: &Connection, id: &str) -> Result<Task> {
    let mut select = connection.prepare(&format!("SELECT {COLUMNS} FROM tasks WHERE id = ?1"))?;
    select.query_row([id], read).optional()?.ok_or_else(|| DeskError::Missing {
        kind: "task".to_owned(),
        id: id.to_owned(),
        near: Vec::new(),
    })
}

/// Makes a task.
///
/// # Errors
/// [`DeskError::Invalid`], or of the database.
pub fn create(tx: &Transaction<'_>, hand: &Hand, new: &New) -> Result<Task> {
    if new.title.trim().is_empty() || new.title.chars().count() > 200 {
        return Err(DeskError::invalid("a task has a title of 1 to 200 letters"));
    }
    one_line("the title of a task", new.title.trim())?;
    if new.detail.chars().count() > 4000 {
        return Err(DeskError::invalid("the detail of a task has 4000 letters at most"));
    }
    let id = format!("task:{:03}", number(tx, "task")?);
    tx.execute(
        "INSERT INTO tasks (id, title, detail, assignee, about, thread, deadline, created, updated) VALUES (?1, ?2, ?3, ?4, ?5, \
         ?6, ?7, ?8, ?8)",
        (
            &id,
            new.title.trim(),
            &new.detail,
            &new.assignee,
            &new.about,
            &new.thread,
            new.deadline.map(Timestamp::as_millisecond),
            hand.at.as_millisecond(),
        ),
    )?;
    activity::log(tx, hand, "created", &id, &json!({ "title": new.title, "about": new.about }))?;
    // What is done about a record is news of the record.
    for about in [&new.about, &new.thread].into_iter().flatten() {
        activity::log(tx, hand, "tasked", about, &json!({ "task": id }))?;
    }
    get(tx, &id)
}

/// Marks a task as done.
///
/// # Errors
/// [`DeskError::Missing`], or of the database.
pub fn finish(tx: &Transaction<'_>, hand: &Hand, id: &str) -> Result<Task> {
    get(tx, id)?;
    let now = hand.at.as_millisecond();
    tx.execute(
        "UPDATE tasks SET done = coalesce(done, ?2), updated = ?2, version = version + 1 WHERE id = ?1",
        (id, now),
    )?;
    activity::log(tx, hand, "finished", id, &json!({}))?;
    get(tx, id)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Task> {
    Ok(Task {
        id: row.get(0)?,
        title: row.get(1)?,
        detail: row.get(2)?,
        assignee: row.get(3)?,
        about: row.get(4)?,
        thread: row.get(5)?,
        deadline: row.get::<_, Option<i64>>(6)?.map(at),
        done: row.get::<_, Option<i64>>(7)?.map(at),
    })
}
