//! Who is told what was done to the window: a session keeps it, a product shows it.

use async_trait::async_trait;
use mica_ai::id::MessageId;

use crate::compact::CompactionRecord;
use crate::prune::PruneRecord;
use crate::segments::CacheCheck;

/// Keeps what was done to a window. Every method has a default that keeps nothing.
///
/// Contract: what is recorded is on record before the window changes. A failure ends the run, as with any record.
#[async_trait]
pub trait Journal: Send + Sync {
    /// A summary is about to take the place of the beginning of the window.
    ///
    /// # Errors
    /// In words.
    async fn compacted(&self, record: &CompactionRecord) -> Result<(), String> {
        let _ = record;
        Ok(())
    }

    /// Old results are about to be replaced.
    ///
    /// # Errors
    /// In words.
    async fn pruned(&self, record: &PruneRecord) -> Result<(), String> {
        let _ = record;
        Ok(())
    }

    /// A block of turn sections is about to be added to a user message that is on record already.
    ///
    /// # Errors
    /// In words.
    async fn attached(&self, message: &MessageId, block: &str) -> Result<(), String> {
        let _ = (message, block);
        Ok(())
    }

    /// An answer read less from the cache than it should have.
    fn missed(&self, check: &CacheCheck) {
        let _ = check;
    }
}

/// Keeps nothing.
impl Journal for () {}
