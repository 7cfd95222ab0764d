//! What outlives a process: documents with versions, by kind and id.
//!
//! Promise: nothing is overwritten that somebody else wrote meanwhile. Whoever writes says which version they read; when
//! that is not the newest any more, nothing is written, and they look again.
//!
//! A product keeps them where it keeps its own data: in a table of its database, for example. What is kept here is for
//! those who must be able to go on after a crash: bundles of captured actions, tasks that are watched, triggers that fired.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::Value;

#[cfg(test)]
pub(crate) mod testing;

/// The kind of record that keeps what could not be read and was made anew, under its kind, id and version.
pub const ASIDE: &str = "set_aside";

/// A document, as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// Counts its writes, from 1.
    pub version: u64,
    /// The document.
    pub doc: Value,
}

/// Why a record could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// Somebody else wrote it meanwhile. Read it again, and decide again.
    #[error("{kind} {id} was changed by somebody else")]
    Conflict {
        /// Its kind.
        kind: String,
        /// Its id.
        id: String,
    },
    /// The store failed.
    #[error("the store of {kind} failed: {problem}")]
    Store {
        /// The kind.
        kind: String,
        /// What it said.
        problem: String,
    },
}

/// Documents with versions. Clones of a handle see the same ones.
///
/// Contract: a write that returned is safe, also from a crash of the machine; one that failed changed nothing. Each call is
/// one transaction.
#[async_trait]
pub trait Records: Send + Sync {
    /// A document, if there is one.
    ///
    /// # Errors
    /// [`RecordError::Store`].
    async fn get(&self, kind: &str, id: &str) -> Result<Option<Kept>, RecordError>;

    /// Writes a document whose newest version is `expected`; `None`: which is not there yet. Answers its new version.
    ///
    /// # Errors
    /// [`RecordError::Conflict`], and [`RecordError::Store`].
    async fn put(&self, kind: &str, id: &str, doc: &Value, expected: Option<u64>)
    -> Result<u64, RecordError>;

    /// All documents of a kind, by id in order. One that is damaged is given as the text that it is, so that it keeps nobody
    /// from the others.
    ///
    /// # Errors
    /// [`RecordError::Store`].
    async fn list(&self, kind: &str) -> Result<Vec<(String, Kept)>, RecordError>;

    /// Deletes a document whose newest version is `expected`. One that is not there is deleted.
    ///
    /// # Errors
    /// [`RecordError::Conflict`]: somebody wrote it meanwhile, so it stays. [`RecordError::Store`].
    async fn delete(&self, kind: &str, id: &str, expected: u64) -> Result<(), RecordError>;
}

/// A document that cannot be read. It stays where it is, and nobody else is kept from theirs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} {id} cannot be read, and is left aside: {problem}")]
pub struct Unread {
    /// Its kind.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// What is wrong with it.
    pub problem: String,
}

/// A document that was read: its id, its version, and what it says.
pub(crate) type Found<T> = (String, u64, T);

/// All documents of a kind that can be read, and those that cannot.
pub(crate) async fn sorted<T: DeserializeOwned>(
    records: &dyn Records,
    kind: &str,
) -> Result<(Vec<Found<T>>, Vec<Unread>), RecordError> {
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    for (id, kept) in records.list(kind).await? {
        match T::deserialize(&kept.doc) {
            Ok(doc) => found.push((id, kept.version, doc)),
            Err(error) => unread.push(Unread { kind: kind.to_owned(), id, problem: error.to_string() }),
        }
    }
    Ok((found, unread))
}

/// All documents of a kind that can be read. The others are logged.
pub(crate) async fn readable<T: DeserializeOwned>(
    records: &dyn Records,
    kind: &str,
) -> Result<Vec<Found<T>>, RecordError> {
    let (found, unread) = sorted(records, kind).await?;
    for unread in unread {
        tracing::warn!(%unread, "something is left out");
    }
    Ok(found)
}

