//! An answer as people see it: words, and cards that are joined with what is known now.
//!
//! Promise: words stay where they were written, letter for letter; nothing is collapsed or moved. It is data that a page or
//! a terminal renders, and nothing of it goes back to a model.

use jiff::Timestamp;
use mica_ai::{Assistant, Block};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Cards;
use super::reader::{Fence, Href, Piece, Written};
use super::table::{Snapshot, Standing};
use super::view::{self, clean, legible};

/// Characters of a text on a card at most: what probes keep, and the mark that it was cut.
const LONGEST_TEXT: usize = 501;

/// An answer, or a part of one, for people.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// Words and cards, in the order they were written.
    pub segments: Vec<Segment>,
    /// The links among the words, by address. The words have them as they were written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Segment {
    /// Words, as Markdown.
    Text {
        /// The block of the message that they are in. Calls of tools are blocks, too.
        block: usize,
        /// The words.
        text: String,
    },
    /// A card.
    Card {
        /// The block of the message that it is in.
        block: usize,
        /// The card.
        #[serde(flatten)]
        card: Card,
    },
}

/// A card, joined with what is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// Its kind.
    pub kind: String,
    /// What its ids stand for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thing: Option<String>,
    /// The things it shows, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Item>,
    /// What it shows, when it has all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// Whether a thing can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Known {
    /// As it was last seen.
    Known,
    /// No tool of this session saw it.
    Unavailable,
    /// It is not there yet.
    Provisional,
}

/// A thing on a card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Its id.
    pub id: String,
    /// Whether it can be shown.
    pub state: Known,
    /// Its line, for who shows no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// What is shown of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Map<String, Value>>,
    /// When it was last seen so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Seconds since then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<u64>,
}

/// A link among the words, joined with what is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// The address, as it was written.
    pub href: String,
    /// What it links to.
    pub thing: String,
    /// The thing.
    pub item: Item,
}

impl Cards {
    /// An answer for people.
    pub fn show(&self, answer: &Assistant) -> Shown {
        let mut shown = Shown::default();
        for (block, said) in answer.blocks.iter().enumerate() {
            if let Block::Text(text) = said {
                self.show_in(block, &text.text, &mut shown);
            }
        }
        shown
    }

    /// One text for people.
    pub fn show_text(&self, text: &str) -> Shown {
        let mut shown = Shown::default();
        self.show_in(0, text, &mut shown);
        shown
    }

    fn show_in(&self, block: usize, text: &str, shown: &mut Shown) {
        for piece in self.pieces(text) {
            self.add(block, piece, shown);
        }
    }

    /// Adds a piece to what is shown. For who reads an answer while it is written.
    pub fn add(&self, block: usize, piece: Piece, shown: &mut Shown) {
        match piece {
            Piece::Fence(fence) => {
                let card = self.card(fence);
                shown.segments.push(Segment::Card { block, card });
            }
            Piece::Text(words) => shown.words(block, &words),
            Piece::Link(link) => {
                shown.words(block, &link.raw);
                if !shown.links.iter().any(|known| known.href == link.href) {
                    shown.links.push(self.link(&link));
                }
            }
        }
    }

    /// A card, joined with what is known now.
    pub fn card(&self, fence: Fence) -> Card {
        match fence.payload {
            Written::Data(data) => {
                Card { kind: fence.kind, thing: None, items: Vec::new(), data: Some(data) }
            }
            Written::Ids { thing, ids } => {
                let items = ids.iter().map(|id| self.item(&thing, id)).collect();
                Card { kind: fence.kind, thing: Some(thing), items, data: None }
            }
        }
    }

    /// A link, joined with what is known now.
    pub fn link(&self, href: &Href) -> Link {
        Link { href: href.href.clone(), thing: href.thing.clone(), item: self.item(&href.thing, &href.id) }
    }

    /// A thing, as it is known now, by its id or what a model made of it.
    pub fn item(&self, thing: &str, id: &str) -> Item {
        let (id, snapshot) = self.find(thing, id);
        let Some(Snapshot { fields, at, standing }) = snapshot else {
            return Item { id, state: Known::Unavailable, line: None, snapshot: None, at: None, age: None };
        };
        let line = self.ready().thing(thing).and_then(|thing| view::line(&thing.line, &fields));
        let state = match standing {
            Standing::Seen => Known::Known,
            Standing::Provisional => Known::Provisional,
        };
        let age = u64::try_from(self.now().duration_since(at).as_secs()).unwrap_or(0);
        // People see it as it was said here and nowhere else, so it is made legible here, once for every interface.
        let snapshot = fields.iter().map(|(name, value)| (name.clone(), shown(value))).collect();
        Item { id, state, line, snapshot: Some(snapshot), at: Some(at), age: Some(age) }
    }
}

