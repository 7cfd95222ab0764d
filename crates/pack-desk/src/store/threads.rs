//! Conversations with customers.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Hand, Result, activity, at, bounded, like, number};
use crate::error::DeskError;

/// States a thread can be in.
pub const STATES: &[&str] = &["open", "waiting", "closed"];
/// How urgent a thread can be.
pub const PRIORITIES: &[&str] = &["low", "normal", "high"];
/// Tags of one thread at most.
const TAGS: usize = 12;

/// A thread, without its messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// Its id.
    pub id: String,
    /// What it is about.
    pub subject: String,
    /// Whom it is with.
    pub contact: Option<String>,
    /// Their name.
    pub sender: Option<String>,
    /// Their company.
    pub company: Option<String>,
    /// `open`, `waiting` or `closed`.
    pub status: String,
    /// Who has it: a member or an agent.
    pub assignee: Option<String>,
    /// `low`, `normal` or `high`.
    pub priority: String,
    /// Whether the last message was not looked at.
    pub unread: bool,
    /// Its tags, in order.
    pub tags: Vec<String>,
    /// When the last message came.
    pub last_message: Timestamp,
    /// Counts its changes.
    pub version: i64,
}

/// A message of a thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its id.
    pub id: String,
    /// Counts the messages of the thread, from 1.
    pub seq: i64,
    /// A contact, a member or an agent.
    pub author: String,
    /// What it says.
    pub body: String,
    /// When.
    pub sent: Timestamp,
    /// Whether its author is known to have a part in the conversation: one of the desk, whom it is with, somebody of their
    /// company, or whoever began it. Anybody can write the number of a thread into a subject.
    pub known: bool,
}

impl Message {
    /// Whether it came from outside.
    pub fn is_inbound(&self) -> bool {
        !self.author.starts_with("member:") && !self.author.starts_with("agent:")
    }
}

/// Which threads are wanted.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Words of the subject, of the messages, or of the contact's name.
    pub words: String,
    /// Only in this state.
    pub status: Option<String>,
    /// Only of this assignee. `none`: that nobody has.
    pub assignee: Option<String>,
    /// Only with this tag.
    pub tag: Option<String>,
    /// Only of this company or contact.
    pub about: Option<String>,
    /// Only those whose last message came before.
    pub before: Option<Timestamp>,
    /// Only those whose last message came from outside.
    pub unanswered: bool,
    /// So many at most.
    pub limit: Option<u32>,
}

const COLUMNS: &str = "t.id, t.subject, t.contact, c.name, t.company, t.status, t.assignee, t.priority, t.unread, \
     (SELECT group_concat(tag, ' ') FROM (SELECT tag FROM thread_tags WHERE thread = t.id ORDER BY tag)), \
     t.last_message, t.version";

