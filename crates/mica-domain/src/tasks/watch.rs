//! Background work that is watched, as it is on record.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::records::{self, Kept, RecordError, Records};
use crate::runners::key;
use crate::tasks::kind::Announced;
use crate::tasks::notice::Notice;

/// The kind of record.
pub(crate) const KIND: &str = "task_watch";

/// Work that a session is told about when it ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    /// The session.
    pub session: String,
    /// The work.
    #[serde(flatten)]
    pub task: Announced,
    /// The call that announced it.
    pub call: String,
    /// When it was announced.
    pub since: Timestamp,
    /// How it stands.
    #[serde(flatten)]
    pub state: WatchState,
    /// When it is looked at next.
    pub next: Timestamp,
    /// How often it was looked at.
    #[serde(default)]
    pub looks: u32,
    /// How often the run that it began failed.
    #[serde(default)]
    pub failures: u32,
    /// It has ended, and the session is not free to hear of it.
    #[serde(default)]
    pub ready: bool,
    /// What went wrong the last time it was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// How a watch stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum WatchState {
    /// The work goes on, as far as anybody knows.
    Watching,
    /// Somebody is about to tell the session. Others look again when their time is over: they may have died.
    Claimed {
        /// Who.
        by: String,
        /// Until when.
        until: Timestamp,
        /// What they tell.
        notice: Notice,
    },
    /// The session was told.
    Delivered {
        /// When.
        at: Timestamp,
        /// What.
        notice: Notice,
        /// How the run that it began ended: the stable name of the outcome.
        outcome: String,
    },
    /// The session is gone: nobody is left to tell.
    Gone {
        /// When that was seen.
        at: Timestamp,
        /// Why.
        reason: String,
    },
}

impl Watch {
    /// Whether there is nothing left to do.
    pub fn is_over(&self) -> bool {
        matches!(self.state, WatchState::Delivered { .. } | WatchState::Gone { .. })
    }

    /// When somebody should look.
    pub fn due(&self) -> Option<Timestamp> {
        match &self.state {
            WatchState::Watching => Some(self.next),
            WatchState::Claimed { until, .. } => Some(*until),
            WatchState::Delivered { .. } | WatchState::Gone { .. } => None,
        }
    }

    /// Its name: the same work is watched once for a session, however often it is announced there.
    pub fn id(&self) -> String {
        id(&self.session, &self.task)
    }

    /// Names what the session is told.
    pub fn source(&self) -> String {
        key(["task", &self.session, &self.task.kind, &self.task.reference])
    }
}

fn id(session: &str, task: &Announced) -> String {
    key([session, &task.kind, &task.reference])
}

/// What is watched.
#[derive(Clone)]
pub struct Watches {
    records: Arc<dyn Records>,
}

impl Watches {
    /// Those in a store.
    pub fn new(records: Arc<dyn Records>) -> Self {
        Self { records }
    }

    /// Begins to watch. A tool that starts work may call it itself, before it does: then no crash can come between.
    /// Answers whether it is new.
    ///
    /// # Errors
    /// [`RecordError::Store`].
    pub async fn begin(
        &self,
        session: &str,
        task: Announced,
        call: &str,
        now: Timestamp,
    ) -> Result<bool, RecordError> {
        let watch = Watch {
            session: session.to_owned(),
            task,
            call: call.to_owned(),
            since: now,
            state: WatchState::Watching,
            next: now,
            looks: 0,
            failures: 0,
            ready: false,
            problem: None,
        };
        match self.put(&watch, None).await {
            Ok(_) => Ok(true),
            Err(RecordError::Conflict { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// One, and its version.
    ///
    /// # Errors
    /// [`RecordError::Store`].
    pub async fn get(&self, session: &str, task: &Announced) -> Result<Option<(Watch, u64)>, RecordError> {
        match self.records.get(KIND, &id(session, task)).await? {
            None => Ok(None),
            Some(kept) => read(&kept).map(|watch| Some((watch, kept.version))),
        }
    }

    /// All of them, and their versions. Those that cannot be read are left out, and logged.
    ///
    /// # Errors
    /// [`RecordError::Store`].
    pub async fn all(&self) -> Result<Vec<(Watch, u64)>, RecordError> {
        let all = records::readable(&*self.records, KIND).await?;
        Ok(all.into_iter().map(|(_, version, watch)| (watch, version)).collect())
    }

    /// Those of a session, for people who look.
    ///
    /// # Errors
    /// [`RecordError::Store`].
    pub async fn of(&self, session: &str) -> Result<Vec<Watch>, RecordError> {
        let all = self.all().await?;
        Ok(all.into_iter().map(|(watch, _)| watch).filter(|watch| watch.session == session).collect())
    }

    pub(super) async fn put(&self, watch: &Watch, expected: Option<u64>) -> Result<u64, RecordError> {
        let doc = serde_json::to_value(watch).map_err(|error| store(&error))?;
        self.records.put(KIND, &watch.id(), &doc, expected).await
    }
}

fn read(kept: &Kept) -> Result<Watch, RecordError> {
    serde_json::from_value(kept.doc.clone()).map_err(|error| store(&error))
}

fn store(error: &serde_json::Error) -> RecordError {
    RecordError::Store { kind: KIND.to_owned(), problem: error.to_string() }
}
