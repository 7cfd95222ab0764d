//! Looks for things in everything a tool gave, by their shapes.
//!
//! Promise: however large or deep a value is, the walk ends after a fixed number of values, and finds a fixed number of
//! things at most. It works for tools that did not exist when it was written.

use std::borrow::Cow;

use mica_agent::ToolOutput;
use mica_ai::Content;
use serde_json::Value;

use super::probe::{Found, ReadyProbe};

/// Lists and objects inside each other that are looked into.
pub const DEPTH: usize = 8;

/// Values that are looked at in one result.
pub const VALUES: usize = 50_000;

/// Things that are found in one result at most. Nobody shows more, and a session keeps what was found.
pub const THINGS: usize = 500;

/// Bytes of a text that is read as JSON at most.
const LONGEST_TEXT: usize = 1 << 20;

/// What a tool gave, as data: its details, else what its text is as JSON.
pub(crate) fn data(output: &ToolOutput) -> Vec<Cow<'_, Value>> {
    if let Some(details) = &output.details {
        return vec![Cow::Borrowed(details)];
    }
    let json = |content: &Content| match content {
        Content::Text { text } if text.len() <= LONGEST_TEXT && text.trim_start().starts_with(['{', '[']) => {
            serde_json::from_str(text).ok().map(Cow::Owned)
        }
        _ => None,
    };
    output.content.iter().filter_map(json).collect()
}

/// The things in a value, in the order they are written. One that is there twice is found once, as it is the first time.
pub(crate) fn walk(probes: &[ReadyProbe], value: &Value) -> Vec<Found> {
    let mut walk = Walk { probes, left: VALUES, found: Vec::new() };
    walk.look(value, None, DEPTH);
    walk.found
}

struct Walk<'a> {
    probes: &'a [ReadyProbe],
    left: usize,
    found: Vec<Found>,
}

impl Walk<'_> {
    fn look(&mut self, value: &Value, under: Option<&str>, depth: usize) {
        if self.left == 0 || self.found.len() >= THINGS {
            return;
        }
        self.left -= 1;
        match value {
            Value::Array(list) if depth > 0 => {
                for value in list {
                    self.look(value, under, depth - 1);
                    if self.left == 0 {
                        return;
                    }
                }
            }
            Value::Object(members) => {
                let found = self.probes.iter().find_map(|probe| probe.find(value, under));
                let is_new = |found: &Found| {
                    !self.found.iter().any(|known| known.thing == found.thing && known.id == found.id)
                };
                self.found.extend(found.filter(is_new));
                if depth > 0 {
                    for (key, value) in members {
                        self.look(value, Some(key), depth - 1);
                        if self.left == 0 {
                            return;
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
