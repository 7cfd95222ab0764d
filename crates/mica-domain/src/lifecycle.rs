//! What a capability does around a run: taking a lock, keeping what was there before, giving both back.
//!
//! Promises: what was taken is on record before a model is asked; whatever a run comes to, what it took is released, also
//! after a panic, an abort and a crash; nothing is taken back behind a person's back. When a run did not complete, its work
//! stays, and taking it back is offered.

use async_trait::async_trait;
use mica_agent::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::state::State;

/// How a run ended, for those who took something for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The model was done.
    Completed,
    /// A limit was reached.
    Exhausted,
    /// Somebody stopped it, or said something else while it waited for them.
    Aborted,
    /// It could not go on.
    Failed,
    /// The process died in it. Told when the session is opened again.
    Crashed,
}

impl Ending {
    /// How an outcome ends a run. `None`: it does not, it waits.
    pub fn of(outcome: &Outcome) -> Option<Self> {
        match outcome {
            Outcome::Completed => Some(Self::Completed),
            Outcome::Exhausted { .. } => Some(Self::Exhausted),
            Outcome::Suspended { .. } => None,
            Outcome::Aborted => Some(Self::Aborted),
            Outcome::Failed { .. } => Some(Self::Failed),
        }
    }
}

/// What a capability does around a run.
///
/// For each run on its page: `begin`, `end`, `release`, in this order and once each, but for a crash between them. What
/// fails or panics in `end` is logged; `release` is called all the same.
#[async_trait]
pub trait Lifecycle: Send + Sync {
    /// Names it among those of the domain. Recovery finds it again by this.
    fn name(&self) -> &str;

    /// A run begins: takes what is needed. What it answers is kept in the session, and is what the others are given, also
    /// in another process.
    ///
    /// # Errors
    /// In words, for people. The run does not begin, and what others took for it is released.
    async fn begin(&self, state: &State) -> Result<Value, String>;

    /// A run has ended. Its work stays as it is; what is needed to take it back is kept unless the run completed.
    ///
    /// # Errors
    /// In words, for the log.
    async fn end(&self, taken: &Value, ending: Ending) -> Result<(), String> {
        let _ = (taken, ending);
        Ok(())
    }

    /// Gives back what was taken: the lock. May be called for what was given back already.
    async fn release(&self, taken: &Value) {
        let _ = taken;
    }

    /// A person wants the work of a run taken back. Says what was done, for them.
    ///
    /// # Errors
    /// In words, for people.
    async fn undo(&self, taken: &Value) -> Result<String, String> {
        let _ = taken;
        Err("this cannot be taken back".to_owned())
    }
}
