//! Help articles: found by their words, edited under a lock, and put back when somebody wants that.
//!
//! Promises: a run that edits holds the article, so nobody else does; what an article said before a run's first edit is kept;
//! undoing refuses to overwrite what somebody else wrote since.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Hand, Result, activity, at, bounded, lives};
use crate::error::DeskError;

/// Letters of an article at most.
pub const LONGEST: usize = 40_000;

/// How a run ended whose process is gone.
const CUT_OFF: &str = "the program was cut off";

/// An article.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Article {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What it is about, in a word.
    pub topic: String,
    /// What it says.
    pub body: String,
    /// `customer`, or `internal`: for the desk only.
    pub audience: String,
    /// Counts its changes.
    pub version: i64,
    /// When it was last changed.
    pub updated: Timestamp,
}

/// An article that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// For whom it is.
    pub audience: String,
    /// Where the words stand in it.
    pub excerpt: String,
}

/// What an article said before a run changed it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Its id.
    pub id: String,
    /// The article.
    pub article: String,
    /// The run.
    pub run: String,
    /// `held`: the run goes on. `kept`: it ended well. `offered`: it ended otherwise. `undone`.
    pub state: String,
    /// How the run ended.
    pub why: String,
    /// When.
    pub taken: Timestamp,
}

/// Articles with these words, the best first. When none has all of them, those with any.
///
/// # Errors
/// Of the database.
pub fn search(
    connection: &Connection,
    words: &str,
    internal: bool,
    limit: Option<u32>,
) -> Result<Vec<Found>> {
    let words: Vec<String> = words
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| word.len() > 1)
        .take(12)
        .map(|word| format!("\"{word}\""))
        .collect();
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let find = |query: String| -> Result<Vec<Found>> {
        let mut select = connection.prepare(
            "SELECT a.id, a.title, a.audience, snippet(article_index, 2, '', '', ' … ', 24) FROM article_index i \
             JOIN articles a ON a.id = i.id WHERE article_index MATCH ?1 AND (?2 OR a.audience = 'customer') \
             ORDER BY bm25(article_index, 0, 4, 1), a.id LIMIT ?3",
        )?;
        let rows = select.query_map((query, internal, bounded(limit, 5)), |row| {
            Ok(Found { id: row.get(0)?, title: row.get(1)?, audience: row.get(2)?, excerpt: row.get(3)? })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    };
    let all = find(words.join(" "))?;
    if all.is_empty() { find(words.join(" OR ")) } else { Ok(all) }
}

/// All articles, without their bodies.
///
/// # Errors
/// Of the database.
pub fn list(connection: &Connection) -> Result<Vec<(String, String)>> {
    let mut select = connection.prepare("SELECT id, title FROM articles ORDER BY number LIMIT 200")?;
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// An article.
///
/// # Errors
/// [`DeskError::Missing`], or of the database.
pub fn get(connection: &Connection, id: &str) -> Result<Article> {
    let mut select = connection
        .prepare("SELECT id, title, topic, body, audience, version, updated FROM articles WHERE id = ?1")?;
    select.query_row([id], read).optional()?.ok_or_else(|| {
        let words = id.rsplit(':').next().unwrap_or(id).replace('-', " ");
        let near = search(connection, &words, true, Some(3)).unwrap_or_default();
        DeskError::Missing {
            kind: "article".to_owned(),
            id: id.to_owned(),
            near: near.into_iter().map(|found| found.id).collect(),
        }
    })
}

/// How an article is to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// One place in it, which must be there once.
    Replace {
        /// What is there.
        old: String,
        /// What comes instead.
        new: String,
    },
    /// All of it.
    Body(String),
}

/// What an article would say.
///
/// # Errors
/// [`DeskError::Invalid`].
pub fn edited(article: &Article, title: Option<&str>, edit: Option<&Edit>) -> Result<(String, String)> {
    let title = title.unwrap_or(&article.title).trim().to_owned();
    if title.is_empty() || title.chars().count() > 120 {
        return Err(DeskError::invalid("an article has a title of 1 to 120 letters"));
    }
    let body = match edit {
        None => article.body.clone(),
        Some(Edit::Body(body)) => body.clone(),
        Some(Edit::Replace { old, .. }) if old.is_empty() => {
            return Err(DeskError::invalid("`old` is empty; quote the place that changes"));
        }
        Some(Edit::Replace { old, new }) => match article.body.matches(old.as_str()).count() {
            1 => article.body.replacen(old.as_str(), new, 1),
            0 => {
                return Err(DeskError::invalid(format!(
                    "{} does not say {old:?}; read it again",
                    article.id
                )));
            }
            more => {
                return Err(DeskError::invalid(format!(
                    "{} says {old:?} {more} times; quote more of it",
                    article.id
                )));
            }
        },
    };
    if body.trim().is_empty() || body.chars().count() > LONGEST {
        return Err(DeskError::invalid(format!("an article has 1 to {LONGEST} letters")));
    }
    Ok((title, body))
}

/// A run that holds articles, and the life of the process that it is in: what it holds is held for as long as that goes on.
/// Without a life it belongs to nobody, and whoever recovers what was left takes it back.
#[derive(Debug, Clone, Copy)]
pub struct Holding<'a> {
    /// The run.
    pub run: &'a str,
    /// The life of its process.
    pub life: Option<&'a str>,
}

