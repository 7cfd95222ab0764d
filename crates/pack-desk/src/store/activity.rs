//! Who did what, and when.

use jiff::Timestamp;
use rusqlite::{Connection, Transaction};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Hand, Result, at, bounded};

/// One change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Counts all changes of the desk.
    pub seq: i64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub who: String,
    /// What was done, in a word: `updated`, `replied`.
    pub verb: String,
    /// To what.
    pub about: String,
    /// More about it.
    pub detail: Value,
}

/// Writes a change down. It is part of the change's transaction.
///
/// # Errors
/// Of the database.
pub fn log(tx: &Transaction<'_>, hand: &Hand, verb: &str, about: &str, detail: &Value) -> Result<i64> {
    let mut insert = tx.prepare(
        "INSERT INTO activity (at, who, verb, about, detail, key) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    insert.execute((hand.at.as_millisecond(), &hand.who, verb, about, detail.to_string(), &hand.key))?;
    Ok(tx.last_insert_rowid())
}

/// The newest changes, of one thing or of all, the newest first.
///
/// # Errors
/// Of the database.
pub fn newest(connection: &Connection, about: Option<&str>, limit: Option<u32>) -> Result<Vec<Entry>> {
    let mut select = connection.prepare(
        "SELECT seq, at, who, verb, about, detail FROM activity WHERE ?1 IS NULL OR about = ?1 ORDER BY seq DESC LIMIT ?2",
    )?;
    let rows = select.query_map((about, bounded(limit, 20)), |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get::<_, String>(5)?))
    })?;
    rows.map(|row| {
        let (seq, when, who, verb, about, detail) = row?;
        Ok(Entry { seq, at: at(when), who, verb, about, detail: serde_json::from_str(&detail)? })
    })
    .collect()
}

/// When something was last changed by anybody, as a mark that grows: what was proposed at an older mark is stale.
///
/// # Errors
/// Of the database.
pub fn mark(connection: &Connection, about: &str) -> Result<i64> {
    let mut select = connection.prepare("SELECT coalesce(max(seq), 0) FROM activity WHERE about = ?1")?;
    Ok(select.query_row([about], |row| row.get(0))?)
}

/// The same, without what agents did and what was applied of their proposals: what they did themselves does not make it
/// stale.
///
/// # Errors
/// Of the database.
pub fn foreign_mark(connection: &Connection, about: &str) -> Result<i64> {
    let mut select = connection.prepare(
        "SELECT coalesce(max(seq), 0) FROM activity WHERE about = ?1 AND who NOT LIKE 'agent:%' AND coalesce(key, '') NOT LIKE \
         'bundle/%'",
    )?;
    Ok(select.query_row([about], |row| row.get(0))?)
}
