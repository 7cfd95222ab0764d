//! Drafts, and an outbox that nothing ever leaves. Mail in it can be taken back for a while.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Hand, Result, activity, at, bounded, number, threads};
use crate::error::DeskError;

/// How long mail can be taken back.
pub const WINDOW: SignedDuration = SignedDuration::from_mins(5);
/// Letters of a mail at most.
pub const LONGEST: usize = 10_000;

/// A mail that nobody sent yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// Its id.
    pub id: String,
    /// `reply`, or `standalone`.
    pub kind: String,
    /// The thread it answers.
    pub thread: Option<String>,
    /// To whom.
    pub recipient: String,
    /// What it is about.
    pub subject: String,
    /// What it says.
    pub body: String,
    /// Who wrote it.
    pub author: String,
    /// When it was last changed.
    pub updated: Timestamp,
}

/// A mail that is on its way, or was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outgoing {
    /// Its id.
    pub id: String,
    /// The thread it belongs to.
    pub thread: Option<String>,
    /// To whom.
    pub recipient: String,
    /// What it is about.
    pub subject: String,
    /// What it says.
    pub body: String,
    /// Who sent it.
    pub author: String,
    /// Until when it can be taken back.
    pub leaves: Timestamp,
    /// `queued`, `sent` or `unsent`.
    pub state: String,
}

/// To whom a reply goes when nobody says otherwise: whom the thread is with.
///
/// # Errors
/// [`DeskError::Invalid`] when they have no address, or do not want mail.
pub fn recipient(connection: &Connection, thread: &threads::Thread) -> Result<String> {
    let Some(contact) = &thread.contact else {
        let mut first =
            connection.prepare("SELECT author FROM messages WHERE thread = ?1 ORDER BY seq LIMIT 1")?;
        let author: String = first.query_row([&thread.id], |row| row.get(0))?;
        return if author.contains('@') {
            Ok(author)
        } else {
            Err(DeskError::invalid(format!("{} has nobody to reply to", thread.id)))
        };
    };
    let mut select = connection.prepare("SELECT email, status FROM contacts WHERE id = ?1")?;
    let (email, status): (String, String) =
        select.query_row([contact], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if status == "do not contact" {
        return Err(DeskError::invalid(format!("{contact} asked not to be contacted")));
    }
    if email.is_empty() { Err(DeskError::invalid(format!("{contact} has no address"))) } else { Ok(email) }
}

/// Whether mail about a thread may go to an address: to whom it is with, to those of their company, to whoever began it when
/// that is nobody the desk knows, and to members. Who only wrote in it has no part in it: anybody can do that. Nor has who left
/// the company, or asked to be left alone.
///
/// # Errors
/// Of the database.
pub fn is_part(connection: &Connection, thread: &threads::Thread, address: &str) -> Result<bool> {
    let Ok(address) = checked_address(address) else { return Ok(false) };
    let mut select = connection.prepare(
        "SELECT 1 FROM contacts WHERE email = ?1 AND deleted IS NULL AND status != 'do not contact' AND (id = ?2 OR \
         (status != 'left' AND company = ?3)) UNION ALL SELECT 1 FROM members WHERE lower(email) = ?1 UNION ALL SELECT 1 FROM \
         messages WHERE thread = ?4 AND ?2 IS NULL AND author = ?1 AND seq = (SELECT min(seq) FROM messages WHERE thread = ?4) AND \
         NOT EXISTS (SELECT 1 FROM contacts WHERE email = ?1 AND status = 'do not contact')",
    )?;
    Ok(select.exists((&address, &thread.contact, &thread.company, &thread.id))?)
}

/// Whether somebody with an address wrote in a thread.
///
/// # Errors
/// Of the database.
pub fn wrote_in(connection: &Connection, thread: &threads::Thread, address: &str) -> Result<bool> {
    let mut select = connection.prepare(
        "SELECT 1 FROM messages m WHERE m.thread = ?1 AND (m.author = ?2 OR m.author IN (SELECT id FROM contacts WHERE email = ?2))",
    )?;
    Ok(select.exists((&thread.id, address.to_lowercase()))?)
}

/// An address, in small letters. Only plain letters are in it: with others, two that look the same would be two.
///
/// # Errors
/// [`DeskError::Invalid`].
pub fn checked_address(text: &str) -> Result<String> {
    let text = text.trim();
    if let Some(odd) = text.chars().find(|letter| !letter.is_ascii()) {
        return Err(DeskError::invalid(format!(
            "{text:?} is no address: it has the letter U+{:04X}, which may only look like a plain one",
            u32::from(odd)
        )));
    }
    let is_name = |name: &str| {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._%+'-".contains(letter);
        !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain)
    };
    let is_label = |label: &str| {
        !label.is_empty() && label.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
    };
    let is_host = |host: &str| host.contains('.') && host.split('.').all(is_label);
    match text.split_once('@') {
        Some((name, host)) if text.len() <= 120 && is_name(name) && is_host(host) => Ok(text.to_lowercase()),
        _ => Err(DeskError::invalid(format!("{text:?} is no address; write name@example.org"))),
    }
}

