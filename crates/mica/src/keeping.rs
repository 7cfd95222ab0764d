//! Keeps a run in its session: what was said is on disk before the model is asked again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use mica_agent::hooks::Record;
use mica_agent::{Ask, Event, EventKind, Hooks, Listener, Outcome, Tally};
use mica_ai::id::MessageId;
use mica_session::entry::{Body, RunId};
use mica_session::{Durability, EntryId, Session};
use serde::{Deserialize, Serialize};

use crate::window::left_behind_id;

/// A session that a run writes to.
#[derive(Clone)]
pub struct Keeper {
    session: Arc<Mutex<Session>>,
}

/// A run that waits for people, as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Waiting {
    /// What is asked.
    pub asks: Vec<Ask>,
    /// What the run took until then.
    pub tally: Tally,
}

/// Whose entry a [`Waiting`] is.
const WAITING: &str = "mica.waiting";

impl Keeper {
    /// Writes to this session.
    pub fn new(session: Session) -> Self {
        Self { session: Arc::new(Mutex::new(session)) }
    }

    /// The session.
    pub fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what a suspended run waits for.
    ///
    /// # Errors
    /// What the store said.
    pub async fn waits(&self, asks: &[Ask], tally: &Tally) -> Result<(), String> {
        let waiting = Waiting { asks: asks.to_vec(), tally: tally.clone() };
        let value = serde_json::to_value(waiting).map_err(|error| error.to_string())?;
        self.append(Body::Custom { custom: WAITING.to_owned(), value }, Durability::Now).await
    }

    /// What the session's last run waits for, when nothing was said since.
    pub fn waiting(&self) -> Option<Waiting> {
        let session = self.session();
        let branch = session.branch().ok()?;
        for entry in branch.entries.iter().rev() {
            match &entry.body {
                Body::Custom { custom, value } if custom == WAITING => {
                    return serde_json::from_value(value.clone()).ok();
                }
                Body::Message { .. } => return None,
                _ => {}
            }
        }
        None
    }

    /// The entry of a message on the current branch.
    pub fn entry_of(&self, message: &MessageId) -> Option<EntryId> {
        let session = self.session();
        let branch = session.branch().ok()?;
        branch.entries.iter().rev().find_map(|entry| match &entry.body {
            Body::Message { message: found } if found.id() == message => Some(entry.id),
            Body::BranchSummary(_) if *message == left_behind_id(entry.id) => Some(entry.id),
            _ => None,
        })
    }

    /// Appends. Waiting for the disk is done off the run's task; handing bytes to the system takes microseconds, less
    /// than going to another thread and back.
    pub async fn append(&self, body: Body, durability: Durability) -> Result<(), String> {
        if durability == Durability::Lazy {
            return self.session().append(body, durability).map(|_| ()).map_err(|error| error.to_string());
        }
        let session = Arc::clone(&self.session);
        let written = tokio::task::spawn_blocking(move || {
            session.lock().unwrap_or_else(PoisonError::into_inner).append(body, durability)
        });
        match written.await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[async_trait]
impl Hooks for Keeper {
    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        match record {
            // One wait for the disk per model call: what the turn before left is made safe with this mark.
            Record::TurnOpen => self.append(Body::TurnOpen { run: None }, Durability::Now).await,
            Record::Message(message) => self.append(message.clone().into(), Durability::Lazy).await,
            // The caller keeps it together with what the run took.
            Record::Asked(_) => Ok(()),
        }
    }
}

#[async_trait]
impl Listener for Keeper {
    async fn event(&self, event: Event) {
        let run = RunId::from(event.run.as_str());
        let kept = match &event.kind {
            EventKind::RunStart => self.append(Body::RunStart { run }, Durability::Lazy).await,
            EventKind::RunEnd { outcome } => {
                let outcome = word(outcome).to_owned();
                self.append(Body::RunEnd { run, outcome }, Durability::Now).await
            }
            _ => return,
        };
        // Markers say how a run went; the messages themselves are recorded, and a failure there ends the run.
        let _ = kept;
    }
}

/// An outcome as one word.
pub fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Exhausted { .. } => "exhausted",
        Outcome::Suspended { .. } => "suspended",
        Outcome::Aborted => "aborted",
        Outcome::Failed { .. } => "failed",
    }
}
