//! Which sessions are kept for how long: first a list of what would go and why, then the deed.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};

use super::{Sessions, Summary};
use crate::error::SessionError;
use crate::session::Access;

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

/// What retention comes to, before anything is done. Sessions are those that changed last first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Sessions that would go.
    pub goes: Vec<Goes>,
    /// Sessions that would go as well, and why they do not.
    pub spared: Vec<(Goes, Spared)>,
}

/// Why a session does not go although a limit says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spared {
    /// A person marked one of its entries.
    Labelled,
    /// Somebody writes to it.
    Open,
    /// It cannot be read well enough to know what is in it.
    Unreadable,
}

impl Sessions {
    /// What would go. Nothing is deleted. Sessions with marks, and those that somebody writes to, stay, and count for no
    /// limit.
    pub fn plan(&self, retention: &Retention, now: Timestamp) -> Plan {
        if *retention == Retention::default() {
            return Plan::default();
        }
        judge(self.list(None).sessions, retention, now, |session| self.spared(session))
    }

    fn spared(&self, session: &Summary) -> Option<Spared> {
        if self.is_open(&session.path) {
            return Some(Spared::Open);
        }
        let labelled = match &session.labels {
            Some(labels) => !labels.is_empty(),
            // A long session without an index: this is about deleting it, so it is read.
            None => match self.open(&session.path, Access::Read) {
                Ok(session) => session.tree().labels().next().is_some(),
                Err(_) => return Some(Spared::Unreadable),
            },
        };
        labelled.then_some(Spared::Labelled)
    }

    /// Deletes what a plan has. A session that cannot be deleted, because somebody writes to it for example, is answered
    /// with the reason; one that changed since the plan was made stays without a word.
    pub fn carry_out(&self, goes: Vec<Goes>) -> Vec<(Summary, SessionError)> {
        let mut left = Vec::new();
        for Goes { session, .. } in goes {
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
fn judge(
    sessions: Vec<Summary>,
    retention: &Retention,
    now: Timestamp,
    spared: impl Fn(&Summary) -> Option<Spared>,
) -> Plan {
    let mut kept: HashMap<String, (usize, u64)> = HashMap::new();
    let mut plan = Plan::default();
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
        match (why, why.and_then(|_| spared(&session))) {
            (Some(why), None) => plan.goes.push(Goes { session, why }),
            (Some(why), Some(spared)) => plan.spared.push((Goes { session, why }, spared)),
            (None, _) => (*count, *bytes) = (*count + 1, *bytes + size),
        }
    }
    plan
}