/// Threads that fit, the newest first, and how many there are in all.
///
/// # Errors
/// Of the database.
pub fn search(connection: &Connection, search: &Search) -> Result<(Vec<Thread>, usize)> {
    let mut conditions = vec!["1".to_owned()];
    let mut values: Vec<rusqlite::types::Value> = Vec::new();
    let mut bind = |value: rusqlite::types::Value| {
        values.push(value);
        values.len()
    };
    for word in search.words.split_whitespace().take(8) {
        let at = bind(like(word).into());
        conditions.push(format!(
            "(t.subject LIKE ?{at} ESCAPE '\\' OR c.name LIKE ?{at} ESCAPE '\\' OR t.id LIKE ?{at} ESCAPE '\\' OR EXISTS \
             (SELECT 1 FROM messages m WHERE m.thread = t.id AND m.body LIKE ?{at} ESCAPE '\\'))"
        ));
    }
    if let Some(status) = &search.status {
        conditions.push(format!("t.status = ?{}", bind(status.clone().into())));
    }
    match search.assignee.as_deref() {
        None => {}
        Some("none") => conditions.push("t.assignee IS NULL".to_owned()),
        Some(assignee) => conditions.push(format!("t.assignee = ?{}", bind(assignee.to_owned().into()))),
    }
    if let Some(tag) = &search.tag {
        let at = bind(tag.to_lowercase().into());
        conditions
            .push(format!("EXISTS (SELECT 1 FROM thread_tags g WHERE g.thread = t.id AND g.tag = ?{at})"));
    }
    if let Some(about) = &search.about {
        let at = bind(about.clone().into());
        conditions.push(format!("(t.company = ?{at} OR t.contact = ?{at})"));
    }
    if let Some(before) = search.before {
        conditions.push(format!("t.last_message < ?{}", bind(before.as_millisecond().into())));
    }
    if search.unanswered {
        conditions.push(
            "EXISTS (SELECT 1 FROM messages m WHERE m.thread = t.id AND m.seq = (SELECT max(seq) FROM messages WHERE thread = t.id) \
             AND m.author NOT LIKE 'member:%' AND m.author NOT LIKE 'agent:%')"
                .to_owned(),
        );
    }
    let from =
        format!("FROM threads t LEFT JOIN contacts c ON c.id = t.contact WHERE {}", conditions.join(" AND "));
    let all: i64 = connection.query_row(
        &format!("SELECT count(*) {from}"),
        rusqlite::params_from_iter(&values),
        |row| row.get(0),
    )?;
    let limit = bounded(search.limit, 10);
    let select = format!("SELECT {COLUMNS} {from} ORDER BY t.last_message DESC, t.id LIMIT {limit}");
    let mut select = connection.prepare(&select)?;
    let rows = select.query_map(rusqlite::params_from_iter(&values), read)?;
    Ok((rows.collect::<rusqlite::Result<_>>()?, usize::try_from(all).unwrap_or_default()))
}

/// A thread.
///
/// # Errors
/// [`DeskError::Missing`], or of the database.
pub fn get(connection: &Connection, id: &str) -> Result<Thread> {
    let select =
        format!("SELECT {COLUMNS} FROM threads t LEFT JOIN contacts c ON c.id = t.contact WHERE t.id = ?1");
    let mut select = connection.prepare(&select)?;
    select.query_row([id], read).optional()?.ok_or_else(|| DeskError::Missing {
        kind: "thread".to_owned(),
        id: id.to_owned(),
        near: Vec::new(),
    })
}

/// The last messages of a thread, the oldest of them first, and how many there are in all.
///
/// # Errors
/// Of the database.
pub fn messages(connection: &Connection, id: &str, limit: Option<u32>) -> Result<(Vec<Message>, usize)> {
    earlier_messages(connection, id, 0, limit)
}

/// The same without so many of the newest.
///
/// # Errors
/// Of the database.
pub fn earlier_messages(
    connection: &Connection,
    id: &str,
    skip: u32,
    limit: Option<u32>,
) -> Result<(Vec<Message>, usize)> {
    let all: i64 =
        connection.query_row("SELECT count(*) FROM messages WHERE thread = ?1", [id], |row| row.get(0))?;
    let messages = some_messages(connection, id, skip, bounded(limit, 20))?;
    Ok((messages, usize::try_from(all).unwrap_or_default()))
}

fn last_messages(connection: &Connection, id: &str, limit: u32) -> Result<Vec<Message>> {
    some_messages(connection, id, 0, limit)
}

fn some_messages(connection: &Connection, id: &str, skip: u32, limit: u32) -> Result<Vec<Message>> {
    let mut select = connection.prepare(&format!(
        "SELECT m.id, m.seq, m.author, m.body, m.sent, {KNOWN} FROM messages m JOIN threads t ON t.id = m.thread WHERE m.thread = ?1 \
         ORDER BY m.seq DESC LIMIT ?2 OFFSET ?3"
    ))?;
    let rows = select.query_map((id, limit, skip), |row| {
        Ok(Message {
            id: row.get(0)?,
            seq: row.get(1)?,
            author: row.get(2)?,
            body: row.get(3)?,
            sent: at(row.get(4)?),
            known: row.get(5)?,
        })
    })?;
    let mut messages: Vec<Message> = rows.collect::<rusqlite::Result<_>>()?;
    messages.reverse();
    Ok(messages)
}