/// Reads a document that is made anew when it cannot be read. What it was is kept aside then, before it is overwritten.
pub(crate) async fn renewed<T: DeserializeOwned>(
    records: &dyn Records,
    kind: &str,
    id: &str,
) -> Result<(Option<T>, Option<u64>), RecordError> {
    let Some(kept) = records.get(kind, id).await? else { return Ok((None, None)) };
    match T::deserialize(&kept.doc) {
        Ok(doc) => Ok((Some(doc), Some(kept.version))),
        Err(error) => {
            tracing::warn!(kind, id, %error, "something cannot be read, is kept aside, and begins anew");
            let aside = format!("{kind}/{id}@{}", kept.version);
            match records.put(ASIDE, &aside, &kept.doc, None).await {
                Ok(_) | Err(RecordError::Conflict { .. }) => Ok((None, Some(kept.version))),
                Err(error) => Err(error),
            }
        }
    }
}

/// Records that live as long as the process. For tests, and for products that keep nothing.
#[derive(Clone, Default)]
pub struct InMemory {
    kept: Arc<Mutex<BTreeMap<(String, String), Kept>>>,
}

#[async_trait]
impl Records for InMemory {
    async fn get(&self, kind: &str, id: &str) -> Result<Option<Kept>, RecordError> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(kept.get(&(kind.to_owned(), id.to_owned())).cloned())
    }

    async fn put(
        &self,
        kind: &str,
        id: &str,
        doc: &Value,
        expected: Option<u64>,
    ) -> Result<u64, RecordError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (kind.to_owned(), id.to_owned());
        if kept.get(&key).map(|kept| kept.version) != expected {
            return Err(RecordError::Conflict { kind: kind.to_owned(), id: id.to_owned() });
        }
        let version = expected.unwrap_or(0) + 1;
        kept.insert(key, Kept { version, doc: doc.clone() });
        Ok(version)
    }

    async fn list(&self, kind: &str) -> Result<Vec<(String, Kept)>, RecordError> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let of_kind = kept.iter().filter(|((of, _), _)| of == kind);
        Ok(of_kind.map(|((_, id), kept)| (id.clone(), kept.clone())).collect())
    }

    async fn delete(&self, kind: &str, id: &str, expected: u64) -> Result<(), RecordError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (kind.to_owned(), id.to_owned());
        if kept.get(&key).is_some_and(|kept| kept.version != expected) {
            return Err(RecordError::Conflict { kind: kind.to_owned(), id: id.to_owned() });
        }
        kept.remove(&key);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn whoever_read_an_older_version_writes_nothing() {
        let records = InMemory::default();
        assert_eq!(records.get("bundle", "b1").await, Ok(None));
        assert_eq!(records.put("bundle", "b1", &json!(1), None).await, Ok(1));
        let conflict = RecordError::Conflict { kind: "bundle".to_owned(), id: "b1".to_owned() };
        assert_eq!(records.put("bundle", "b1", &json!(2), None).await, Err(conflict.clone()));
        assert_eq!(records.put("bundle", "b1", &json!(3), Some(1)).await, Ok(2));
        assert_eq!(records.put("bundle", "b1", &json!(4), Some(1)).await, Err(conflict));
        assert_eq!(records.put("bundle", "a", &json!(5), None).await, Ok(1));
        assert_eq!(records.put("task", "t", &json!(6), None).await, Ok(1));
        let listed = records.list("bundle").await.unwrap();
        let listed: Vec<_> = listed.iter().map(|(id, kept)| (id.as_str(), kept.version, &kept.doc)).collect();
        assert_eq!(listed, [("a", 1, &json!(5)), ("b1", 2, &json!(3))]);
        let conflict = RecordError::Conflict { kind: "bundle".to_owned(), id: "b1".to_owned() };
        assert_eq!(records.delete("bundle", "b1", 1).await, Err(conflict), "it was written since");
        assert_eq!(records.delete("bundle", "b1", 2).await, Ok(()));
        assert_eq!(records.delete("bundle", "b1", 2).await, Ok(()), "it is not there");
        assert_eq!(records.get("bundle", "b1").await, Ok(None));
    }
}
