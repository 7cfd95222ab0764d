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
            row.map(|(version, doc)| kept(version, &doc)).transpose()
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
                Ok((id, kept(version, &doc)?))
            })
            .collect()
        });
        listed.await.map_err(|error| store(kind, &error))
    }
}

fn kept(version: i64, doc: &str) -> Result<Kept> {
    Ok(Kept { version: u64::try_from(version).unwrap_or_default(), doc: serde_json::from_str(doc)? })
}

fn store(kind: &str, error: &DeskError) -> RecordError {
    RecordError::Store { kind: kind.to_owned(), problem: error.to_string() }
}