/// Somebody who writes from outside: a contact, or an address. What it says it is does not make it one of the desk; nor does
/// what is said beside an address, `Ana Silva <x@example.org>`, make it somebody else's.
///
/// # Errors
/// [`DeskError::Invalid`].
pub fn checked_sender(from: &str) -> Result<String> {
    let from = from.trim();
    if !from.contains('@') {
        return Ok(from.to_owned());
    }
    let bracketed = from.strip_suffix('>').and_then(|rest| rest.rsplit_once('<')).map(|(_, address)| address);
    checked_address(bracketed.unwrap_or(from))
}

/// A mail as it is kept: letter for letter.
///
/// # Errors
/// [`DeskError::Invalid`].
pub fn checked_body(body: &str) -> Result<&str> {
    if body.trim().is_empty() || body.chars().count() > LONGEST {
        return Err(DeskError::invalid(format!("a mail has 1 to {LONGEST} letters")));
    }
    Ok(body)
}

/// Keeps a draft of a reply.
///
/// # Errors
/// [`DeskError::Invalid`], or of the database.
pub fn draft(
    tx: &Transaction<'_>,
    hand: &Hand,
    thread: &threads::Thread,
    recipient: &str,
    body: &str,
) -> Result<Draft> {
    let body = checked_body(body)?;
    let id = format!("draft:{:03}", number(tx, "draft")?);
    tx.execute(
        "INSERT INTO drafts (id, thread, recipient, subject, body, author, created, updated) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, \
         ?7)",
        (&id, &thread.id, recipient, reply_subject(&thread.subject), body, &hand.who, hand.at.as_millisecond()),
    )?;
    activity::log(tx, hand, "drafted", &thread.id, &json!({ "draft": id }))?;
    get_draft(tx, &id)
}

/// Queues a reply. It is part of the thread at once, and can be taken back for a while.
///
/// # Errors
/// [`DeskError::Invalid`], or of the database.
pub fn send(
    tx: &Transaction<'_>,
    hand: &Hand,
    thread: &threads::Thread,
    recipient: &str,
    body: &str,
) -> Result<Outgoing> {
    let body = checked_body(body)?;
    let message = threads::say(tx, hand, &thread.id, &hand.who, body)?;
    let id = format!("mail:{:03}", number(tx, "mail")?);
    let leaves = hand.at + WINDOW;
    tx.execute(
        "INSERT INTO outbox (id, thread, message, recipient, subject, body, author, queued, leaves, state) VALUES (?1, ?2, ?3, ?4, \
         ?5, ?6, ?7, ?8, ?9, 'queued')",
        (
            &id,
            &thread.id,
            &message.id,
            recipient,
            reply_subject(&thread.subject),
            body,
            &hand.who,
            hand.at.as_millisecond(),
            leaves.as_millisecond(),
        ),
    )?;
    get(tx, &id)
}

/// Takes mail back that has not left.
///
/// # Errors
/// [`DeskError::Missing`], [`DeskError::Invalid`] when it has left, or of the database.
pub fn unsend(tx: &Transaction<'_>, hand: &Hand, id: &str) -> Result<Outgoing> {
    let mail = get(tx, id)?;
    if mail.state != "queued" || mail.leaves <= hand.at {
        return Err(DeskError::invalid(format!("{id} has left already, or was taken back")));
    }
    let message: Option<String> =
        tx.query_row("SELECT message FROM outbox WHERE id = ?1", [id], |row| row.get(0))?;
    tx.execute("UPDATE outbox SET state = 'unsent' WHERE id = ?1", [id])?;
    if let Some(message) = message {
        tx.execute("DELETE FROM messages WHERE id = ?1", [message])?;
    }
    if let Some(thread) = &mail.thread {
        tx.execute(
            "UPDATE threads SET status = 'open', version = version + 1, updated = ?2, last_message = coalesce((SELECT max(sent) \
             FROM messages WHERE thread = ?1), created) WHERE id = ?1",
            (thread, hand.at.as_millisecond()),
        )?;
        activity::log(tx, hand, "unsent", thread, &json!({ "mail": id }))?;
    }
    get(tx, id)
}