/// Whether the author of a message `m` has a part in its thread `t`. Addresses are kept in small letters.
const KNOWN: &str = "coalesce(m.author LIKE 'member:%' OR m.author LIKE 'agent:%' OR m.author = t.contact OR (t.contact IS NULL AND m.author = \
     (SELECT f.author FROM messages f WHERE f.thread = t.id ORDER BY f.seq LIMIT 1)) OR EXISTS (SELECT 1 FROM contacts k WHERE \
     (k.id = m.author OR k.email = m.author) AND k.deleted IS NULL AND (k.id = t.contact OR (k.status != 'left' AND k.company = \
     t.company))), 0)";

/// Messages that whoever answers a thread catches up on at most.
const CAUGHT_UP: u32 = 500;

/// Everything that was said in a thread by those who have a part in it, in order, for whoever answers there: the last 500 of
/// it. What others wrote is for people to look at.
///
/// # Errors
/// Of the database.
pub(crate) fn every_message(connection: &Connection, id: &str) -> Result<Vec<Message>> {
    let mut messages = last_messages(connection, id, CAUGHT_UP)?;
    messages.retain(|message| message.known);
    Ok(messages)
}

/// What is to become of a thread. What is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Who has it. `none`: nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    /// How urgent it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// Tags that come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add_tags: Vec<String>,
    /// Tags that go.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove_tags: Vec<String>,
}

/// A change as it would be made.
///
/// # Errors
/// [`DeskError::Invalid`] with what is allowed.
pub fn checked(change: &Change) -> Result<Change> {
    let known = |name: &str, value: &Option<String>, all: &[&str]| match value {
        Some(value) if !all.contains(&value.as_str()) => {
            Err(DeskError::invalid(format!("{name} cannot be {value:?}; it is one of {}", all.join(", "))))
        }
        _ => Ok(()),
    };
    known("status", &change.status, STATES)?;
    known("priority", &change.priority, PRIORITIES)?;
    let tags = |tags: &[String]| tags.iter().map(|tag| tag_name(tag)).collect::<Result<Vec<_>>>();
    let (add_tags, remove_tags) = (tags(&change.add_tags)?, tags(&change.remove_tags)?);
    Ok(Change { add_tags, remove_tags, ..change.clone() })
}

/// Changes a thread. Answers it before and after.
///
/// # Errors
/// [`DeskError::Missing`], [`DeskError::Invalid`], or of the database.
pub fn update(tx: &Transaction<'_>, hand: &Hand, id: &str, change: &Change) -> Result<(Thread, Thread)> {
    let (before, change) = (get(tx, id)?, checked(change)?);
    if let Some(status) = &change.status {
        tx.execute("UPDATE threads SET status = ?2 WHERE id = ?1", (id, status))?;
    }
    if let Some(priority) = &change.priority {
        tx.execute("UPDATE threads SET priority = ?2 WHERE id = ?1", (id, priority))?;
    }
    if let Some(assignee) = &change.assignee {
        let assignee = (assignee != "none").then_some(assignee);
        tx.execute("UPDATE threads SET assignee = ?2 WHERE id = ?1", (id, assignee))?;
    }
    for tag in &change.add_tags {
        tx.execute("INSERT OR IGNORE INTO thread_tags (thread, tag) VALUES (?1, ?2)", (id, tag))?;
    }
    for tag in &change.remove_tags {
        tx.execute("DELETE FROM thread_tags WHERE thread = ?1 AND tag = ?2", (id, tag))?;
    }
    let after = get(tx, id)?;
    if after.tags.len() > TAGS {
        return Err(DeskError::invalid(format!("a thread has {TAGS} tags at most")));
    }
    if after == before {
        return Ok((before, after));
    }
    tx.execute(
        "UPDATE threads SET version = version + 1, updated = ?2 WHERE id = ?1",
        (id, hand.at.as_millisecond()),
    )?;
    activity::log(tx, hand, "sorted", id, &json!(change))?;
    Ok((before, get(tx, id)?))
}

