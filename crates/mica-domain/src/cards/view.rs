//! What a model sees of the cards it showed: numbered lines with names and ids, so that "the second one" means something.
//!
//! Promises: of a snapshot, only the fields that its line names are in it; names stand behind a boundary, and cannot end
//! their line or pass for something else; what was said once of a message is said of it for good.

use mica_context::fence::{self, is_unseen};
use serde_json::{Map, Value};

use super::Cards;
use super::kind::{Line, PREFIX};
use super::reader::{Fence, Piece, Written};
use super::table::Standing;

/// Characters of a name at most.
const LONGEST_NAME: usize = 120;

/// Characters of a detail at most.
const LONGEST_DETAIL: usize = 80;

/// What every such view begins with.
pub const SHOWN: &str = "[Shown: ";

impl Cards {
    /// A text of an answer as a model sees it from now on.
    pub(crate) fn view(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for piece in self.pieces(text) {
            match piece {
                Piece::Fence(fence) => match self.lines(&fence) {
                    Some(lines) => {
                        out.push_str(&lines);
                        // As the fence did, or did not, end with the end of a line.
                        if fence.raw.ends_with('\n') {
                            out.push('\n');
                        }
                    }
                    None => out.push_str(&fence.raw),
                },
                piece => out.push_str(piece.raw()),
            }
        }
        out
    }

    /// A fence of ids, as lines. What has all of it in itself is the model's own words, and stays.
    fn lines(&self, fence: &Fence) -> Option<String> {
        let Written::Ids { thing, ids } = &fence.payload else { return None };
        let head = format!("{SHOWN}{}, {}]", fence.kind, ids.len());
        let mut out = Vec::new();
        for (index, id) in ids.iter().enumerate() {
            let (id, snapshot) = self.find(thing, id);
            let said = self.ready().thing(thing).zip(snapshot.as_ref());
            let name = said.and_then(|(thing, snapshot)| line(&thing.line, &snapshot.fields));
            let name = match (&name, &snapshot) {
                (Some(name), _) => name.as_str(),
                (None, Some(_)) => "unnamed",
                (None, None) => "not available",
            };
            let is_provisional =
                snapshot.as_ref().is_some_and(|known| known.standing == Standing::Provisional);
            let mark = if is_provisional { ", not done yet" } else { "" };
            // Behind each name stands the id that it is of, and no other.
            let name = name.replace("(id:", "(id");
            out.push(format!("{}. {name}{mark} (id: {})", index + 1, clean(&id, 200)));
        }
        if out.is_empty() {
            return Some(head);
        }
        Some(format!("{head}\n{}", fence::outside(thing, &out.join("\n"))))
    }
}

/// Whether a text may have cards in it.
pub(crate) fn may_have_cards(text: &str) -> bool {
    let is_fence = |at: usize| text.get(..at).is_some_and(|before| before.ends_with('`'));
    text.match_indices(PREFIX).any(|(at, _)| is_fence(at)) || text.contains(SHOWN)
}

/// A snapshot in one line, when it has a name.
pub(crate) fn line(line: &Line, fields: &Map<String, Value>) -> Option<String> {
    let name = fields.get(&line.name).and_then(|value| said(value, LONGEST_NAME))?;
    let details = line.details.iter().filter_map(|field| said(fields.get(field)?, LONGEST_DETAIL));
    let details: Vec<String> = details.collect();
    if details.is_empty() { Some(name) } else { Some(format!("{name} — {}", details.join(", "))) }
}

/// A plain value in words.
fn said(value: &Value, longest: usize) -> Option<String> {
    let text = match value {
        Value::String(text) => clean(text, longest),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        Value::Array(list) => {
            let plain =
                list.iter().filter_map(|value| if value.is_array() { None } else { said(value, longest) });
            clean(&plain.collect::<Vec<_>>().join("; "), longest)
        }
        Value::Null | Value::Object(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// A text that others wrote, as part of a line: it stays in it, begins no element and no block, and has an end.
pub(crate) fn clean(text: &str, longest: usize) -> String {
    let plain = |letter| match letter {
        '`' => '\'',
        '<' => '‹',
        '>' => '›',
        letter => letter,
    };
    legible(text, longest).chars().map(plain).collect()
}

/// A text that others wrote, for people: in one line that reads as it is written, without anything that a screen would obey
/// or not show, and with an end.
pub(crate) fn legible(text: &str, longest: usize) -> String {
    let mut out = String::new();
    let is_gap = |letter: char| letter.is_whitespace() || letter.is_control();
    for word in text.split(is_gap) {
        let mut letters = word.chars().filter(|letter| !is_unseen(*letter)).peekable();
        if letters.peek().is_some() && !out.is_empty() {
            out.push(' ');
        }
        out.extend(letters);
    }
    match out.char_indices().nth(longest) {
        Some((at, _)) => format!("{}…", out.get(..at).unwrap_or_default().trim_end()),
        None => out,
    }
}

#[cfg(test)]
mod tests;
