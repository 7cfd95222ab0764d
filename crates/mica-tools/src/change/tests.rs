//! Changes of several files: all are looked at before one is made.

use serde_json::json;

use super::*;
use crate::testing::{Desk, cx};

fn change(path: &str, before: Option<&str>, after: &str) -> Change {
    Change { path: path.to_owned(), before: before.map(str::to_owned), after: after.to_owned() }
}

#[test]
fn several_files_at_once() {
    let desk = Desk::with(&[("pom.xml", b"\xef\xbb\xbf<a>\r\n</a>\r\n"), ("same.txt", b"same\n")]);
    let before = desk.workspace.changeable("pom.xml").unwrap().unwrap();
    assert_eq!(desk.workspace.changeable("new/file.ts").unwrap(), None);
    let changes = [
        change("pom.xml", Some(&before), &before.replace("</a>", "<b/>\r\n</a>")),
        change("new/file.ts", None, "export {}\n"),
        change("same.txt", Some("same\n"), "same\n"),
    ];
    let Preview::Diff { added, removed, .. } = desk.workspace.preview("two files", &changes) else {
        panic!("it can be made")
    };
    assert_eq!((added, removed), (2, 0));
    let changed = desk.workspace.change(&changes, &cx()).unwrap();
    assert_eq!(changed.shown, ["pom.xml", "new/file.ts"]);
    assert_eq!(desk.bytes("pom.xml"), b"\xef\xbb\xbf<a>\r\n<b/>\r\n</a>\r\n");
    assert_eq!(desk.bytes("new/file.ts"), b"export {}\n");
    assert_eq!(FileUse::of(Some(&changed.details)).changed, [desk.path("pom.xml"), desk.path("new/file.ts")]);
    assert_eq!(changed.details["changes"][0]["created"], json!(false));
    assert_eq!(changed.details["changes"][1]["created"], json!(true));
    assert_eq!(desk.journal.changes.lock().unwrap().len(), 2, "each is on record for undo");
}

#[test]
fn one_that_cannot_be_made_stops_all() {
    let desk = Desk::with(&[("a.txt", b"one\n"), ("b.txt", b"two\n"), (".env", b"KEY=secret\n")]);
    let good = change("a.txt", Some("one\n"), "changed\n");
    for (bad, why) in [
        (change("b.txt", Some("older\n"), "x"), "b.txt has changed meanwhile. Nothing was changed."),
        (change("b.txt", None, "x"), "b.txt is there already. Nothing was changed."),
        (change("gone.txt", Some("x"), "y"), "gone.txt is gone. Nothing was changed."),
    ] {
        let error = desk.workspace.change(&[good.clone(), bad.clone()], &cx()).unwrap_err();
        assert_eq!(error.message, why);
        assert_eq!(
            desk.workspace.preview("x", &[good.clone(), bad]),
            Preview::Fails { reason: why.to_owned() }
        );
    }
    assert!(desk.workspace.change(&[good.clone(), change(".env", None, "x")], &cx()).is_err());
    assert!(desk.workspace.change(&[good, change("../out.txt", None, "x")], &cx()).is_err());
    assert_eq!(desk.bytes("a.txt"), b"one\n");
}
