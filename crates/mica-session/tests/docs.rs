//! The example in `docs/sessions.md` is a session: this crate opens it and understands every line.

#![allow(clippy::disallowed_methods, reason = "the test writes the example to a file")]

use std::collections::BTreeSet;

use mica_session::{Access, Kind, Sessions};

const PAGE: &str = include_str!("../../../docs/sessions.md");

#[test]
fn the_example_opens_and_has_every_kind() {
    let example = PAGE.split("```jsonl\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("example.jsonl");
    std::fs::write(&path, example).unwrap();
    let sessions = Sessions::new(folder.path(), jiff::Timestamp::now);
    let session = sessions.open(&path, Access::Write).unwrap();
    assert_eq!(session.notices(), []);
    let kinds: BTreeSet<Kind> = session.tree().nodes().iter().map(|node| node.kind).collect();
    let known = |kind: &Kind| !matches!(kind, Kind::Unknown | Kind::Malformed);
    assert_eq!(kinds, Kind::ALL.into_iter().filter(known).collect());
    let live = session.live().unwrap();
    // What the page says of the example.
    assert_eq!(session.name(), Some("Retry orders"));
    assert_eq!(live.messages().count(), 4);
    assert_eq!(live.notices.len(), 1, "the example has no blob beside it");
    assert!(session.unfinished().unwrap().is_nothing());
    // And it is written as it is read.
    assert_eq!(std::fs::read_to_string(&path).unwrap(), example);
}

#[test]
fn every_kind_has_its_fields_in_the_table() {
    let table = PAGE.split("| kind | fields |").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    for kind in [
        "message",
        "model_change",
        "mode_change",
        "compaction",
        "branch_summary",
        "label",
        "name",
        "custom",
        "run_start",
        "run_end",
        "turn_open",
        "leaf",
    ] {
        assert_eq!(table.matches(&format!("\n| `{kind}` |")).count(), 1, "{kind}");
    }
}
