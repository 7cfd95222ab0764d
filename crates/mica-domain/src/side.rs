//! What belongs to a session and is no part of its conversation: snapshots, variables, captured actions.
//!
//! It is written as changes, one after the other, and read back in that order: what grows with a session is not written
//! anew with every turn. A session that goes back to an earlier point has what was written until there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::Value;

/// Keeps such changes, wherever the session is kept.
#[async_trait]
pub trait Side: Send + Sync {
    /// Keeps a change. It is safe before the next model call.
    ///
    /// # Errors
    /// In words.
    async fn append(&self, kind: &str, change: Value) -> Result<(), String>;

    /// All changes of a kind, the oldest first.
    ///
    /// # Errors
    /// In words.
    fn all(&self, kind: &str) -> Result<Vec<Value>, String>;
}

/// Changes that live as long as the process.
#[derive(Clone, Default)]
pub struct Loose {
    changes: Arc<Mutex<BTreeMap<String, Vec<Value>>>>,
}

#[async_trait]
impl Side for Loose {
    async fn append(&self, kind: &str, change: Value) -> Result<(), String> {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        changes.entry(kind.to_owned()).or_default().push(change);
        Ok(())
    }

    fn all(&self, kind: &str) -> Result<Vec<Value>, String> {
        let changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(changes.get(kind).cloned().unwrap_or_default())
    }
}