impl<'a> From<&'a str> for Holding<'a> {
    fn from(run: &'a str) -> Self {
        Self { run, life: None }
    }
}

/// Holds an article for a run, and keeps what it says, once.
///
/// # Errors
/// [`DeskError::Held`] by another run, [`DeskError::Missing`], or of the database.
pub fn hold<'a>(
    tx: &Transaction<'_>,
    hand: &Hand,
    id: &str,
    holding: impl Into<Holding<'a>>,
) -> Result<Article> {
    let Holding { run, life } = holding.into();
    let article = get(tx, id)?;
    let now = hand.at.as_millisecond();
    let holder: Option<(String, String)> = tx
        .query_row("SELECT holder, run FROM article_locks WHERE article = ?1", [id], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    match holder {
        Some((_, by)) if by == run => {}
        Some((holder, by)) if !lives::is_left(tx, &by, hand.at)? => {
            return Err(DeskError::Held { article: id.to_owned(), holder });
        }
        held => {
            if let Some((_, by)) = held {
                release(tx, &by, false, CUT_OFF)?;
            }
            tx.execute(
                "INSERT INTO article_locks (article, holder, run, taken) VALUES (?1, ?2, ?3, ?4)",
                (id, &hand.who, run, now),
            )?;
        }
    }
    // A run that goes on in another process belongs to that one; one that lost its lock while its process slept has a
    // process again.
    if let Some(life) = life {
        lives::beat(tx, life, hand.at)?;
        lives::run_of(tx, run, life)?;
    }
    let name = id.split_once(':').map_or(id, |(_, name)| name);
    tx.execute(
        "INSERT OR IGNORE INTO article_snapshots (id, article, run, title, body, version, taken, state) VALUES (?1, ?2, ?3, ?4, \
         ?5, ?6, ?7, 'held')",
        (format!("snapshot:{name}-{run}"), id, run, &article.title, &article.body, article.version, now),
    )?;
    Ok(article)
}

/// Writes an article that is held.
///
/// # Errors
/// As for [`hold`] and [`edited`].
pub fn write<'a>(
    tx: &Transaction<'_>,
    hand: &Hand,
    id: &str,
    holding: impl Into<Holding<'a>>,
    title: Option<&str>,
    edit: Option<&Edit>,
) -> Result<(Article, Article)> {
    let holding = holding.into();
    let run = holding.run;
    let before = hold(tx, hand, id, holding)?;
    let (title, body) = edited(&before, title, edit)?;
    if title == before.title && body == before.body {
        return Ok((before.clone(), before));
    }
    put(tx, hand, id, &title, &body)?;
    activity::log(tx, hand, "edited", id, &json!({ "run": run, "from": before.version }))?;
    Ok((before, get(tx, id)?))
}

fn put(tx: &Transaction<'_>, hand: &Hand, id: &str, title: &str, body: &str) -> Result<()> {
    tx.execute(
        "UPDATE articles SET title = ?2, body = ?3, version = version + 1, updated = ?4 WHERE id = ?1",
        (id, title, body, hand.at.as_millisecond()),
    )?;
    Ok(())
}