fn tag_name(tag: &str) -> Result<String> {
    let tag = tag.trim().trim_start_matches('#').to_lowercase().replace(' ', "-");
    let good = !tag.is_empty()
        && tag.len() <= 30
        && tag.chars().all(|letter| letter.is_alphanumeric() || letter == '-');
    if good {
        Ok(tag)
    } else {
        Err(DeskError::invalid(format!("{tag:?} is no tag: letters, digits and dashes, up to 30")))
    }
}

/// Adds a message, and what follows from it: one from outside opens the thread again and is unread.
///
/// # Errors
/// [`DeskError::Missing`], or of the database.
pub fn say(tx: &Transaction<'_>, hand: &Hand, id: &str, author: &str, body: &str) -> Result<Message> {
    get(tx, id)?;
    let name = id.split_once(':').map_or(id, |(_, name)| name);
    // The number of mail that was taken back is never given again: whoever heard it knows it by its id.
    let seq: i64 = tx.query_row(
        "SELECT max(coalesce((SELECT max(seq) FROM messages WHERE thread = ?1), 0), coalesce((SELECT max(CAST(substr(message, \
         length(?2) + 1) AS INTEGER)) FROM outbox WHERE thread = ?1), 0)) + 1",
        (id, format!("message:{name}-")),
        |row| row.get(0),
    )?;
    tx.execute(
        "INSERT INTO messages (id, thread, seq, author, body, sent) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        (format!("message:{name}-{seq}"), id, seq, author, body, hand.at.as_millisecond()),
    )?;
    let message = last_messages(tx, id, 1)?.pop().ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let inbound = message.is_inbound();
    let status = if inbound { "open" } else { "waiting" };
    tx.execute(
        "UPDATE threads SET last_message = ?2, updated = ?2, unread = ?3, status = ?4, version = version + 1 WHERE id = ?1",
        (id, hand.at.as_millisecond(), inbound, status),
    )?;
    let verb = if inbound { "received" } else { "replied" };
    activity::log(tx, hand, verb, id, &json!({ "message": message.id, "author": author }))?;
    Ok(message)
}

/// Begins a thread with a message from outside.
///
/// # Errors
/// Of the database.
pub fn begin(
    tx: &Transaction<'_>,
    hand: &Hand,
    contact: Option<&str>,
    sender: &str,
    subject: &str,
    body: &str,
) -> Result<Thread> {
    let id = format!("thread:{:04}", number(tx, "thread")?);
    let company: Option<String> = match contact {
        None => None,
        Some(contact) => tx
            .query_row("SELECT company FROM contacts WHERE id = ?1", [contact], |row| row.get(0))
            .optional()?
            .flatten(),
    };
    tx.execute(
        "INSERT INTO threads (id, subject, contact, company, created, last_message, updated) VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?5)",
        (&id, subject, contact, company, hand.at.as_millisecond()),
    )?;
    say(tx, hand, &id, contact.unwrap_or(sender), body)?;
    get(tx, &id)
}

/// Marks a thread as read. Looking is no change: nothing is logged.
///
/// # Errors
/// Of the database.
pub fn seen(tx: &Transaction<'_>, id: &str) -> Result<()> {
    tx.execute("UPDATE threads SET unread = 0 WHERE id = ?1", [id])?;
    Ok(())
}

/// All tags that are used, the most used first.
///
/// # Errors
/// Of the database.
pub fn tags(connection: &Connection) -> Result<Vec<(String, i64)>> {
    let mut select = connection
        .prepare("SELECT tag, count(*) FROM thread_tags GROUP BY tag ORDER BY count(*) DESC, tag LIMIT 50")?;
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Thread> {
    let tags: Option<String> = row.get(9)?;
    Ok(Thread {
        id: row.get(0)?,
        subject: row.get(1)?,
        contact: row.get(2)?,
        sender: row.get(3)?,
        company: row.get(4)?,
        status: row.get(5)?,
        assignee: row.get(6)?,
        priority: row.get(7)?,
        unread: row.get(8)?,
        tags: tags.map(|tags| tags.split(' ').map(str::to_owned).collect()).unwrap_or_default(),
        last_message: at(row.get(10)?),
        version: row.get(11)?,
    })
}
