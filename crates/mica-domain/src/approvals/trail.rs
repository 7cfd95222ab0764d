//! Who decided what, when, and what they changed.
//!
//! A decision is written in one step with what it decides: the record of a bundle has its own trail, and so has the record of
//! a question. This reads all of them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::capture;
use crate::records::{RecordError, Records};

/// The kind of record that keeps what was decided about a question.
pub(crate) const KIND: &str = "approval";

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
    /// A yes was not carried out: what it rests on had changed, and it was asked again.
    Outdated {
        /// What.
        changed: Vec<String>,
    },
    /// A yes was not carried out: something else was said before it could be.
    Abandoned,
    /// A yes was not carried out: whoever gave it may not give it any more.
    Revoked {
        /// Why.
        reason: String,
    },
}

/// Something that was decided, and about what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// `bundle/ID`, or `approval/SESSION/QUESTION`.
    pub about: String,
    /// What was decided.
    #[serde(flatten)]
    pub trace: Trace,
}

/// All that was decided, the oldest first.
///
/// # Errors
/// [`RecordError::Store`], also when a record cannot be read: a trail with holes is none.
pub async fn trail(records: &dyn Records) -> Result<Vec<Entry>, RecordError> {
    #[derive(Deserialize)]
    struct Kept {
        trail: Vec<Trace>,
    }
    let mut entries = Vec::new();
    for kind in [capture::KIND, KIND] {
        for (id, kept) in records.list(kind).await? {
            let read = Kept::deserialize(&kept.doc).map_err(|error| RecordError::Store {
                kind: kind.to_owned(),
                problem: format!("{id} cannot be read: {error}"),
            })?;
            let about = format!("{kind}/{id}");
            entries.extend(read.trail.into_iter().map(|trace| Entry { about: about.clone(), trace }));
        }
    }
    entries.sort_by_key(|entry| entry.trace.at);
    Ok(entries)
}
