//! Which sessions are kept for how long: first a list of what would go and why, then the deed.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};

use super::{Sessions, Summary};
use crate::error::SessionError;

/// How much is kept. What is `None` limits nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retention {
    /// Sessions that have not changed for longer go.
    pub unchanged_for: Option<SignedDuration>,
    /// So many sessions are kept for each project, those that changed last.
    pub sessions: Option<usize>,
    /// So many bytes of sessions, with what is kept beside them, are kept for each project, of those that changed last.
    pub bytes: Option<u64>,
}

/// A session that would go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goes {
    /// The session.
    pub session: Summary,
    /// Why.
    pub why: Why,
}

/// Why a session goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It has not changed for too long.
    Old,
    /// Its project has too many that changed later.
    Many,
    /// Its project has too many bytes in sessions that changed later.
    Large,
}

impl Sessions {
    /// What would go, the one that changed last first. Nothing is deleted.
    pub fn plan(&self, retention: &Retention, now: Timestamp) -> Vec<Goes> {
        judge(self.list(None).sessions, retention, now)
    }

    /// Deletes what a plan has. A session that cannot be deleted, because somebody writes to it for example, is answered
    /// with the reason; one that changed since the plan was made stays without a word.
    pub fn carry_out(&self, plan: Vec<Goes>) -> Vec<(Summary, SessionError)> {
        let mut left = Vec::new();
        for Goes { session, .. } in plan {
            if self.summary(&session.path).is_ok_and(|now| now.changed > session.changed) {
                continue;
            }
            if let Err(error) = self.delete(&session.path) {
                left.push((session, error));
            }
        }
        left
    }
}

/// Judges sessions that are sorted by their last change, newest first.
fn judge(sessions: Vec<Summary>, retention: &Retention, now: Timestamp) -> Vec<Goes> {
    let mut kept: HashMap<String, (usize, u64)> = HashMap::new();
    let mut goes = Vec::new();
    for session in sessions {
        let size = session.bytes + session.blob_bytes;
        let (count, bytes) = kept.entry(session.project.clone()).or_default();
        let why = if retention.unchanged_for.is_some_and(|limit| now.duration_since(session.changed) > limit)
        {
            Some(Why::Old)
        } else if retention.sessions.is_some_and(|limit| *count >= limit) {
            Some(Why::Many)
        } else if retention.bytes.is_some_and(|limit| *bytes + size > limit) {
            Some(Why::Large)
        } else {
            None
        };
        match why {
            Some(why) => goes.push(Goes { session, why }),
            None => (*count, *bytes) = (*count + 1, *bytes + size),
        }
    }
    goes
}
