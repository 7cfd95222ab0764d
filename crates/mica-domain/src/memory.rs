//! Keeping what a domain remembers: the seam to whoever keeps the session.
//!
//! Promise: what a domain remembers is handed over whenever it changed, before a model is asked and when a run has ended.
//! What cannot be read again costs the memory, never the session.

use async_trait::async_trait;
use serde_json::Value;

/// Keeps what a domain remembers, wherever the session is kept.
#[async_trait]
pub trait Memory: Send + Sync {
    /// Keeps the state of a domain, as [`DomainHooks`](crate::DomainHooks) will want it back. The next model call waits
    /// for this, and it must be safe by then.
    ///
    /// # Errors
    /// In words. A run that is going on ends: nothing is asked that could not be kept.
    async fn keep(&self, domain: &str, state: &Value) -> Result<(), String>;
}

/// What a domain remembered cannot be read any more. It begins anew.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("what the pack {domain} remembered of this session cannot be read ({problem}); it begins anew")]
pub struct Unreadable {
    /// The domain.
    pub domain: String,
    /// What is wrong with it.
    pub problem: String,
}
