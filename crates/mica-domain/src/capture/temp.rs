//! The ids of what does not exist yet: `temp_1`, `temp_2`, and where they stand in arguments.
//!
//! An id counts wherever it stands by itself: as a whole string, as the name of a member, or inside a text, such as
//! `contacts:temp_1` or `see temp_2.`. It does not count as a part of a longer word: `temp_1` is not in `temp_10` nor in
//! `my_temp_1`. A whole string becomes what the id turned out to be, also a number; inside a text it is written as text.

use std::collections::BTreeMap;

use mica_agent::Args;
use serde_json::{Map, Value};

/// What all of them begin with.
pub(crate) const PREFIX: &str = "temp_";

/// The id of a number.
pub(crate) fn id(number: usize) -> String {
    format!("{PREFIX}{number}")
}

/// Whether a text has the form of such an id.
pub(crate) fn is_id(text: &str) -> bool {
    text.strip_prefix(PREFIX)
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// How ids stand in arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// As whole strings, or as names of members, in the order they stand.
    pub whole: Vec<String>,
    /// Inside texts.
    pub within: Vec<String>,
}

impl Names {
    /// All that have the form of an id in arguments, each once.
    pub fn of(args: &Args) -> Self {
        let mut names = Self::default();
        names.look_at_members(args);
        names
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.whole.iter().chain(self.within.iter().filter(|id| !self.whole.contains(id))).map(String::as_str)
    }

    fn look_at_members(&mut self, members: &Map<String, Value>) {
        for (key, value) in members {
            self.look_at_text(key);
            self.look_at(value);
        }
    }

    fn look_at(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.look_at_text(text),
            Value::Array(items) => items.iter().for_each(|item| self.look_at(item)),
            Value::Object(members) => self.look_at_members(members),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn look_at_text(&mut self, text: &str) {
        if is_id(text) {
            note(&mut self.whole, text);
            return;
        }
        for piece in pieces(text) {
            if let Piece::Id(id) = piece {
                note(&mut self.within, id);
            }
        }
    }
}

fn note(list: &mut Vec<String>, id: &str) {
    if !list.iter().any(|known| known == id) {
        list.push(id.to_owned());
    }
}

/// Arguments with ids replaced by what they turned out to be. Ids that are not among those stay.
pub(crate) fn replaced(args: &Args, known: &BTreeMap<&str, &Value>) -> Args {
    args.iter().map(|(key, value)| (written(key, known), replaced_in(value, known))).collect()
}

fn replaced_in(value: &Value, known: &BTreeMap<&str, &Value>) -> Value {
    match value {
        Value::String(text) => match known.get(text.as_str()) {
            Some(real) => (*real).clone(),
            None => Value::String(written(text, known)),
        },
        Value::Array(items) => items.iter().map(|item| replaced_in(item, known)).collect(),
        Value::Object(members) => Value::Object(replaced(members, known)),
        plain => plain.clone(),
    }
}

fn written(text: &str, known: &BTreeMap<&str, &Value>) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Id(id) => match known.get(id) {
                Some(Value::String(real)) => out.push_str(real),
                Some(real) => out.push_str(&real.to_string()),
                None => out.push_str(id),
            },
        }
    }
    out
}

/// Where a value has exactly this text, as JSON pointers.
pub(crate) fn places(value: &Value, id: &str) -> Vec<String> {
    let mut found = Vec::new();
    search(value, id, &mut String::new(), &mut found);
    found
}

fn search(value: &Value, id: &str, at: &mut String, found: &mut Vec<String>) {
    let length = at.len();
    match value {
        Value::String(text) if text == id => found.push(at.clone()),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                at.push_str(&format!("/{index}"));
                search(item, id, at, found);
                at.truncate(length);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                at.push('/');
                at.push_str(&key.replace('~', "~0").replace('/', "~1"));
                search(member, id, at, found);
                at.truncate(length);
            }
        }
        _ => {}
    }
}

enum Piece<'a> {
    Text(&'a str),
    Id(&'a str),
}

/// A text in pieces: ids that stand by themselves, and what is between them.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = text.get(at..).and_then(|rest| rest.find(PREFIX)) {
        let start = at + found;
        let rest = text.get(start + PREFIX.len()..).unwrap_or_default();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let end = start + PREFIX.len() + digits;
        let before = text.get(..start).and_then(|before| before.chars().next_back());
        let after = text.get(end..).and_then(|after| after.chars().next());
        if digits > 0 && !before.is_some_and(is_word) && !after.is_some_and(is_word) {
            pieces.push(Piece::Text(text.get(from..start).unwrap_or_default()));
            pieces.push(Piece::Id(text.get(start..end).unwrap_or_default()));
            from = end;
        }
        at = end;
    }
    pieces.push(Piece::Text(text.get(from..).unwrap_or_default()));
    pieces
}

#[cfg(test)]
mod tests;
