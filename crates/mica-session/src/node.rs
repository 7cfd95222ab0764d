//! What a tree knows of an entry without reading it: who it is, what it follows, and the few facts that shape the tree.
//!
//! A store keeps the bodies; a tree of nodes is enough to navigate, to list and to say which bodies are needed. This is
//! what lets a long session open without being parsed.

use jiff::Timestamp;
use mica_ai::message::{Block, Content};
use mica_ai::{Assistant, Message};
use serde::{Deserialize, Serialize};

use crate::entry::{Body, Entry};
use crate::id::EntryId;

/// How many characters of an entry a preview shows.
pub const PREVIEW: usize = 80;

/// An entry, as far as the tree needs to know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Names the entry.
    pub id: EntryId,
    /// The entry that it follows.
    pub parent: Option<EntryId>,
    /// When it was appended.
    pub time: Timestamp,
    /// What kind of entry it is.
    pub kind: Kind,
    /// What it says about other entries.
    pub link: Link,
    /// The beginning of what it says, on one line.
    pub preview: Box<str>,
}

/// The kinds of entries, as lists and filters tell them apart: messages by who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A user message.
    User,
    /// An assistant message.
    Assistant,
    /// A tool result.
    ToolResult,
    /// Another model.
    ModelChange,
    /// Another mode.
    ModeChange,
    /// A summary in the place of older entries.
    Compaction,
    /// A summary of a branch that was left.
    BranchSummary,
    /// A mark on an entry.
    Label,
    /// A name for the session.
    Name,
    /// Something of an extension or a domain.
    Custom,
    /// A run begins.
    RunStart,
    /// A run has ended.
    RunEnd,
    /// A model call is about to be made.
    TurnOpen,
    /// The leaf has moved.
    Leaf,
    /// Of a kind, or with a body, that this version does not know.
    Unknown,
    /// A line that is no entry.
    Malformed,
}

impl Kind {
    /// All kinds. The place of a kind in here is its number in the index.
    pub const ALL: [Kind; 16] = [
        Kind::User,
        Kind::Assistant,
        Kind::ToolResult,
        Kind::ModelChange,
        Kind::ModeChange,
        Kind::Compaction,
        Kind::BranchSummary,
        Kind::Label,
        Kind::Name,
        Kind::Custom,
        Kind::RunStart,
        Kind::RunEnd,
        Kind::TurnOpen,
        Kind::Leaf,
        Kind::Unknown,
        Kind::Malformed,
    ];

    /// Whether such entries stand beside the conversation: see [`Body::is_aside`].
    pub fn is_aside(self) -> bool {
        matches!(self, Kind::Label | Kind::Name | Kind::Leaf)
    }
}

/// What an entry says about other entries, or about the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// Nothing.
    None,
    /// A compaction: the oldest entry that stays.
    Kept(Option<EntryId>),
    /// A label: the entry it marks, and the mark.
    Label(EntryId, Option<Box<str>>),
    /// A name for the session.
    Name(Box<str>),
    /// A move of the leaf: where to.
    Leaf(Option<EntryId>),
}

impl Node {
    /// What the tree needs to know of an entry.
    pub fn of(entry: &Entry) -> Self {
        let (kind, link, preview) = match &entry.body {
            Body::Message { message } => {
                let kind = match message {
                    Message::User(_) => Kind::User,
                    Message::Assistant(_) => Kind::Assistant,
                    Message::ToolResult(_) => Kind::ToolResult,
                };
                (kind, Link::None, of_message(message))
            }
            Body::ModelChange(change) => (Kind::ModelChange, Link::None, clip(&change.model)),
            Body::ModeChange { mode } => (Kind::ModeChange, Link::None, clip(mode.as_str())),
            Body::Compaction(compaction) => {
                (Kind::Compaction, Link::Kept(compaction.first_kept), clip(&compaction.summary))
            }
            Body::BranchSummary(summary) => (Kind::BranchSummary, Link::None, clip(&summary.summary)),
            Body::Label { target, label } => {
                let label = label.as_deref();
                (Kind::Label, Link::Label(*target, label.map(Box::from)), clip(label.unwrap_or_default()))
            }
            Body::Name { name } => (Kind::Name, Link::Name(name.as_str().into()), clip(name)),
            Body::Custom { custom, .. } => (Kind::Custom, Link::None, clip(custom)),
            Body::RunStart { run } => (Kind::RunStart, Link::None, clip(run.as_str())),
            Body::RunEnd { outcome, .. } => (Kind::RunEnd, Link::None, clip(outcome)),
            Body::TurnOpen { .. } => (Kind::TurnOpen, Link::None, Box::default()),
            Body::Leaf { target } => (Kind::Leaf, Link::Leaf(*target), Box::default()),
            Body::Unknown { kind, .. } => (Kind::Unknown, Link::None, clip(kind)),
            Body::Malformed { line, .. } => (Kind::Malformed, Link::None, of_bytes(line)),
        };
        Self { id: entry.id, parent: entry.parent, time: entry.time, kind, link, preview }
    }
}

fn of_message(message: &Message) -> Box<str> {
    match message {
        Message::User(user) => of_content(&user.content),
        Message::Assistant(answer) => of_answer(answer),
        Message::ToolResult(result) => tool_result(&clip(&result.tool), &of_content(&result.content)),
    }
}

fn of_content(content: &[Content]) -> Box<str> {
    let texts = content.iter().filter_map(|piece| match piece {
        Content::Text { text } => Some(clip(text)),
        Content::Image(_) => None,
    });
    texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

fn of_answer(answer: &Assistant) -> Box<str> {
    let text = answer.blocks.iter().find_map(|block| match block {
        Block::Text(text) => Some(clip(&text.text)).filter(|text| !text.is_empty()),
        _ => None,
    });
    text.or_else(|| answer.calls().next().map(|call| clip(&call.name))).unwrap_or_default()
}

pub(crate) fn tool_result(tool: &str, text: &str) -> Box<str> {
    clip(&format!("{tool}: {text}"))
}

pub(crate) fn of_bytes(line: &[u8]) -> Box<str> {
    clip(&String::from_utf8_lossy(&line[..line.len().min(PREVIEW * 4)]))
}

/// The beginning of a text on one line: runs of white space become one space, control characters go, and what is
/// longer than [`PREVIEW`] ends with an ellipsis.
pub(crate) fn clip(text: &str) -> Box<str> {
    let mut clipped = String::new();
    let mut count = 0;
    let mut space = false;
    for character in text.chars() {
        if character.is_whitespace() {
            space = count > 0;
            continue;
        }
        if character.is_control() {
            continue;
        }
        if count + usize::from(space) >= PREVIEW {
            clipped.push('…');
            break;
        }
        if space {
            clipped.push(' ');
            count += 1;
            space = false;
        }
        clipped.push(character);
        count += 1;
    }
    clipped.into_boxed_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn previews_are_one_short_line() {
        assert_eq!(&*clip("  two\n\n words\t\u{7} "), "two words");
        assert_eq!(&*clip(""), "");
        assert_eq!(&*clip(&"ä".repeat(PREVIEW)), "ä".repeat(PREVIEW));
        assert_eq!(&*clip(&"ä".repeat(PREVIEW + 1)), format!("{}…", "ä".repeat(PREVIEW)));
    }

    #[test]
    fn clipping_twice_changes_nothing_short_of_the_limit() {
        assert_eq!(clip(&clip("a  b")), clip("a  b"));
    }

    #[test]
    fn every_kind_is_listed_once() {
        for (number, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, number);
        }
    }
}
