//! The desk's data: one SQLite file, one writer.
//!
//! Promises: a change and the record of it are one transaction; a call that was made before, by its key, changes nothing
//! and answers what it answered; every list has a limit; no query runs on a thread that others wait for.

pub mod activity;
pub mod articles;
pub mod documents;
pub mod effects;
pub mod entities;
pub mod jobs;
pub mod lives;
pub mod mail;
pub mod migrations;
pub mod notes;
pub mod seed;
pub mod tasks;
pub mod team;
pub mod threads;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::DeskError;

/// What comes of work with the store.
pub type Result<T, E = DeskError> = std::result::Result<T, E>;

/// Rows that any list has at most, whatever was asked for.
pub const MOST: u32 = 50;

/// How long one program waits for another that writes.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// The desk's data. Clones are handles to the same file.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    writer: Mutex<Connection>,
    reader: Mutex<Connection>,
}

/// What a call came to: for the model, and as data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// What the model reads.
    pub text: String,
    /// What interfaces and cards are made of.
    pub details: Value,
}

/// Who changes something, when, and by which call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hand {
    /// A member or an agent.
    pub who: String,
    /// When.
    pub at: Timestamp,
    /// The key of the call, when it is one.
    pub key: Option<String>,
}

impl Store {
    /// Opens a desk, and makes it when there is none: an empty one, at the newest version.
    ///
    /// # Errors
    /// [`DeskError`]: the file is locked, damaged, of something else, or of a later version.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_patiently(path, PATIENCE)
    }

    /// The same, waiting so long for others.
    ///
    /// # Errors
    /// As for [`Store::open`].
    pub fn open_patiently(path: impl AsRef<Path>, patience: Duration) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let open = || -> Result<(Connection, Connection)> {
            let mut writer = connection(&path, patience)?;
            migrations::run(&mut writer, &path)?;
            let reader = connection(&path, patience)?;
            reader.pragma_update(None, "query_only", true)?;
            Ok((writer, reader))
        };
        let (writer, reader) = open().map_err(|error| explained(error, &path))?;
        Ok(Self { inner: Arc::new(Inner { path, writer: Mutex::new(writer), reader: Mutex::new(reader) }) })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Looks, on this thread. For hooks that are not `async`, and for tests.
    ///
    /// # Errors
    /// [`DeskError`].
    pub fn look<T>(&self, look: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let reader = self.inner.reader.lock().unwrap_or_else(PoisonError::into_inner);
        look(&reader).map_err(|error| explained(error, &self.inner.path))
    }

    /// Changes, on this thread: all of it or nothing.
    ///
    /// # Errors
    /// [`DeskError`]; nothing was changed.
    pub fn change<T>(&self, change: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        let mut writer = self.inner.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let work = || -> Result<T> {
            let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let changed = change(&transaction)?;
            transaction.commit()?;
            Ok(changed)
        };
        work().map_err(|error| explained(error, &self.inner.path))
    }

    /// Looks, beside the threads that others wait for.
    ///
    /// # Errors
    /// [`DeskError`].
    pub async fn read<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let store = self.clone();
        joined(tokio::task::spawn_blocking(move || store.look(look)).await)
    }

    /// Changes, beside the threads that others wait for.
    ///
    /// # Errors
    /// [`DeskError`]; nothing was changed.
    pub async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let store = self.clone();
        joined(tokio::task::spawn_blocking(move || store.change(change)).await)
    }

    /// Does a call once: when its key was used before, what it came to then is answered, and nothing is done.
    ///
    /// # Errors
    /// [`DeskError`]; nothing was changed, and the key is free.
    pub async fn once(
        &self,
        tool: &'static str,
        hand: Hand,
        change: impl FnOnce(&Transaction<'_>, &Hand) -> Result<Done> + Send + 'static,
    ) -> Result<Done> {
        self.write(move |tx| {
            let Some(key) = hand.key.clone() else { return change(tx, &hand) };
            if let Some(done) = effects::known(tx, &key, tool)? {
                return Ok(done);
            }
            let done = change(tx, &hand)?;
            effects::keep(tx, &key, tool, &done, hand.at)?;
            Ok(done)
        })
        .await
    }
}

/// A name or a title: one line, so that it cannot pass for more than one thing wherever it is listed.
///
/// # Errors
/// [`DeskError::Invalid`].
pub(crate) fn one_line<'a>(what: &str, text: &'a str) -> Result<&'a str> {
    if text.contains(|letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}')) {
        return Err(DeskError::invalid(format!(
            "{what} is one line, without line breaks or control characters"
        )));
    }
    Ok(text)
}

/// The next number for an id of a kind.
pub(crate) fn number(tx: &Transaction<'_>, kind: &str) -> Result<i64> {
    let next = "INSERT INTO numbers (kind, last) VALUES (?1, 1) ON CONFLICT (kind) DO UPDATE SET last = last + 1 RETURNING last";
    Ok(tx.query_row(next, [kind], |row| row.get(0))?)
}

/// A time as it is kept.
pub(crate) fn at(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// How many rows are given: what was asked for, within the limit.
pub(crate) fn bounded(asked: Option<u32>, usually: u32) -> u32 {
    asked.unwrap_or(usually).clamp(1, MOST)
}

/// Letters of a word that is looked for at most.
const LONGEST_WORD: usize = 100;

/// What `LIKE` looks for anywhere in a text, with nothing in it that means something.
pub(crate) fn like(text: &str) -> String {
    format!("%{}", begins(text))
}

/// What `LIKE` looks for at the beginning of a text, with nothing in it that means something.
pub(crate) fn begins(text: &str) -> String {
    let mut pattern = String::new();
    for letter in text.chars().take(LONGEST_WORD) {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}

fn connection(path: &Path, patience: Duration) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let connection = Connection::open_with_flags(path, flags)
        .map_err(|error| DeskError::Unopened { path: path.to_path_buf(), problem: error.to_string() })?;
    connection.busy_timeout(patience)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // What was answered is safe from a crash of the machine, not only of the program.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// What a failure of the database means for whoever opened it.
fn explained(error: DeskError, path: &Path) -> DeskError {
    let DeskError::Sql(rusqlite::Error::SqliteFailure(failure, said)) = &error else { return error };
    let problem = || said.clone().unwrap_or_else(|| failure.to_string());
    match failure.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => DeskError::Locked { path: path.to_path_buf() },
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
            DeskError::Damaged { path: path.to_path_buf(), problem: problem() }
        }
        ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied => {
            DeskError::Unopened { path: path.to_path_buf(), problem: problem() }
        }
        _ => error,
    }
}

fn joined<T>(joined: Result<Result<T>, tokio::task::JoinError>) -> Result<T> {
    joined.unwrap_or_else(|broken| Err(DeskError::Cut(broken.to_string())))
}

#[cfg(test)]
pub(crate) mod tests;
