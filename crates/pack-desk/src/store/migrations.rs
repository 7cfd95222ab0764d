//! Brings a file to the newest version of the schema, one step after the other.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::Result;
use crate::error::DeskError;

/// Marks the files of desks: the letters `mdsk`.
const APPLICATION: i64 = 0x6d64_736b;

/// The steps, the first one first. What was released is never changed: a new step is added.
const STEPS: &[&str] = &[include_str!("schema/001.sql"), include_str!("schema/002.sql")];

/// The newest version.
pub const NEWEST: i64 = STEPS.len() as i64;

/// Runs the steps that a file lacks, each in a transaction of its own.
///
/// # Errors
/// [`DeskError::Newer`], [`DeskError::Foreign`], [`DeskError::Damaged`], or what the database says.
pub fn run(connection: &mut Connection, path: &Path) -> Result<()> {
    let number = |connection: &Connection, pragma: &str| -> Result<i64> {
        Ok(connection.pragma_query_value(None, pragma, |row| row.get(0))?)
    };
    let application = number(connection, "application_id")?;
    let found = number(connection, "user_version")?;
    if application == APPLICATION && found > NEWEST {
        return Err(DeskError::Newer { path: path.to_path_buf(), found, known: NEWEST });
    }
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application != APPLICATION && tables > 0 {
        return Err(DeskError::Foreign { path: path.to_path_buf() });
    }
    // Only once it is known to be ours: the mode is written into the file.
    connection.pragma_update(None, "journal_mode", "WAL")?;
    for (version, step) in (1i64..).zip(STEPS) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Read again, within: another program may have done it meanwhile.
        let current: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if current < version {
            transaction.execute_batch(step)?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", version)?;
        }
        transaction.commit()?;
    }
    let checked: String = connection.pragma_query_value(None, "quick_check", |row| row.get(0))?;
    if checked == "ok" {
        Ok(())
    } else {
        Err(DeskError::Damaged { path: path.to_path_buf(), problem: checked })
    }
}