/// Lets mail go whose time has come. Answers how many.
///
/// # Errors
/// Of the database.
pub fn leave(tx: &Transaction<'_>, now: Timestamp) -> Result<usize> {
    Ok(tx.execute(
        "UPDATE outbox SET state = 'sent' WHERE state = 'queued' AND leaves <= ?1",
        [now.as_millisecond()],
    )?)
}

/// The newest drafts that were not sent, of one thread or of all.
///
/// # Errors
/// Of the database.
pub fn drafts(connection: &Connection, thread: Option<&str>, limit: Option<u32>) -> Result<Vec<Draft>> {
    let select = format!(
        "SELECT {DRAFT} FROM drafts WHERE sent IS NULL AND (?1 IS NULL OR thread = ?1) ORDER BY updated DESC, id DESC LIMIT ?2"
    );
    let mut select = connection.prepare(&select)?;
    let rows = select.query_map((thread, bounded(limit, 10)), read_draft)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// How many drafts of a thread were not sent.
///
/// # Errors
/// Of the database.
pub fn count_drafts(connection: &Connection, thread: &str) -> Result<usize> {
    let count = "SELECT count(*) FROM drafts WHERE sent IS NULL AND thread = ?1";
    let all: i64 = connection.query_row(count, [thread], |row| row.get(0))?;
    Ok(usize::try_from(all).unwrap_or_default())
}

/// The newest mail that was sent.
///
/// # Errors
/// Of the database.
pub fn outbox(connection: &Connection, limit: Option<u32>) -> Result<Vec<Outgoing>> {
    let select = format!("SELECT {MAIL} FROM outbox ORDER BY queued DESC, id DESC LIMIT ?1");
    let mut select = connection.prepare(&select)?;
    let rows = select.query_map([bounded(limit, 10)], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A mail of the outbox.
///
/// # Errors
/// [`DeskError::Missing`], or of the database.
pub fn get(connection: &Connection, id: &str) -> Result<Outgoing> {
    let mut select = connection.prepare(&format!("SELECT {MAIL} FROM outbox WHERE id = ?1"))?;
    select.query_row([id], read).optional()?.ok_or_else(|| missing("mail", id))
}

/// The key of the call that a message was sent by, if it was one.
///
/// # Errors
/// Of the database.
pub(crate) fn key_of(connection: &Connection, thread: &str, message: &str) -> Result<Option<String>> {
    let mut select = connection.prepare(
        "SELECT key FROM activity WHERE about = ?1 AND verb = 'replied' AND json_extract(detail, '$.message') = ?2 LIMIT 1",
    )?;
    Ok(select.query_row([thread, message], |row| row.get(0)).optional()?.flatten())
}

fn get_draft(connection: &Connection, id: &str) -> Result<Draft> {
    let mut select = connection.prepare(&format!("SELECT {DRAFT} FROM drafts WHERE id = ?1"))?;
    select.query_row([id], read_draft).optional()?.ok_or_else(|| missing("draft", id))
}

const DRAFT: &str = "id, thread, recipient, subject, body, author, updated";
const MAIL: &str = "id, thread, recipient, subject, body, author, leaves, state";

fn missing(kind: &str, id: &str) -> DeskError {
    DeskError::Missing { kind: kind.to_owned(), id: id.to_owned(), near: Vec::new() }
}

fn reply_subject(subject: &str) -> String {
    if subject.to_lowercase().starts_with("re:") { subject.to_owned() } else { format!("Re: {subject}") }
}

fn read_draft(row: &Row<'_>) -> rusqlite::Result<Draft> {
    let thread: Option<String> = row.get(1)?;
    Ok(Draft {
        id: row.get(0)?,
        kind: if thread.is_some() { "reply" } else { "standalone" }.to_owned(),
        thread,
        recipient: row.get(2)?,
        subject: row.get(3)?,
        body: row.get(4)?,
        author: row.get(5)?,
        updated: at(row.get(6)?),
    })
}

fn read(row: &Row<'_>) -> rusqlite::Result<Outgoing> {
    Ok(Outgoing {
        id: row.get(0)?,
        thread: row.get(1)?,
        recipient: row.get(2)?,
        subject: row.get(3)?,
        body: row.get(4)?,
        author: row.get(5)?,
        leaves: at(row.get(6)?),
        state: row.get(7)?,
    })
}
