//! How a run ends, and what it took until then.

use std::fmt;
use std::time::Duration;

use mica_ai::{AiError, Usage};
use serde::{Deserialize, Serialize};

use crate::approval::Ask;

/// How a run ended. Whatever it is, everything said and done until then is kept.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The model was done.
    Completed,
    /// A limit was reached.
    Exhausted {
        /// Which.
        limit: Limit,
    },
    /// A person's answer is needed, and nobody was there to give it. The run goes on with `resume`.
    Suspended {
        /// What is asked.
        asks: Vec<Ask>,
    },
    /// The caller stopped it.
    Aborted,
    /// It could not go on.
    Failed {
        /// Why.
        error: RunError,
    },
}

/// A limit of a run, and where it stood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// A stable name: `turns`, `tokens`, `cost`, `time`, `repeats`, `failures`.
    pub name: String,
    /// What was reached, in words.
    pub reached: String,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the limit of {} is reached: {}", self.name, self.reached)
    }
}

/// Why a run could not go on.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RunError {
    /// The model could not be asked, or its answer failed.
    #[error(transparent)]
    Model(#[from] AiError),
    /// What was said could not be kept. Nothing is asked that could not be recorded.
    #[error("the session could not be written: {message}")]
    Record {
        /// What the store said.
        message: String,
    },
    /// A hook failed where failing means stopping.
    #[error("{hook}: {message}")]
    Hook {
        /// Which.
        hook: String,
        /// What it said.
        message: String,
    },
    /// There is nothing to resume, or the answers do not fit what was asked.
    #[error("cannot resume: {message}")]
    Resume {
        /// What does not fit.
        message: String,
    },
}

impl Serialize for RunError {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("RunError", 2)?;
        let kind = match self {
            RunError::Model(error) => error.kind(),
            RunError::Record { .. } => "record",
            RunError::Hook { .. } => "hook",
            RunError::Resume { .. } => "resume",
        };
        fields.serialize_field("kind", kind)?;
        fields.serialize_field("message", &self.to_string())?;
        fields.end()
    }
}

/// What a run took so far: facts that limits are judged by. Kept across a suspension.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Turns begun.
    pub turns: u32,
    /// What all model calls took, those of subagents included.
    pub usage: Usage,
    /// Of it, what subagents took.
    #[serde(default)]
    pub delegated: Usage,
    /// Time spent asking models and running tools. A person's thinking time is not in it.
    pub active: Duration,
    /// Fingerprints of the calls made, the newest last: equal calls have equal ones.
    pub calls: Vec<u64>,
    /// Calls that failed since the last one that worked.
    pub failures: u32,
    /// Questions about calls that people answered.
    #[serde(default)]
    pub approvals: u32,
}

impl Tally {
    /// How often the newest call was made in a row.
    pub fn repeats(&self) -> usize {
        match self.calls.last() {
            Some(newest) => self.calls.iter().rev().take_while(|call| *call == newest).count(),
            None => 0,
        }
    }
}
