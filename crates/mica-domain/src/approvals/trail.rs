//! Who decided what, when, and what they changed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Something that was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: String,
    /// What.
    #[serde(flatten)]
    pub deed: Deed,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "deed", rename_all = "snake_case")]
pub enum Deed {
    /// It may be done.
    Approved {
        /// What: the ids of actions, or of a call.
        what: Vec<String>,
        /// What was changed of it, by id: the arguments as they are then.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        edits: BTreeMap<String, Map<String, Value>>,
    },
    /// It may not be done.
    Rejected {
        /// Why.
        reason: String,
    },
    /// It counts again, although what it is about has changed.
    Renewed,
    /// Later.
    Snoozed {
        /// Until when.
        until: Timestamp,
    },
    /// Nobody answered in time.
    Expired,
}
