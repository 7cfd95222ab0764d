//! One time that a trigger fired, as it is on record.

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::capture::{About, Base, Subject};
use crate::records::{Kept, RecordError, Records};
use crate::runners::key;
use crate::triggers::happened::Chain;

/// Kinds of records.
pub(crate) const FIRE: &str = "trigger_fire";
pub(crate) const STATE: &str = "trigger_state";

/// One time that a trigger fired.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fire {
    /// The trigger.
    pub trigger: String,
    /// Which of its fires: the time that was due, or the name of what happened.
    pub occurrence: String,
    /// The agent.
    pub agent: String,
    /// When it was due, or happened.
    pub due: Timestamp,
    /// What the agent is told.
    pub payload: String,
    /// The session.
    pub session: String,
    /// The person who caused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invoker: Option<String>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
    /// How that stood when it fired.
    #[serde(default)]
    pub base: Base,
    /// The agents whose acts led to it.
    #[serde(default)]
    pub chain: Chain,
    /// How it stands.
    #[serde(flatten)]
    pub state: FireState,
    /// How often it was begun.
    #[serde(default)]
    pub tries: u32,
    /// Why it could not begin the last time it was looked at: its session was not free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
}

/// Why a fire waits, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// Since when. It does not wait for ever.
    pub since: Timestamp,
    /// Why.
    pub why: String,
}

/// How a fire stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum FireState {
    /// It waits for its turn.
    Pending {
        /// Not before this.
        next: Timestamp,
    },
    /// It runs. Others begin it again when its time is over without a sign of life.
    Running {
        /// Where.
        by: String,
        /// Until when.
        until: Timestamp,
    },
    /// It is over.
    Ended {
        /// When.
        at: Timestamp,
        /// How: the stable name of the outcome, or `refused`.
        outcome: String,
        /// What the agent says it did.
        summary: String,
        /// The bundle of what it captured, for a person to decide about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bundle: Option<String>,
        /// What went wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// It did not run.
    Skipped {
        /// When that was decided.
        at: Timestamp,
        /// Why.
        reason: String,
    },
}

impl Fire {
    /// Names it.
    pub fn id(&self) -> String {
        id(&self.trigger, &self.occurrence)
    }

    /// Names what is said in its session.
    pub fn source(&self) -> String {
        key(["fire", &self.trigger, &self.occurrence])
    }

    /// What the calls are about that it captures.
    pub(super) fn about(&self) -> About {
        About {
            bundle: self.source(),
            kind: self.trigger.clone(),
            subject: self.subject.clone(),
            base: self.base.clone(),
            by: Some(self.agent.clone()),
            session: Some(self.session.clone()),
        }
    }

    /// When somebody should look.
    pub(super) fn due_at(&self) -> Option<Timestamp> {
        match &self.state {
            FireState::Pending { next } => Some(*next),
            FireState::Running { until, .. } => Some(*until),
            FireState::Ended { .. } | FireState::Skipped { .. } => None,
        }
    }
}

/// The name of a fire: there is one for each trigger and occurrence, whoever makes it.
pub fn id(trigger: &str, occurrence: &str) -> String {
    key([trigger, occurrence])
}

/// What is remembered of a trigger.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TriggerState {
    /// Times until here are settled: fired, or missed.
    pub settled: Option<Timestamp>,
    /// The schedule that this is about. Another one begins anew.
    pub schedule: Option<String>,
    /// Times that were missed and not made up for, the last of them.
    pub missed: Option<Timestamp>,
    /// The last time it fired.
    pub last_fire: Option<LastFire>,
    /// The last time something went wrong.
    pub last_error: Option<LastError>,
}

/// The last time that a trigger fired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastFire {
    /// Which.
    pub occurrence: String,
    /// When it began.
    pub at: Timestamp,
}

/// The last time that something went wrong with a trigger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastError {
    /// Which fire.
    pub occurrence: String,
    /// When.
    pub at: Timestamp,
    /// What.
    pub problem: String,
}

pub(super) async fn read<T: DeserializeOwned>(
    records: &dyn Records,
    kind: &str,
    id: &str,
) -> Result<Option<(T, u64)>, RecordError> {
    records.get(kind, id).await?.map(|kept| parse(kind, &kept).map(|doc| (doc, kept.version))).transpose()
}

pub(super) fn parse<T: DeserializeOwned>(kind: &str, kept: &Kept) -> Result<T, RecordError> {
    serde_json::from_value(kept.doc.clone()).map_err(|error| store(kind, &error))
}

pub(super) async fn write<T: Serialize>(
    records: &dyn Records,
    kind: &str,
    id: &str,
    doc: &T,
    expected: Option<u64>,
) -> Result<u64, RecordError> {
    let doc = serde_json::to_value(doc).map_err(|error| store(kind, &error))?;
    records.put(kind, id, &doc, expected).await
}

fn store(kind: &str, error: &serde_json::Error) -> RecordError {
    RecordError::Store { kind: kind.to_owned(), problem: error.to_string() }
}
