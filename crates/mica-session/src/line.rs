//! One line of a session file: written from an entry, read whole, or read just far enough for the tree.
//!
//! Invariant: [`skim`] of a line is the [`Node::of`] of the entry that [`read`] makes of it, as long as the line's body
//! is readable. A property test holds the two together.

mod skim;

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use mica_ai::Message;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::entry::{Body, BranchSummary, Compaction, Entry, Header, Mode, ModelChange, RunId};
use crate::id::EntryId;

pub(crate) use skim::{Skimmed, model_of, skim};

/// Which parts of a line are kept in blobs: JSON pointers into the line, and the hash of what belongs there.
pub(crate) type BlobRefs = BTreeMap<String, String>;

/// Writes an entry as one line with its line break.
pub(crate) fn write(entry: &Entry, blobs: &BlobRefs) -> serde_json::Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Line<'a> {
        id: EntryId,
        parent: Option<EntryId>,
        time: Timestamp,
        #[serde(flatten)]
        body: &'a Body,
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        blobs: &'a BlobRefs,
    }
    let mut line = match &entry.body {
        Body::Unknown { line, .. } | Body::Malformed { line, .. } => line.clone(),
        body => {
            serde_json::to_vec(&Line { id: entry.id, parent: entry.parent, time: entry.time, body, blobs })?
        }
    };
    line.push(b'\n');
    Ok(line)
}

/// Writes a header as one line with its line break.
pub(crate) fn write_header(header: &Header) -> serde_json::Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Line<'a> {
        kind: &'static str,
        #[serde(flatten)]
        header: &'a Header,
    }
    let mut line = serde_json::to_vec(&Line { kind: HEADER, header })?;
    line.push(b'\n');
    Ok(line)
}

/// The kind of the first line.
pub(crate) const HEADER: &str = "session";

/// What every entry has, whatever its kind.
#[derive(Deserialize)]
pub(crate) struct Head<'a> {
    pub(crate) id: EntryId,
    pub(crate) parent: Option<EntryId>,
    pub(crate) time: Timestamp,
    #[serde(borrow)]
    pub(crate) kind: Cow<'a, str>,
    #[serde(default)]
    pub(crate) blobs: BlobRefs,
}

/// Reads a line (without its line break) as it stands at `offset`. Never fails: what cannot be read is kept.
pub(crate) fn read(line: &[u8], offset: u64) -> (Entry, BlobRefs) {
    if let Some(read) = read_message(line) {
        return read;
    }
    let head: Head = match serde_json::from_slice(line) {
        Ok(head) => head,
        Err(error) => {
            let body = Body::Malformed { line: line.to_vec(), reason: error.to_string() };
            let id = EntryId::of_line(line, offset);
            return (Entry { id, parent: None, time: Timestamp::UNIX_EPOCH, body }, BlobRefs::new());
        }
    };
    let body = read_body(&head.kind, line)
        .unwrap_or_else(|| Body::Unknown { kind: head.kind.into_owned(), line: line.to_vec() });
    (Entry { id: head.id, parent: head.parent, time: head.time, body }, head.blobs)
}

/// Reads a line that is likely to be a message in one go. Messages are most of a session and nearly all of its bytes;
/// looking at the head first would go over them twice.
fn read_message(line: &[u8]) -> Option<(Entry, BlobRefs)> {
    #[derive(Deserialize)]
    struct Line<'a> {
        id: EntryId,
        parent: Option<EntryId>,
        time: Timestamp,
        #[serde(borrow)]
        kind: Cow<'a, str>,
        message: Message,
        #[serde(default)]
        blobs: BlobRefs,
    }
    // As this crate writes it, the kind stands before anything long.
    memchr::memmem::find(&line[..line.len().min(192)], br#""kind":"message""#)?;
    let line: Line = serde_json::from_slice(line).ok().filter(|line: &Line| line.kind == "message")?;
    let body = Body::Message { message: line.message };
    Some((Entry { id: line.id, parent: line.parent, time: line.time, body }, line.blobs))
}

/// The body of a line, or `None` when this version cannot read it.
fn read_body(kind: &str, line: &[u8]) -> Option<Body> {
    #[derive(Deserialize)]
    struct MessageLine {
        message: Message,
    }
    #[derive(Deserialize)]
    struct ModeLine {
        mode: Mode,
    }
    #[derive(Deserialize)]
    struct LabelLine {
        target: EntryId,
        label: Option<String>,
    }
    #[derive(Deserialize)]
    struct NameLine {
        name: String,
    }
    #[derive(Deserialize)]
    struct CustomLine {
        custom: String,
        value: Value,
    }
    #[derive(Deserialize)]
    struct RunLine {
        run: RunId,
    }
    #[derive(Deserialize)]
    struct RunEndLine {
        run: RunId,
        outcome: String,
    }
    #[derive(Deserialize)]
    struct TurnLine {
        run: Option<RunId>,
    }
    #[derive(Deserialize)]
    struct LeafLine {
        target: Option<EntryId>,
    }
    fn parse<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
        serde_json::from_slice(line).ok()
    }
    Some(match kind {
        "message" => Body::Message { message: parse::<MessageLine>(line)?.message },
        "model_change" => Body::ModelChange(parse::<ModelChange>(line)?),
        "mode_change" => Body::ModeChange { mode: parse::<ModeLine>(line)?.mode },
        "compaction" => Body::Compaction(parse::<Compaction>(line)?),
        "branch_summary" => Body::BranchSummary(parse::<BranchSummary>(line)?),
        "label" => {
            let LabelLine { target, label } = parse(line)?;
            Body::Label { target, label }
        }
        "name" => Body::Name { name: parse::<NameLine>(line)?.name },
        "custom" => {
            let CustomLine { custom, value } = parse(line)?;
            Body::Custom { custom, value }
        }
        "run_start" => Body::RunStart { run: parse::<RunLine>(line)?.run },
        "run_end" => {
            let RunEndLine { run, outcome } = parse(line)?;
            Body::RunEnd { run, outcome }
        }
        "turn_open" => Body::TurnOpen { run: parse::<TurnLine>(line)?.run },
        "leaf" => Body::Leaf { target: parse::<LeafLine>(line)?.target },
        _ => return None,
    })
}

#[cfg(test)]
pub(crate) mod tests;