/// Lets go of what a run held. What it wrote stays, and so does what was there before.
///
/// # Errors
/// Of the database.
pub fn release(tx: &Transaction<'_>, run: &str, well: bool, why: &str) -> Result<Vec<Snapshot>> {
    tx.execute("DELETE FROM article_locks WHERE run = ?1", [run])?;
    tx.execute("DELETE FROM run_lives WHERE run = ?1", [run])?;
    let state = if well { "kept" } else { "offered" };
    tx.execute(
        "UPDATE article_snapshots SET state = ?2, why = ?3 WHERE run = ?1 AND state = 'held'",
        (run, state, why),
    )?;
    let mut select = tx.prepare(
        "SELECT id, article, run, state, why, taken FROM article_snapshots s WHERE run = ?1 AND state = ?2 AND EXISTS \
         (SELECT 1 FROM articles a WHERE a.id = s.article AND a.version > s.version) ORDER BY id",
    )?;
    let rows = select.query_map((run, state), snapshot)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Lets go of what runs hold that ended without saying so: their process is gone. What belongs to a process that goes on
/// stays held. Answers how many runs there were.
///
/// # Errors
/// Of the database.
pub fn recover(tx: &Transaction<'_>, now: Timestamp) -> Result<usize> {
    let mut select = tx.prepare(
        "SELECT DISTINCT l.run FROM article_locks l WHERE NOT EXISTS (SELECT 1 FROM run_lives r JOIN lives v ON v.id = r.life \
         WHERE r.run = l.run AND v.until > ?1)",
    )?;
    let rows = select.query_map([now.as_millisecond()], |row| row.get(0))?;
    let runs: Vec<String> = rows.collect::<rusqlite::Result<_>>()?;
    for run in &runs {
        release(tx, run, false, CUT_OFF)?;
    }
    Ok(runs.len())
}

/// Who holds an article.
///
/// # Errors
/// Of the database.
pub fn holder(connection: &Connection, id: &str) -> Result<Option<String>> {
    let mut select = connection.prepare("SELECT holder FROM article_locks WHERE article = ?1")?;
    Ok(select.query_row([id], |row| row.get(0)).optional()?)
}

/// What can be put back, the newest first.
///
/// # Errors
/// Of the database.
pub fn undoable(connection: &Connection, limit: Option<u32>) -> Result<Vec<Snapshot>> {
    let mut select = connection.prepare(
        "SELECT id, article, run, state, why, taken FROM article_snapshots s WHERE state IN ('kept', 'offered') AND EXISTS \
         (SELECT 1 FROM articles a WHERE a.id = s.article AND a.version > s.version) ORDER BY taken DESC, id DESC LIMIT ?1",
    )?;
    let rows = select.query_map([bounded(limit, 10)], snapshot)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Whether an article is as a run left it, so that what it said before that can be put back.
///
/// # Errors
/// [`DeskError::Invalid`] when somebody else changed it since; [`DeskError::Held`].
pub fn is_as_left(connection: &Connection, article: &str, run: &str) -> Result<()> {
    if let Some(holder) = holder(connection, article)? {
        return Err(DeskError::Held { article: article.to_owned(), holder });
    }
    let last: Option<String> = connection
        .query_row(
            "SELECT detail FROM activity WHERE about = ?1 AND verb = 'edited' ORDER BY seq DESC LIMIT 1",
            [article],
            |row| row.get(0),
        )
        .optional()?;
    let by: serde_json::Value = last.map(|last| serde_json::from_str(&last)).transpose()?.unwrap_or_default();
    if by["run"] != run {
        return Err(DeskError::invalid(format!(
            "{article} was changed by somebody else since; look at it first"
        )));
    }
    Ok(())
}

/// Puts back what an article said before a run.
///
/// # Errors
/// [`DeskError::Invalid`] when somebody else changed it since, or it was put back already; [`DeskError::Held`].
pub fn undo(tx: &Transaction<'_>, hand: &Hand, id: &str) -> Result<Article> {
    let row: Option<(String, String, String, String, String)> = tx
        .query_row(
            "SELECT article, run, title, body, state FROM article_snapshots WHERE id = ?1",
            [id],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)),
        )
        .optional()?;
    let Some((article, run, title, body, state)) = row else {
        return Err(DeskError::Missing { kind: "snapshot".to_owned(), id: id.to_owned(), near: Vec::new() });
    };
    if state == "undone" {
        return Err(DeskError::invalid(format!("{article} was put back already")));
    }
    is_as_left(tx, &article, &run)?;
    put(tx, hand, &article, &title, &body)?;
    tx.execute("UPDATE article_snapshots SET state = 'undone' WHERE id = ?1", [id])?;
    activity::log(tx, hand, "undone", &article, &json!({ "snapshot": id }))?;
    get(tx, &article)
}

/// Indexes one article anew. What is found stays findable meanwhile.
///
/// # Errors
/// Of the database.
pub fn index(tx: &Transaction<'_>, id: &str) -> Result<()> {
    tx.execute("DELETE FROM article_index WHERE id = ?1", [id])?;
    tx.execute(
        "INSERT INTO article_index (id, title, body) SELECT id, title, body FROM articles WHERE id = ?1",
        [id],
    )?;
    Ok(())
}

fn snapshot(row: &Row<'_>) -> rusqlite::Result<Snapshot> {
    Ok(Snapshot {
        id: row.get(0)?,
        article: row.get(1)?,
        run: row.get(2)?,
        state: row.get(3)?,
        why: row.get(4)?,
        taken: at(row.get(5)?),
    })
}

fn read(row: &Row<'_>) -> rusqlite::Result<Article> {
    Ok(Article {
        id: row.get(0)?,
        title: row.get(1)?,
        topic: row.get(2)?,
        body: row.get(3)?,
        audience: row.get(4)?,
        version: row.get(5)?,
        updated: at(row.get(6)?),
    })
}
