//! What a person is shown before a file is changed.

use mica_agent::Tool;
use serde_json::json;

use super::*;
use crate::testing::Desk;
use crate::{FileEdit, FileRead, FileWrite};

fn changes(diff: &str, added: usize, removed: usize) -> Option<Preview> {
    let diff = format!("--- a/f\n+++ b/f\n{diff}");
    Some(Preview::Diff { title: "f".to_owned(), diff, added, removed })
}

async fn looks(tool: &dyn Tool, args: serde_json::Value) -> Option<Preview> {
    tool.preview(args.as_object().expect("arguments are an object")).await
}

#[tokio::test]
async fn an_edit_shows_its_diff_and_changes_nothing() {
    let desk = Desk::with(&[("f", b"one\ntwo\n")]);
    let edit = FileEdit::new(&desk.workspace);
    let shown = looks(&edit, json!({ "path": "f", "old": "two", "new": "2" })).await;
    assert_eq!(shown, changes("@@ -1,2 +1,2 @@\n one\n-two\n+2\n", 1, 1));
    assert_eq!(desk.bytes("f"), b"one\ntwo\n");
    assert!(desk.journal.changes.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_edit_that_cannot_be_made_says_why() {
    let desk = Desk::with(&[("f", b"one\n")]);
    let edit = FileEdit::new(&desk.workspace);
    let Some(Preview::Fails { reason }) = looks(&edit, json!({ "path": "f", "old": "x", "new": "y" })).await
    else {
        panic!("the quotation is not in the file");
    };
    assert!(reason.starts_with("old was not found in f"), "{reason}");
    let outside = looks(&edit, json!({ "path": "../secret", "old": "s", "new": "y" })).await;
    assert!(matches!(outside, Some(Preview::Fails { .. })), "{outside:?}");
    assert_eq!(looks(&edit, json!({ "file": "f" })).await, None, "arguments that do not fit say nothing");
}

#[tokio::test]
async fn a_write_shows_what_comes_and_what_goes() {
    let desk = Desk::with(&[("g", b"old\n")]);
    let write = FileWrite::new(&desk.workspace);
    let shown = looks(&write, json!({ "path": "f", "content": "a\nb\n" })).await;
    assert_eq!(shown, changes("@@ -0,0 +1,2 @@\n+a\n+b\n", 2, 0));
    // What the model has not read it may not replace: the person is told so before they say yes.
    let unread = looks(&write, json!({ "path": "g", "content": "new" })).await;
    assert!(matches!(unread, Some(Preview::Fails { .. })), "{unread:?}");
    assert_eq!(desk.bytes("g"), b"old\n");
    let read = FileRead::new(&desk.workspace, crate::Sight::Blind);
    assert_eq!(looks(&read, json!({ "path": "g" })).await, None);
}
