//! Reads a line just far enough for the tree: nothing but the ids, the kind and the first words is taken out of it.
//!
//! The whole line is still checked to be JSON, so a damaged one is found here and not when somebody needs it.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use mica_ai::Message;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};

use crate::entry::Body;
use crate::id::EntryId;
use crate::node::{Kind, Link, Node, clip, of_bytes, tool_result};

use super::Head;

/// What was learnt of a line.
#[derive(Debug, PartialEq)]
pub(crate) struct Skimmed {
    /// Its node. The parent of a malformed line is not known here.
    pub(crate) node: Node,
    /// The model that speaks or is chosen here.
    pub(crate) model: Option<Box<str>>,
}

/// The model that an entry names.
pub(crate) fn model_of(body: &Body) -> Option<&str> {
    match body {
        Body::ModelChange(change) => Some(&change.model),
        Body::Message { message: Message::Assistant(answer) } => Some(&answer.origin.model),
        _ => None,
    }
}

/// Reads a line (without its line break) as it stands at `offset`.
pub(crate) fn skim(line: &[u8], offset: u64) -> Skimmed {
    let read = serde_json::from_slice::<Line>(line).ok().and_then(of_line);
    read.unwrap_or_else(|| Skimmed { node: unreadable(line, offset), model: None })
}

fn unreadable(line: &[u8], offset: u64) -> Node {
    match serde_json::from_slice::<Head>(line) {
        Ok(head) => Node {
            id: head.id,
            parent: head.parent,
            time: head.time,
            kind: Kind::Unknown,
            link: Link::None,
            preview: clip(&head.kind),
        },
        Err(_) => Node {
            id: EntryId::of_line(line, offset),
            parent: None,
            time: Timestamp::UNIX_EPOCH,
            kind: Kind::Malformed,
            link: Link::None,
            preview: of_bytes(line),
        },
    }
}

/// The fields of all kinds that the tree has a use for.
#[derive(Deserialize)]
struct Line<'a> {
    id: EntryId,
    parent: Option<EntryId>,
    time: Timestamp,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    message: Option<Said<'a>>,
    model: Option<Box<str>>,
    mode: Option<Clip>,
    summary: Option<Clip>,
    first_kept: Option<EntryId>,
    target: Option<EntryId>,
    label: Option<Box<str>>,
    name: Option<Box<str>>,
    custom: Option<Clip>,
    run: Option<Clip>,
    outcome: Option<Clip>,
}

#[derive(Deserialize)]
struct Said<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(default)]
    content: First,
    #[serde(default)]
    blocks: First,
    tool: Option<Clip>,
    origin: Option<Origin>,
}

#[derive(Deserialize)]
struct Origin {
    model: Box<str>,
}

/// `None` when a field is missing that the kind must have.
fn of_line(line: Line<'_>) -> Option<Skimmed> {
    let mut model = None;
    let (kind, link, preview) = match &*line.kind {
        "message" => {
            let said = line.message?;
            match &*said.role {
                "user" => (Kind::User, Link::None, said.content.text.unwrap_or_default()),
                "assistant" => {
                    model = Some(said.origin?.model);
                    (Kind::Assistant, Link::None, said.blocks.text.or(said.blocks.call).unwrap_or_default())
                }
                "tool_result" => {
                    let text = said.content.text.unwrap_or_default();
                    (Kind::ToolResult, Link::None, tool_result(&said.tool?.0, &text))
                }
                _ => return None,
            }
        }
        "model_change" => {
            let preview = clip(line.model.as_deref()?);
            model = line.model;
            (Kind::ModelChange, Link::None, preview)
        }
        "mode_change" => (Kind::ModeChange, Link::None, line.mode?.0),
        "compaction" => (Kind::Compaction, Link::Kept(line.first_kept), line.summary?.0),
        "branch_summary" => (Kind::BranchSummary, Link::None, line.summary?.0),
        "label" => {
            let preview = clip(line.label.as_deref().unwrap_or_default());
            (Kind::Label, Link::Label(line.target?, line.label), preview)
        }
        "name" => {
            let preview = clip(line.name.as_deref()?);
            (Kind::Name, Link::Name(line.name?), preview)
        }
        "custom" => (Kind::Custom, Link::None, line.custom?.0),
        "run_start" => (Kind::RunStart, Link::None, line.run?.0),
        "run_end" => (Kind::RunEnd, Link::None, line.outcome?.0),
        "turn_open" => (Kind::TurnOpen, Link::None, Box::default()),
        "leaf" => (Kind::Leaf, Link::Leaf(line.target), Box::default()),
        _ => return None,
    };
    let node = Node { id: line.id, parent: line.parent, time: line.time, kind, link, preview };
    Some(Skimmed { node, model })
}

/// A text of which only the beginning is kept.
struct Clip(Box<str>);

impl<'de> Deserialize<'de> for Clip {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Texts;
        impl Visitor<'_> for Texts {
            type Value = Clip;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_str<E>(self, text: &str) -> Result<Clip, E> {
                Ok(Clip(clip(text)))
            }
        }
        deserializer.deserialize_str(Texts)
    }
}

/// The first words, and the first call, of a list of content or blocks.
#[derive(Default)]
struct First {
    text: Option<Box<str>>,
    call: Option<Box<str>>,
}

impl<'de> Deserialize<'de> for First {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Piece<'a> {
            #[serde(borrow, rename = "type")]
            kind: Cow<'a, str>,
            text: Option<Clip>,
            name: Option<Clip>,
        }
        struct Pieces;
        impl<'de> Visitor<'de> for Pieces {
            type Value = First;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of blocks")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut pieces: A) -> Result<First, A::Error> {
                let mut first = First::default();
                while first.text.is_none() {
                    let Some(piece) = pieces.next_element::<Piece>()? else { return Ok(first) };
                    match &*piece.kind {
                        "text" => {
                            first.text = piece.text.map(|text| text.0).filter(|text| !text.is_empty());
                        }
                        "tool_call" if first.call.is_none() => first.call = piece.name.map(|name| name.0),
                        _ => {}
                    }
                }
                while pieces.next_element::<IgnoredAny>()?.is_some() {}
                Ok(first)
            }
        }
        deserializer.deserialize_seq(Pieces)
    }
}