/// A value of a snapshot, with texts that are safe to show.
fn shown(value: &Value) -> Value {
    match value {
        Value::String(text) => legible(text, LONGEST_TEXT).into(),
        Value::Array(list) => list.iter().map(shown).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (legible(name, LONGEST_TEXT), shown(value))).collect()
        }
        plain => plain.clone(),
    }
}

impl Shown {
    fn words(&mut self, block: usize, words: &str) {
        match self.segments.last_mut() {
            Some(Segment::Text { block: before, text }) if *before == block => text.push_str(words),
            _ => self.segments.push(Segment::Text { block, text: words.to_owned() }),
        }
    }

    /// As plain text, for terminals.
    pub fn as_text(&self) -> String {
        let mut out = String::new();
        for segment in &self.segments {
            match segment {
                Segment::Text { text, .. } => out.push_str(&self.without_addresses(text)),
                Segment::Card { card, .. } => {
                    if !out.is_empty() && !out.ends_with('\n') {
                        out.push('\n');
                    }
                    out.push_str(&card.as_text());
                }
            }
        }
        out
    }

    /// Words in which links to things are only their labels.
    fn without_addresses(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for link in &self.links {
            out = out.replace(&format!("]({})", link.href), "]\u{0}");
        }
        let mut plain = String::with_capacity(out.len());
        for part in out.split_inclusive("]\u{0}") {
            match part.strip_suffix("]\u{0}").map(|label| label.rsplit_once('[').unwrap_or(("", label))) {
                Some((before, label)) => {
                    plain.push_str(before);
                    plain.push_str(label);
                }
                None => plain.push_str(part),
            }
        }
        plain
    }
}

impl Card {
    /// As plain text, for terminals: a line for each thing.
    pub fn as_text(&self) -> String {
        let mut out = format!("{}\n", self.kind);
        for (index, item) in self.items.iter().enumerate() {
            out.push_str(&format!("  {}. {}\n", index + 1, item.as_text()));
        }
        if let Some(data) = &self.data {
            let mut lines = Vec::new();
            outline(data, 1, &mut lines);
            for line in lines {
                out.push_str(&line);
                out.push('\n');
            }
        }
        out
    }
}

impl Item {
    fn as_text(&self) -> String {
        let id = clean(&self.id, 200);
        match (self.state, &self.line) {
            (Known::Unavailable, _) => format!("not available ({id})"),
            (Known::Provisional, line) => {
                format!("{} ({id}, not done yet)", line.as_deref().unwrap_or("unnamed"))
            }
            (Known::Known, line) => {
                let age = self.age.map(|age| age / 86_400).filter(|days| *days > 0);
                let age = age.map(|days| format!(", {days} d old")).unwrap_or_default();
                format!("{} ({id}{age})", line.as_deref().unwrap_or("unnamed"))
            }
        }
    }
}

/// Data as an outline, for who does not know its kind.
fn outline(value: &Value, depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    let plain = |value: &Value| match value {
        Value::String(text) => Some(clean(text, 200)),
        Value::Null => Some(String::new()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(list) if list.is_empty() => Some(String::new()),
        _ => None,
    };
    match value {
        Value::Array(list) => {
            for value in list {
                match plain(value).or_else(|| flat(value)) {
                    Some(text) => lines.push(format!("{indent}- {text}")),
                    None => {
                        lines.push(format!("{indent}-"));
                        outline(value, depth + 1, lines);
                    }
                }
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                let key = clean(key, 80);
                match plain(value) {
                    Some(text) => lines.push(format!("{indent}{key}: {text}")),
                    None => {
                        lines.push(format!("{indent}{key}:"));
                        outline(value, depth + 1, lines);
                    }
                }
            }
        }
        value => lines.extend(plain(value).map(|text| format!("{indent}{text}"))),
    }
}

/// A list or an object of plain values in one line.
fn flat(value: &Value) -> Option<String> {
    let plain = |value: &Value| match value {
        Value::String(text) => Some(clean(text, 200)),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null => Some(String::new()),
        _ => None,
    };
    let texts: Option<Vec<String>> = match value {
        Value::Array(list) => list.iter().map(plain).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| Some(format!("{}: {}", clean(key, 80), plain(value)?)))
            .collect(),
        _ => None,
    };
    texts.map(|texts| texts.join(" | "))
}

#[cfg(test)]
mod tests;
