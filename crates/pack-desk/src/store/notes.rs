//! Notes that the desk writes for itself. An agent that is named in one is called.

use jiff::Timestamp;
use rusqlite::{Connection, Transaction};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Hand, Result, activity, at, bounded, number, team};
use crate::error::DeskError;

/// A note.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// Its id.
    pub id: String,
    /// What it is about.
    pub about: String,
    /// Who wrote it.
    pub author: String,
    /// What it says.
    pub body: String,
    /// When.
    pub at: Timestamp,
    /// Agents that it calls.
    pub mentions: Vec<String>,
}

/// Writes a note.
///
/// # Errors
/// [`DeskError::Invalid`], or of the database.
pub fn add(tx: &Transaction<'_>, hand: &Hand, about: &str, body: &str) -> Result<Note> {
    // What somebody wrote is kept as they wrote it, letter for letter.
    if body.trim().is_empty() || body.chars().count() > 4000 {
        return Err(DeskError::invalid("a note has 1 to 4000 letters"));
    }
    let id = format!("note:{:03}", number(tx, "note")?);
    tx.execute(
        "INSERT INTO notes (id, about, author, body, at) VALUES (?1, ?2, ?3, ?4, ?5)",
        (&id, about, &hand.who, body, hand.at.as_millisecond()),
    )?;
    let mentions = mentions(tx, body)?;
    activity::log(tx, hand, "noted", about, &json!({ "note": id, "mentions": mentions }))?;
    Ok(Note {
        id,
        about: about.to_owned(),
        author: hand.who.clone(),
        body: body.to_owned(),
        at: hand.at,
        mentions,
    })
}

/// The newest notes about something.
///
/// # Errors
/// Of the database.
pub fn about(connection: &Connection, about: &str, limit: Option<u32>) -> Result<Vec<Note>> {
    newest(connection, about, bounded(limit, 5))
}

/// How many notes there are about something.
///
/// # Errors
/// Of the database.
pub fn count(connection: &Connection, about: &str) -> Result<usize> {
    let all: i64 =
        connection.query_row("SELECT count(*) FROM notes WHERE about = ?1", [about], |row| row.get(0))?;
    Ok(usize::try_from(all).unwrap_or_default())
}

/// All notes about something, the oldest first, for whoever answers a thread: the last 500 of them.
///
/// # Errors
/// Of the database.
pub(crate) fn every(connection: &Connection, about: &str) -> Result<Vec<Note>> {
    let mut notes = newest(connection, about, 500)?;
    notes.reverse();
    Ok(notes)
}

fn newest(connection: &Connection, about: &str, limit: u32) -> Result<Vec<Note>> {
    let mut select = connection.prepare(
        "SELECT id, about, author, body, at FROM notes WHERE about = ?1 ORDER BY at DESC, id DESC LIMIT ?2",
    )?;
    let rows = select.query_map((about, limit), |row| {
        Ok(Note {
            id: row.get(0)?,
            about: row.get(1)?,
            author: row.get(2)?,
            body: row.get(3)?,
            at: at(row.get(4)?),
            mentions: Vec::new(),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Agents that a text calls with `@Name`.
fn mentions(connection: &Connection, body: &str) -> Result<Vec<String>> {
    let words: Vec<String> = body
        .split('@')
        .skip(1)
        .map(|rest| {
            rest.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default().to_lowercase()
        })
        .collect();
    let agents =
        team::agents(connection)?.into_iter().filter(|agent| words.contains(&agent.name.to_lowercase()));
    Ok(agents.map(|agent| agent.id).collect())
}
