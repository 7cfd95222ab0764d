//! Who is at the desk: lives of processes, each under a name that no other has, as long as they show signs of life.
//!
//! Promise: what belongs to a life is taken over once that life is over or showed no sign for [`LEASE`], and not before.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, Transaction};

use super::Result;

/// How long a life counts after its last sign. A process that sleeps for longer is taken for dead, and one that died is
/// waited for so long.
pub const LEASE: SignedDuration = SignedDuration::from_secs(60);

/// Between two signs of life: two may be lost.
pub const BEAT: Duration = Duration::from_secs(20);

/// Shows a sign of life.
///
/// # Errors
/// Of the database.
pub fn beat(tx: &Transaction<'_>, life: &str, now: Timestamp) -> Result<()> {
    let until = now.saturating_add(LEASE).unwrap_or(Timestamp::MAX);
    tx.execute(
        "INSERT INTO lives (id, since, until) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO UPDATE SET until = excluded.until",
        (life, now.as_millisecond(), until.as_millisecond()),
    )?;
    Ok(())
}

/// A life is over: what it had is free at once.
///
/// # Errors
/// Of the database.
pub fn end(tx: &Transaction<'_>, life: &str) -> Result<()> {
    tx.execute("DELETE FROM lives WHERE id = ?1", [life])?;
    Ok(())
}

/// A run belongs to a life: what it holds is held for as long as that goes on.
///
/// # Errors
/// Of the database.
pub fn run_of(tx: &Transaction<'_>, run: &str, life: &str) -> Result<()> {
    tx.execute("INSERT OR REPLACE INTO run_lives (run, life) VALUES (?1, ?2)", [run, life])?;
    Ok(())
}

/// Whether a run belongs to a life that is over. Of a run that belongs to none nothing is known.
///
/// # Errors
/// Of the database.
pub fn is_left(connection: &Connection, run: &str, now: Timestamp) -> Result<bool> {
    let mut select = connection.prepare(
        "SELECT NOT EXISTS (SELECT 1 FROM lives WHERE id = life AND until > ?2) FROM run_lives WHERE run = ?1",
    )?;
    let mut rows = select.query((run, now.as_millisecond()))?;
    Ok(match rows.next()? {
        Some(row) => row.get(0)?,
        None => false,
    })
}

/// Whether a life goes on.
///
/// # Errors
/// Of the database.
pub fn goes_on(connection: &Connection, life: &str, now: Timestamp) -> Result<bool> {
    let mut select =
        connection.prepare("SELECT EXISTS (SELECT 1 FROM lives WHERE id = ?1 AND until > ?2)")?;
    Ok(select.query_row((life, now.as_millisecond()), |row| row.get(0))?)
}

/// The lives that go on beside one.
///
/// # Errors
/// Of the database.
pub fn beside(connection: &Connection, life: &str, now: Timestamp) -> Result<Vec<String>> {
    let mut select = connection
        .prepare("SELECT id FROM lives WHERE id <> ?1 AND until > ?2 ORDER BY since, id LIMIT 50")?;
    let rows = select.query_map((life, now.as_millisecond()), |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Forgets lives that are over, and which runs were theirs. What they held was given back before.
///
/// # Errors
/// Of the database.
pub fn forget(tx: &Transaction<'_>, now: Timestamp) -> Result<()> {
    tx.execute("DELETE FROM lives WHERE until <= ?1", [now.as_millisecond()])?;
    tx.execute(
        "DELETE FROM run_lives WHERE life NOT IN (SELECT id FROM lives) AND run NOT IN (SELECT run FROM article_locks)",
        [],
    )?;
    Ok(())
}
