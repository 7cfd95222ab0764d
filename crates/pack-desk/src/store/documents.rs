//! Documents with versions, for those who go on after a crash: bundles, tasks that are watched, triggers that fired.

use async_trait::async_trait;
use mica_domain::{Kept, RecordError, Records};
use rusqlite::OptionalExtension;
use serde_json::Value;

use super::{Result, Store};
use crate::error::DeskError;

#[async_trait]
impl Records for Store {
    async fn get(&self, kind: &str, id: &str) -> Result<Option<Kept>, RecordError> {
        let key = (kind.to_owned(), id.to_owned());
        let got = self.read(move |connection| {
            let mut select =
                connection.prepare("SELECT version, doc FROM documents WHERE kind = ?1 AND id = ?2")?;
            let row = select
                .query_row(key, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))
                .optional()?;
            Ok(row.map(|(version, doc)| kept(version, &doc)))
        });
        got.await.map_err(|error| store(kind, &error))
    }

    async fn put(
        &self,
        kind: &str,
        id: &str,
        doc: &Value,
        expected: Option<u64>,
    ) -> Result<u64, RecordError> {
        let (of, named, text) = (kind.to_owned(), id.to_owned(), doc.to_string());
        let put = self.write(move |tx| {
            let changed = match expected {
                None => tx.execute(
                    "INSERT INTO documents (kind, id, version, doc) VALUES (?1, ?2, 1, ?3) ON CONFLICT DO NOTHING",
                    (&of, &named, &text),
                )?,
                Some(version) => tx.execute(
                    "UPDATE documents SET version = version + 1, doc = ?3 WHERE kind = ?1 AND id = ?2 AND version = ?4",
                    (&of, &named, &text, i64::try_from(version).unwrap_or(i64::MAX)),
                )?,
            };
            Ok(changed == 1)
        });
        match put.await {
            Ok(true) => Ok(expected.unwrap_or(0) + 1),
            Ok(false) => Err(RecordError::Conflict { kind: kind.to_owned(), id: id.to_owned() }),
            Err(error) => Err(store(kind, &error)),
        }
    }

    async fn list(&self, kind: &str) -> Result<Vec<(String, Kept)>, RecordError> {
        let of = kind.to_owned();
        let listed = self.read(move |connection| {
            let mut select =
                connection.prepare("SELECT id, version, doc FROM documents WHERE kind = ?1 ORDER BY id")?;
            let rows = select
                .query_map([of], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?)))?;
            rows.map(|row| {
                let (id, version, doc) = row?;
                Ok((id, kept(version, &doc)))
            })
            .collect()
        });
        listed.await.map_err(|error| store(kind, &error))
    }

    async fn delete(&self, kind: &str, id: &str, expected: u64) -> Result<(), RecordError> {
        let (of, named) = (kind.to_owned(), id.to_owned());
        let deleted = self.write(move |tx| {
            let version = i64::try_from(expected).unwrap_or(i64::MAX);
            tx.execute(
                "DELETE FROM documents WHERE kind = ?1 AND id = ?2 AND version = ?3",
                (&of, &named, version),
            )?;
            let left = tx.query_row(
                "SELECT 1 FROM documents WHERE kind = ?1 AND id = ?2",
                (&of, &named),
                |_| Ok(()),
            );
            Ok(left.optional()?.is_none())
        });
        match deleted.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(RecordError::Conflict { kind: kind.to_owned(), id: id.to_owned() }),
            Err(error) => Err(store(kind, &error)),
        }
    }
}

/// A document as it is kept. One that is no JSON any more is its text: whoever wants to read it says what is wrong, and
/// nobody else is kept from theirs.
fn kept(version: i64, doc: &str) -> Kept {
    let doc = serde_json::from_str(doc).unwrap_or_else(|_| Value::String(doc.to_owned()));
    Kept { version: u64::try_from(version).unwrap_or_default(), doc }
}

fn store(kind: &str, error: &DeskError) -> RecordError {
    RecordError::Store { kind: kind.to_owned(), problem: error.to_string() }
}
