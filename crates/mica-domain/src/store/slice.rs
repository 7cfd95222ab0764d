//! What a store holds itself: variables, and what the tools of a run gave.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use mica_ai::id::CallId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::StoreError;
use super::reference::Which;

/// Bytes that a store may hold, as JSON.
pub const LIMIT: usize = 256 << 10;

/// A change of a store, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub(crate) enum Change {
    /// A variable has a value.
    Set { name: String, value: Value },
    /// A run waits for a person. What tools gave since the last time, and when the run began.
    Waits { given: Vec<Gave>, began: Option<Timestamp> },
    /// A message begins a run: what tools gave is forgotten.
    Fresh,
}

/// What a call gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gave {
    pub(crate) tool: String,
    pub(crate) call: String,
    pub(crate) value: Value,
}

#[derive(Debug, Default)]
pub(crate) struct Slice {
    variables: BTreeMap<String, Value>,
    /// Bytes of the variables.
    taken: usize,
    /// The oldest first, each with its bytes and whether it is kept.
    given: Vec<(Gave, usize, bool)>,
    /// When the run began.
    pub(crate) began: Option<Timestamp>,
    /// Whether that is kept.
    pub(crate) began_is_kept: bool,
    /// What calls gave whose results are not on record yet.
    pub(crate) pending: HashMap<CallId, Gave>,
}

impl Slice {
    pub(crate) fn apply(&mut self, change: Change) {
        match change {
            Change::Set { name, value } => {
                self.taken -= self.variables.get(&name).map_or(0, |before| bytes(&name, before));
                self.taken += bytes(&name, &value);
                self.variables.insert(name, value);
                self.make_room();
            }
            Change::Waits { given, began } => {
                self.began = began;
                self.began_is_kept = true;
                for gave in given {
                    match self.given.iter_mut().find(|(known, ..)| *known == gave) {
                        Some((.., kept)) => *kept = true,
                        None => self.give(gave, true),
                    }
                }
            }
            Change::Fresh => {
                self.given.clear();
                self.began = None;
                self.began_is_kept = false;
            }
        }
    }

    /// A call gave something. When there is no room, the oldest goes, and at last what is too large itself.
    pub(crate) fn give(&mut self, gave: Gave, kept: bool) {
        let bytes = bytes(&gave.call, &gave.value);
        self.given.push((gave, bytes, kept));
        self.make_room();
    }

    fn make_room(&mut self) {
        let mut held: usize = self.given.iter().map(|(_, bytes, _)| bytes).sum();
        let mut gone = 0;
        for (_, bytes, _) in &self.given {
            if self.taken + held <= LIMIT {
                break;
            }
            held -= bytes;
            gone += 1;
        }
        self.given.drain(..gone);
    }

    /// What is not kept yet of what tools gave.
    pub(crate) fn unkept(&self) -> Vec<Gave> {
        self.given.iter().filter(|(.., kept)| !kept).map(|(gave, ..)| gave.clone()).collect()
    }

    pub(crate) fn has_kept(&self) -> bool {
        self.given.iter().any(|(.., kept)| *kept)
    }

    /// Whether a variable has room.
    pub(crate) fn fits(&self, name: &str, value: &Value) -> Result<(), StoreError> {
        let before = self.variables.get(name).map_or(0, |before| bytes(name, before));
        let after = self.taken - before + bytes(name, value);
        match after.checked_sub(LIMIT).filter(|over| *over > 0) {
            None => Ok(()),
            Some(over) => Err(StoreError::TooLarge { name: name.to_owned(), bytes: over, limit: LIMIT }),
        }
    }

    pub(crate) fn variable(&self, name: &str) -> Option<Value> {
        self.variables.get(name).cloned()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    /// The tools that gave something, and how often.
    pub(crate) fn tools(&self) -> BTreeMap<&str, usize> {
        let mut tools = BTreeMap::new();
        for (gave, ..) in &self.given {
            *tools.entry(gave.tool.as_str()).or_default() += 1;
        }
        tools
    }

    pub(crate) fn of_tool(&self, tool: &str, which: Which) -> Option<Value> {
        let mut of_tool =
            self.given.iter().filter(|(gave, ..)| gave.tool == tool).map(|(gave, ..)| &gave.value);
        match which {
            Which::Latest => of_tool.next_back().cloned(),
            Which::All => {
                let all: Vec<Value> = of_tool.cloned().collect();
                (!all.is_empty()).then_some(Value::Array(all))
            }
            Which::At(at) => {
                let back = usize::try_from(at.unsigned_abs()).ok()?;
                let found = if at < 0 { of_tool.rev().nth(back - 1) } else { of_tool.nth(back) };
                found.cloned()
            }
        }
    }

    pub(crate) fn of_call(&self, call: &str) -> Option<Value> {
        self.given.iter().rev().find(|(gave, ..)| gave.call == call).map(|(gave, ..)| gave.value.clone())
    }
}

/// Bytes of a value as JSON, with its name.
fn bytes(name: &str, value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(name.len());
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        Err(_) => LIMIT,
    }
}

#[cfg(test)]
mod tests;
