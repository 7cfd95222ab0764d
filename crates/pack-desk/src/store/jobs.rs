//! Work that outlives the call that began it.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Hand, Result, activity, at, bounded, number};
use crate::error::DeskError;

/// A piece of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Its id.
    pub id: String,
    /// `reindex` or `eval-suite`.
    pub kind: String,
    /// `waiting`, `running`, `done` or `failed`.
    pub state: String,
    /// How much is done.
    pub done: i64,
    /// Of how much.
    pub total: i64,
    /// What was asked for.
    pub request: Value,
    /// What it came to.
    pub result: Option<Value>,
    /// Who began it.
    pub who: String,
    /// When.
    pub created: Timestamp,
    /// When it ended.
    pub ended: Option<Timestamp>,
}

impl Job {
    /// Whether nothing more happens.
    pub fn is_over(&self) -> bool {
        matches!(self.state.as_str(), "done" | "failed")
    }
}

/// Begins a job.
///
/// # Errors
/// Of the database.
pub fn begin(tx: &Transaction<'_>, hand: &Hand, kind: &str, request: &Value) -> Result<Job> {
    let id = format!("job:{:03}", number(tx, "job")?);
    tx.execute(
        "INSERT INTO jobs (id, kind, state, request, who, created) VALUES (?1, ?2, 'waiting', ?3, ?4, ?5)",
        (&id, kind, request.to_string(), &hand.who, hand.at.as_millisecond()),
    )?;
    activity::log(tx, hand, "began", &id, &json!({ "kind": kind }))?;
    get(tx, &id)
}

/// How far a job is. It never goes back, also when two do it at the same time.
///
/// # Errors
/// Of the database.
pub fn progress(tx: &Transaction<'_>, id: &str, done: i64, total: i64) -> Result<()> {
    tx.execute(
        "UPDATE jobs SET state = 'running', done = MAX(done, ?2), total = ?3 WHERE id = ?1 AND ended IS NULL",
        (id, done, total),
    )?;
    Ok(())
}

/// Ends a job, once: what ended stays as it ended.
///
/// # Errors
/// Of the database.
pub fn end(tx: &Transaction<'_>, hand: &Hand, id: &str, result: &Result<Value, String>) -> Result<Job> {
    let (state, value) = match result {
        Ok(value) => ("done", value.clone()),
        Err(problem) => ("failed", json!({ "problem": problem })),
    };
    let ended = tx.execute(
        "UPDATE jobs SET state = ?2, result = ?3, ended = ?4 WHERE id = ?1 AND ended IS NULL",
        (id, state, value.to_string(), hand.at.as_millisecond()),
    )?;
    if ended == 1 {
        activity::log(tx, hand, state, id, &json!({}))?;
    }
    get(tx, id)
}

/// A job.
///
/// # Errors
/// [`DeskError::Missing`], or of the database.
pub fn get(connection: &Connection, id: &str) -> Result<Job> {
    let mut select = connection.prepare(&format!("SELECT {COLUMNS} FROM jobs WHERE id = ?1"))?;
    let row = select.query_row([id], parts).optional()?;
    row.map(read).transpose()?.ok_or_else(|| DeskError::Missing {
        kind: "job".to_owned(),
        id: id.to_owned(),
        near: Vec::new(),
    })
}

/// The newest jobs of a kind, or of all.
///
/// # Errors
/// Of the database.
pub fn newest(connection: &Connection, kind: Option<&str>, limit: Option<u32>) -> Result<Vec<Job>> {
    let select = format!(
        "SELECT {COLUMNS} FROM jobs WHERE ?1 IS NULL OR kind = ?1 ORDER BY created DESC, id DESC LIMIT ?2"
    );
    let mut select = connection.prepare(&select)?;
    let rows = select.query_map((kind, bounded(limit, 10)), parts)?;
    rows.map(|row| read(row?)).collect()
}

/// Has a life do a job, unless another does that goes on. Answers whether it has it now.
///
/// # Errors
/// Of the database.
pub fn claim(tx: &Transaction<'_>, id: &str, life: &str, now: Timestamp) -> Result<bool> {
    let claimed = tx.execute(
        &format!("UPDATE jobs SET life = ?2 WHERE id = ?1 AND ended IS NULL AND (life = ?2 OR {LEFT})"),
        (id, life, now.as_millisecond()),
    )?;
    Ok(claimed == 1)
}

/// Jobs that nobody works on any more, because their process is gone.
///
/// # Errors
/// Of the database.
pub fn left(connection: &Connection, now: Timestamp) -> Result<Vec<Job>> {
    let mut select = connection.prepare(&format!(
        "SELECT {COLUMNS} FROM jobs WHERE ended IS NULL AND ({}) ORDER BY id LIMIT 50",
        LEFT.replace("?3", "?1")
    ))?;
    let rows = select.query_map([now.as_millisecond()], parts)?;
    rows.map(|row| read(row?)).collect()
}

/// Jobs that have not ended, whoever does them.
///
/// # Errors
/// Of the database.
pub fn unfinished(connection: &Connection) -> Result<Vec<Job>> {
    let mut select = connection
        .prepare(&format!("SELECT {COLUMNS} FROM jobs WHERE ended IS NULL ORDER BY id LIMIT 50"))?;
    let rows = select.query_map([], parts)?;
    rows.map(|row| read(row?)).collect()
}

/// Whether nobody does a job who is there at the time `?3`.
const LEFT: &str =
    "life IS NULL OR NOT EXISTS (SELECT 1 FROM lives WHERE lives.id = jobs.life AND until > ?3)";

const COLUMNS: &str = "id, kind, state, done, total, request, result, who, created, ended";

type Parts = (String, String, String, i64, i64, String, Option<String>, String, i64, Option<i64>);

fn parts(row: &Row<'_>) -> rusqlite::Result<Parts> {
    Ok((
        row.get(0)?,
        row.get(1)?,
        row.get(2)?,
        row.get(3)?,
        row.get(4)?,
        row.get(5)?,
        row.get(6)?,
        row.get(7)?,
        row.get(8)?,
        row.get(9)?,
    ))
}

fn read((id, kind, state, done, total, request, result, who, created, ended): Parts) -> Result<Job> {
    Ok(Job {
        id,
        kind,
        state,
        done,
        total,
        request: serde_json::from_str(&request)?,
        result: result.map(|result| serde_json::from_str(&result)).transpose()?,
        who,
        created: at(created),
        ended: ended.map(at),
    })
}
