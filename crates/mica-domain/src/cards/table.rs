//! What is known of things, for the whole session: the newest snapshot of each, and when it was taken.
//!
//! Promises: what a product deletes is still shown as it was last seen; what was only predicted never takes the place of
//! what was seen; the table has an end, and the oldest goes first.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::kind::SCHEME;
use super::probe::Found;

/// Snapshots of a session at most.
pub const MOST: usize = 10_000;

/// Whether a thing is there, or will be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// A tool saw it.
    #[default]
    Seen,
    /// It is what a call would come to that was not made yet.
    Provisional,
}

impl Standing {
    fn is_seen(&self) -> bool {
        *self == Self::Seen
    }
}

/// What is shown of a thing.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Its fields.
    pub fields: Map<String, Value>,
    /// When it was last seen so.
    pub at: Timestamp,
    /// Whether it is there.
    pub standing: Standing,
}

/// A change of the table, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub(crate) enum Change {
    /// Things were seen, and are new or not as before.
    Found {
        at: Timestamp,
        things: Vec<Found>,
        #[serde(default, skip_serializing_if = "Standing::is_seen")]
        standing: Standing,
    },
    /// Things were seen again, as before.
    Again { at: Timestamp, things: Vec<(String, String)> },
    /// What was predicted under one id is there now under another.
    Became { from: String, to: String },
}

/// The snapshots of a session.
#[derive(Debug, Default)]
pub(crate) struct Table {
    known: HashMap<(String, String), Row>,
    /// By the number of their last change, for who goes first.
    order: BTreeMap<u64, (String, String)>,
    next: u64,
    became: HashMap<String, String>,
}

#[derive(Debug)]
struct Row {
    snapshot: Snapshot,
    number: u64,
}

impl Table {
    /// What seeing these things changes. Nothing is changed yet.
    pub(crate) fn changes(&self, found: Vec<Found>, standing: Standing, at: Timestamp) -> Vec<Change> {
        let (mut new, mut again) = (Vec::new(), Vec::new());
        for found in found {
            let key = (found.thing.clone(), found.id.clone());
            match self.known.get(&key).map(|row| &row.snapshot) {
                Some(known) if standing == Standing::Provisional && known.standing == Standing::Seen => {}
                Some(known) if known.standing == standing && known.fields == found.fields => {
                    if known.at != at {
                        again.push(key);
                    }
                }
                _ => new.push(found),
            }
        }
        let mut changes = Vec::new();
        if !new.is_empty() {
            changes.push(Change::Found { at, things: new, standing });
        }
        if !again.is_empty() {
            changes.push(Change::Again { at, things: again });
        }
        changes
    }

    /// Makes a change.
    pub(crate) fn apply(&mut self, change: &Change) {
        match change {
            Change::Found { at, things, standing } => {
                for found in things {
                    let snapshot = Snapshot { fields: found.fields.clone(), at: *at, standing: *standing };
                    self.put((found.thing.clone(), found.id.clone()), snapshot);
                }
            }
            Change::Again { at, things } => {
                for key in things {
                    if let Some(row) = self.known.get_mut(key) {
                        row.snapshot.at = *at;
                        let (number, new) = (row.number, self.next);
                        row.number = new;
                        self.order.remove(&number);
                        self.order.insert(new, key.clone());
                        self.next += 1;
                    }
                }
            }
            Change::Became { from, to } => {
                self.became.insert(from.clone(), to.clone());
            }
        }
    }

    fn put(&mut self, key: (String, String), snapshot: Snapshot) {
        let number = self.next;
        self.next += 1;
        if let Some(before) = self.known.insert(key.clone(), Row { snapshot, number }) {
            self.order.remove(&before.number);
        }
        self.order.insert(number, key);
        while self.known.len() > MOST {
            let Some((_, oldest)) = self.order.pop_first() else { break };
            self.known.remove(&oldest);
        }
    }

    /// The id that is meant by one that a model wrote, and what is known of it. Models put prefixes before ids that have
    /// one already; what is left of such an id is taken when it is known.
    pub(crate) fn find(&self, thing: &str, written: &str) -> (String, Option<&Snapshot>) {
        let decoded = decoded(written);
        let bare = written.strip_prefix(SCHEME).unwrap_or(written);
        let mut rest = bare;
        let mut candidates = vec![written, bare, decoded.as_str()];
        while let Some((_, behind)) = rest.split_once([':', '/']) {
            candidates.push(behind);
            rest = behind;
        }
        for candidate in candidates {
            let id = self.became.get(candidate).map_or(candidate, String::as_str);
            let row = self.known.get(&(thing.to_owned(), id.to_owned()));
            // What became of something may not have been seen yet; then what was predicted is all there is.
            let row = row.or_else(|| self.known.get(&(thing.to_owned(), candidate.to_owned())));
            if let Some(row) = row {
                return (id.to_owned(), Some(&row.snapshot));
            }
        }
        (written.to_owned(), None)
    }

    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }
}

/// An id without percent signs, as links may have them.
fn decoded(id: &str) -> String {
    let mut out = Vec::with_capacity(id.len());
    let mut bytes = id.bytes();
    while let Some(byte) = bytes.next() {
        let hex = |byte: u8| char::from(byte).to_digit(16);
        let mut ahead = bytes.clone();
        match (byte, ahead.next().and_then(hex), ahead.next().and_then(hex)) {
            (b'%', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).unwrap_or(byte));
                bytes = ahead;
            }
            _ => out.push(byte),
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| id.to_owned())
}

#[cfg(test)]
mod tests;
