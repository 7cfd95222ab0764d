//! Lines: what is written is read, skimming agrees with reading, and nothing that cannot be read is lost.

use std::collections::BTreeMap;

use mica_ai::arguments::Arguments;
use mica_ai::message::{Block, Content, Image, ImageSource, ResultStatus, Text, Thinking, ToolCall};
use mica_ai::{Assistant, Dialect, Origin, StopReason, ToolResult, User};
use proptest::prelude::*;

use super::*;
use crate::entry::FileUse;
use crate::node::{Kind, Node};

pub(crate) fn origin() -> Origin {
    Origin {
        dialect: Dialect::Messages,
        provider: "foundry".to_owned(),
        model: "claude-sonnet-4-6".to_owned(),
    }
}

pub(crate) fn answer(blocks: Vec<Block>) -> Message {
    let mut answer = Assistant::empty("a".into(), origin());
    answer.stop = StopReason::Stop;
    answer.blocks = blocks;
    answer.into()
}

pub(crate) fn call(id: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "read".to_owned(), arguments: Arguments::from_text("{\"path\":\"a\"}") }
}

pub(crate) fn picture(data: &str) -> Content {
    Content::Image(Image { media_type: "image/png".to_owned(), source: ImageSource::Base64(data.into()) })
}

fn id() -> impl Strategy<Value = EntryId> {
    any::<[u8; 16]>().prop_map(EntryId::from_bytes)
}

fn content() -> impl Strategy<Value = Vec<Content>> {
    let piece = prop_oneof![
        ".{0,120}".prop_map(Content::text),
        "\\s{0,3}".prop_map(Content::text),
        "[A-Za-z0-9+/]{0,60}".prop_map(|data| picture(&data)),
    ];
    proptest::collection::vec(piece, 0..3)
}

pub(crate) fn message() -> impl Strategy<Value = Message> {
    let block = prop_oneof![
        ".{0,120}".prop_map(|text| Block::Text(Text { text, ..Text::default() })),
        ".{0,60}".prop_map(|text| Block::Thinking(Thinking { text, seal: None })),
        (".{1,8}", ".{0,100}", ".{0,40}").prop_map(|(id, name, text)| Block::ToolCall(ToolCall {
            id: id.into(),
            name,
            arguments: Arguments::from_text(text)
        })),
    ];
    prop_oneof![
        content().prop_map(|content| User { id: "u".into(), content }.into()),
        proptest::collection::vec(block, 0..4).prop_map(answer),
        (".{0,30}", content()).prop_map(|(tool, content)| {
            ToolResult { id: "t".into(), call: "c".into(), tool, content, status: ResultStatus::Failed }
                .into()
        }),
    ]
}

pub(crate) fn body() -> impl Strategy<Value = Body> {
    let files = || BTreeMap::from([("a".to_owned(), FileUse::Read), ("b".to_owned(), FileUse::Changed)]);
    prop_oneof![
        4 => message().prop_map(Body::from),
        1 => (".{0,9}", ".{0,99}").prop_map(|(endpoint, model)| Body::ModelChange(ModelChange {
            endpoint, model, dialect: Dialect::Chat, effort: Some("high".to_owned())
        })),
        1 => "ask|plan|edit".prop_map(|mode| Body::ModeChange { mode: mode.into() }),
        1 => (".{0,120}", proptest::option::of(id())).prop_map(move |(summary, first_kept)| {
            Body::Compaction(Compaction { summary, first_kept, files: files(), ..Compaction::default() })
        }),
        1 => (".{0,120}", id()).prop_map(|(summary, from)| Body::BranchSummary(BranchSummary {
            from, summary, files: BTreeMap::new()
        })),
        1 => (id(), proptest::option::of(".{0,120}")).prop_map(|(target, label)| Body::Label { target, label }),
        1 => ".{0,120}".prop_map(|name| Body::Name { name }),
        1 => ".{0,20}".prop_map(|custom| Body::Custom { custom, value: serde_json::json!({"name": 1}) }),
        1 => ".{0,20}".prop_map(|run| Body::RunStart { run: run.into() }),
        1 => ".{0,20}".prop_map(|outcome| Body::RunEnd { run: "r".into(), outcome }),
        1 => Just(Body::TurnOpen { run: None }),
        1 => proptest::option::of(id()).prop_map(|target| Body::Leaf { target }),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read_and_skimmed_alike(
        id in id(), parent in proptest::option::of(id()), time in 0..2_000_000_000_000_i64, body in body(),
    ) {
        let entry = Entry { id, parent, time: Timestamp::from_millisecond(time).unwrap(), body };
        let line = write(&entry, &BlobRefs::new()).unwrap();
        prop_assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        let line = line.strip_suffix(b"\n").unwrap();
        let (read, blobs) = read(line, 7);
        prop_assert_eq!(&read, &entry);
        prop_assert!(blobs.is_empty());
        let skimmed = skim(line, 7);
        prop_assert_eq!(&skimmed.node, &Node::of(&entry));
        prop_assert_eq!(skimmed.model.as_deref(), model_of(&entry.body));
        // Written again it is the same line.
        prop_assert_eq!(&write(&read, &blobs).unwrap()[..line.len()], line);
    }

    #[test]
    fn any_bytes_are_kept(line in proptest::collection::vec(any::<u8>(), 0..200)) {
        let (entry, _) = read(&line, 0);
        prop_assert_eq!(skim(&line, 0).node, Node::of(&entry));
        let mut again = write(&entry, &BlobRefs::new()).unwrap();
        again.pop();
        prop_assert_eq!(again, line);
    }
}

#[test]
fn a_kind_of_a_newer_version_keeps_its_line() {
    let line = br#"{"id":"01890a5d-ac96-774b-bcce-b302099a8057","parent":null,"time":"2026-01-02T03:04:05Z","kind":"vote","name":3}"#;
    let (entry, _) = read(line, 0);
    assert_eq!(entry.body, Body::Unknown { kind: "vote".to_owned(), line: line.to_vec() });
    assert_eq!(skim(line, 0).node, Node::of(&entry));
    assert_eq!(write(&entry, &BlobRefs::new()).unwrap(), [line.as_slice(), b"\n"].concat());
}

#[test]
fn a_message_of_an_unknown_role_is_an_unknown_entry_in_its_place() {
    let line = br#"{"id":"01890a5d-ac96-774b-bcce-b302099a8057","parent":null,"time":"2026-01-02T03:04:05Z","kind":"message","message":{"role":"judge"}}"#;
    let node = skim(line, 0).node;
    assert_eq!((node.kind, &*node.preview), (Kind::Unknown, "message"));
    assert_eq!(Node::of(&read(line, 0).0), node);
}
