//! What calls came to, by their keys: kept in one transaction with their effects, so that the same call again does nothing.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction};

use super::{Done, Result};
use crate::error::DeskError;

/// What a call of a key came to, if it was made.
///
/// # Errors
/// [`DeskError::Invalid`] when another tool used the key: what that came to is no answer.
pub fn known(connection: &Connection, key: &str, tool: &str) -> Result<Option<Done>> {
    let mut select = connection.prepare("SELECT tool, outcome FROM effects WHERE key = ?1")?;
    let row: Option<(String, String)> =
        select.query_row([key], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    match row {
        None => Ok(None),
        Some((by, outcome)) if by == tool => Ok(Some(serde_json::from_str(&outcome)?)),
        Some((by, _)) => Err(DeskError::invalid(format!("the key {key:?} was used by {by}"))),
    }
}

/// Keeps what a call came to.
///
/// # Errors
/// Of the database.
pub fn keep(tx: &Transaction<'_>, key: &str, tool: &str, done: &Done, at: Timestamp) -> Result<()> {
    tx.execute(
        "INSERT INTO effects (key, tool, outcome, at) VALUES (?1, ?2, ?3, ?4)",
        (key, tool, serde_json::to_string(done)?, at.as_millisecond()),
    )?;
    Ok(())
}

/// What stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// What is older goes.
    pub before: Timestamp,
    /// So many stay at most, the newest.
    pub most: usize,
    /// What is not older stays, however many there are.
    pub least: Timestamp,
}

/// Lets go of keys that are used no more. Those that begin with one of `in_use` stay. Answers how many went.
///
/// # Errors
/// Of the database.
pub fn prune(tx: &Transaction<'_>, keep: &Keep, in_use: &[String]) -> Result<usize> {
    let mut select = tx.prepare("SELECT key, at FROM effects WHERE at < ?1 ORDER BY at DESC, key DESC")?;
    let rows = select.query_map([keep.least.as_millisecond()], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
    })?;
    let old: Vec<(String, i64)> = rows.collect::<rusqlite::Result<_>>()?;
    let newer: i64 =
        tx.query_row("SELECT count(*) FROM effects WHERE at >= ?1", [keep.least.as_millisecond()], |row| {
            row.get(0)
        })?;
    let room = keep.most.saturating_sub(usize::try_from(newer).unwrap_or(usize::MAX));
    let mut gone = 0;
    let mut delete = tx.prepare("DELETE FROM effects WHERE key = ?1")?;
    for (place, (key, at)) in old.iter().enumerate() {
        let stays = *at >= keep.before.as_millisecond() && place < room;
        if !stays && !in_use.iter().any(|prefix| key.starts_with(prefix)) {
            gone += delete.execute([key])?;
        }
    }
    Ok(gone)
}
