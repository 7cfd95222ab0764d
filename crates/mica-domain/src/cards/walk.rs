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
    walk_but(probes, value, &[])
}

/// The same, without what a call was given: a tool that gives it back has found nothing, and what a model made up must not
/// take the place of what was seen.
pub(crate) fn walk_but(probes: &[ReadyProbe], value: &Value, given: &[&Value]) -> Vec<Found> {
    let mut walk = Walk { probes, given, left: VALUES, found: Vec::new() };
    walk.look(value, None, DEPTH);
    walk.found
}

/// The objects in what a call was given.
pub(crate) fn objects(value: &Value) -> Vec<&Value> {
    fn add<'a>(value: &'a Value, depth: usize, all: &mut Vec<&'a Value>) {
        if all.len() >= THINGS {
            return;
        }
        if value.is_object() {
            all.push(value);
        }
        if let Some(depth) = depth.checked_sub(1) {
            match value {
                Value::Array(list) => list.iter().for_each(|value| add(value, depth, all)),
                Value::Object(members) => members.values().for_each(|value| add(value, depth, all)),
                _ => {}
            }
        }
    }
    let mut all = Vec::new();
    add(value, DEPTH, &mut all);
    all
}

struct Walk<'a> {
    probes: &'a [ReadyProbe],
    given: &'a [&'a Value],
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
            Value::Object(members) if !members.is_empty() && self.given.contains(&value) => {}
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
