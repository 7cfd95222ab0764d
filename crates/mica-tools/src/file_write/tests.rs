//! What writing does, and what it refuses.

use serde_json::json;

use super::*;
use crate::file_read::{FileRead, Sight};
use crate::testing::{Desk, call, call_whole, text};

#[tokio::test]
async fn a_new_file() {
    let desk = Desk::with(&[]);
    let tool = FileWrite::new(&desk.workspace);
    let output = call_whole(&tool, json!({"path": "a/b.txt", "content": "one\ntwo"})).await.unwrap();
    assert_eq!(text(&output), "Created a/b.txt (2 lines, 7 bytes).");
    assert_eq!(desk.bytes("a/b.txt"), b"one\ntwo");
    let details = output.details.unwrap();
    assert_eq!(FileUse::of(Some(&details)).changed, [desk.path("a/b.txt")]);
    assert_eq!(
        details["diff"],
        "--- a/a/b.txt\n+++ b/a/b.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n"
    );
    // What it wrote it knows, so it may write it again; and the same again is nothing.
    let again = json!({"path": "a/b.txt", "content": "three\n"});
    assert_eq!(call(&tool, again.clone()).await.unwrap(), "Replaced a/b.txt (+1 -2 lines).");
    assert_eq!(call(&tool, again).await.unwrap(), "a/b.txt already has this content; nothing was written.");
    assert_eq!(desk.journal.changes.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn only_what_is_known_is_replaced() {
    let desk = Desk::with(&[("a.txt", b"one\ntwo\n"), ("empty", b"")]);
    let tool = FileWrite::new(&desk.workspace);
    let reader = FileRead::new(&desk.workspace, Sight::Blind);
    let write = json!({"path": "a.txt", "content": "new\n"});
    let advice = "so it was not replaced. Read all of it first, or replace only the part you know.";
    let refused = |why: &str| Err(format!("{why}, {advice}"));
    assert_eq!(call(&tool, write.clone()).await, refused("a.txt exists and was not read in this session"));
    call(&reader, json!({"path": "a.txt", "limit": 1})).await.unwrap();
    assert_eq!(call(&tool, write.clone()).await, refused("Only a part of a.txt was read in this session"));
    call(&reader, json!({"path": "a.txt", "offset": 2})).await.unwrap();
    desk.put("a.txt", b"someone else\n");
    assert_eq!(call(&tool, write.clone()).await, refused("a.txt changed since it was read"));
    assert_eq!(desk.bytes("a.txt"), b"someone else\n");
    call(&reader, json!({"path": "a.txt"})).await.unwrap();
    assert_eq!(call(&tool, write).await.unwrap(), "Replaced a.txt (+1 -1 lines).");
    assert_eq!(
        call(&tool, json!({"path": "empty", "content": "x"})).await.unwrap(),
        "Replaced empty (+1 -0 lines).",
        "an empty file has nothing to lose"
    );
}

#[tokio::test]
async fn what_belongs_to_the_file_is_kept() {
    for (before, content, after) in [
        (&b"a\r\nb\r\n"[..], "x\ny\n", &b"x\r\ny\r\n"[..]),
        (b"a\nb\n", "x\ny", b"x\ny\n"),
        (b"a\nb", "x\ny\n", b"x\ny\n"),
        (b"\xEF\xBB\xBFa\n", "x\n", b"\xEF\xBB\xBFx\n"),
        (b"\xFF\xFEa\0", "x", b"\xFF\xFEx\0"),
        (b"a\n", "", b""),
    ] {
        let desk = Desk::with(&[("f", before)]);
        call(&FileRead::new(&desk.workspace, Sight::Blind), json!({"path": "f"})).await.unwrap();
        call(&FileWrite::new(&desk.workspace), json!({"path": "f", "content": content})).await.unwrap();
        assert_eq!(desk.bytes("f"), after, "{before:?} {content:?}");
    }
}

#[tokio::test]
async fn what_is_refused() {
    let desk = Desk::with(&[("dir/f", b"x"), ("blob", b"\0\x01"), ("latin", b"gr\xC3\xBCn und \xFC")]);
    let tool = FileWrite::new(&desk.workspace);
    let spill = desk.beside("spill/x").display().to_string();
    for (path, expected) in [
        ("dir", "dir is a folder, not a file. Nothing was done.".to_owned()),
        ("new/", "new/ is the name of a folder, not a file. Nothing was done.".to_owned()),
        ("dir/f/x", "dir/f is not a folder.".to_owned()),
        (
            "blob",
            "[blob is binary data of an unknown type, 2 bytes. It is not shown: it is no text.] Nothing was written."
                .to_owned(),
        ),
        (
            "latin",
            "latin is not valid UTF-8 (first at byte 10), so changing it as text would damage it. Nothing was written."
                .to_owned(),
        ),
        (
            &spill,
            format!(
                "{spill} may be read but not written. Write inside {} instead.",
                desk.workspace.root().display()
            ),
        ),
    ] {
        assert_eq!(call(&tool, json!({"path": path, "content": "y"})).await, Err(expected), "{path}");
    }
    let spec = tool.spec();
    assert_eq!(
        (spec.access, spec.effect, spec.approval),
        (Access::Write, Effect::Idempotent, Approval::Needed)
    );
}
