//! What editing does, and what it refuses.

use serde_json::json;

use super::*;
use crate::testing::{Desk, call, call_whole, text};

const CODE: &[u8] = b"fn one() {\n    a();\n}\n\nfn two() {\n    a();\n}\n";

#[tokio::test]
async fn edits() {
    for (before, args, told, after) in [
        (
            CODE,
            json!({"old": "fn one", "new": "fn uno"}),
            "Edited f in 1 place (+1 -1 lines).",
            &b"fn uno() {\n    a();\n}\n\nfn two() {\n    a();\n}\n"[..],
        ),
        (
            CODE,
            json!({"old": "a();", "new": "b();", "replace_all": true}),
            "Edited f in 2 places (+2 -2 lines).",
            b"fn one() {\n    b();\n}\n\nfn two() {\n    b();\n}\n",
        ),
        (
            CODE,
            json!({"edits": [{"old": "two", "new": "one"}, {"old": "one", "new": "two"}]}),
            "Edited f in 2 places (+2 -2 lines).",
            b"fn two() {\n    a();\n}\n\nfn one() {\n    a();\n}\n",
        ),
        (
            CODE,
            json!({"old": "fn two() {\n    a();\n}\n", "new": ""}),
            "Edited f in 1 place (+0 -3 lines).",
            b"fn one() {\n    a();\n}\n\n",
        ),
        (
            b"a\r\nb\r\n",
            json!({"old": "a\nb\n", "new": "x\n"}),
            "Edited f in 1 place (+1 -2 lines). The quotation was not exact: line endings differed.",
            b"x\r\n",
        ),
        (
            b"{\n  a\n  b\n}\n",
            json!({"old": "a\nb\n", "new": "a\nc\n"}),
            "Edited f in 1 place (+1 -1 lines). The quotation was not exact: indentation differed, and the new text was \
             indented like the file. What changed:\n--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n {\n   a\n-  b\n+  c\n }\n",
            b"{\n  a\n  c\n}\n",
        ),
        (
            b"\xFF\xFEa\0b\0",
            json!({"old": "b", "new": "c"}),
            "Edited f in 1 place (+1 -1 lines).",
            b"\xFF\xFEa\0c\0",
        ),
        (
            b"a\0b\0\r\0\n\0",
            json!({"old": "b\n", "new": "c\n\u{20ac}\n"}),
            "Edited f in 1 place (+2 -1 lines). The quotation was not exact: line endings differed.",
            b"a\0c\0\r\0\n\0\xAC\x20\r\0\n\0",
        ),
        (
            b"gr\xFCn \x80\r\nblau\r\n",
            json!({"old": "gr\u{fc}n \u{20ac}", "new": "gelb \u{201c}x\u{201d}"}),
            "Edited f in 1 place (+1 -1 lines).",
            b"gelb \x93x\x94\r\nblau\r\n",
        ),
        (
            b"\xEF\xBB\xBFa\r\nb\r\n",
            json!({"edits": [{"old": "a", "new": "x\ny"}, {"old": "b", "new": "z"}]}),
            "Edited f in 2 places (+3 -2 lines).",
            b"\xEF\xBB\xBFx\r\ny\r\nz\r\n",
        ),
        (
            "say \u{201c}hi\u{201d} \u{2014} now\n".as_bytes(),
            json!({"old": "\"hi\" - now", "new": "\"hi\" - then"}),
            "Edited f in 1 place (+1 -1 lines). The quotation was not exact: quotes, dashes or blanks were written \
             differently. What changed:\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-say \u{201c}hi\u{201d} \u{2014} now\n+say \
             \u{201c}hi\u{201d} \u{2014} then\n",
            "say \u{201c}hi\u{201d} \u{2014} then\n".as_bytes(),
        ),
    ] {
        let desk = Desk::with(&[("f", before)]);
        let mut args = args;
        args["path"] = json!("f");
        let tool = FileEdit::new(&desk.workspace);
        assert_eq!(call(&tool, args.clone()).await.as_deref(), Ok(told), "{args}");
        assert_eq!(desk.bytes("f"), after, "{args}");
        assert_eq!(desk.journal.changes.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn what_is_refused_changes_nothing() {
    for (args, expected) in [
        (
            json!({"old": "a();", "new": "b();"}),
            "old occurs 2 times in f. Quote more lines around the one you mean, or set replace_all. Nothing was changed. It \
             begins on:\nline 2:\nfn one() {\n    a();\n}\nline 6:\nfn two() {\n    a();\n}",
        ),
        (
            json!({"old": "fn two() {\n    b();\n}", "new": "x"}),
            "old was not found in f. Nothing was changed. The nearest text is at lines 5-7 (- is what you quoted, + is what \
             the file has):\n fn two() {\n-    b();\n+    a();\n }\n",
        ),
        (
            json!({"old": "zzz", "new": "x"}),
            "old was not found in f, and nothing in it is similar. Nothing was changed. Read the file again.",
        ),
        (
            json!({"old": "1\tfn one() {\n2\t    a();\n", "new": "x"}),
            "old was not found in f: it begins its lines with line numbers, which are not part of the file. Leave them out. \
             Nothing was changed.",
        ),
        (
            json!({"edits": [{"old": "fn one", "new": "x"}, {"old": "zzz", "new": "x"}]}),
            "Edit 2 of 2: old was not found in f, and nothing in it is similar. Nothing was changed. Read the file again.",
        ),
        (
            json!({"edits": [{"old": "fn one", "new": "x"}, {"old": "one()", "new": "y"}]}),
            "Edits 1 and 2 overlap near line 1. Join them into one. Nothing was changed.",
        ),
        (
            json!({"old": "", "new": "x"}),
            "old is empty. Quote the text to replace; to create or fill a file, write all of it. Nothing was changed.",
        ),
        (
            json!({"old": "x", "new": "x"}),
            "old and new are the same, so there is nothing to do. Nothing was changed.",
        ),
        (
            json!({"old": "x"}),
            "Give either old and new, or a list of edits that is not empty. Nothing was changed.",
        ),
        (
            json!({"edits": []}),
            "Give either old and new, or a list of edits that is not empty. Nothing was changed.",
        ),
    ] {
        let desk = Desk::with(&[("f", CODE)]);
        let mut args = args;
        args["path"] = json!("f");
        let result = call(&FileEdit::new(&desk.workspace), args.clone()).await;
        assert_eq!(result, Err(expected.to_owned()), "{args}");
        assert_eq!(desk.bytes("f"), CODE);
        assert!(desk.journal.changes.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn what_is_nearly_there_is_replaced_only_once() {
    let desk = Desk::with(&[("f", b"  a\n  b\nx\n  a\n  b\n"), ("old", b"gr\xFCn\n")]);
    let tool = FileEdit::new(&desk.workspace);
    let all = json!({"path": "f", "old": "a\nb\n", "new": "c\n", "replace_all": true});
    assert_eq!(
        call(&tool, all).await.unwrap_err(),
        "old is not in f exactly, only nearly, and in 2 places (line 1, 4). Quote it exactly to replace all of them. Nothing \
         was changed."
    );
    let arrow = json!({"path": "old", "old": "gr\u{fc}n", "new": "\u{2192}"});
    assert_eq!(
        call(&tool, arrow).await.unwrap_err(),
        "old is written in an encoding without this letter: Windows-1252 has no '\u{2192}'. Use other letters, or ask the user \
         to convert the file to UTF-8. Nothing was written."
    );
    assert_eq!(desk.bytes("old"), b"gr\xFCn\n");
}

#[test]
fn edits_of_texts() {
    let done = edited("a b", "b", "c", false).unwrap();
    assert_eq!((done.text.as_str(), done.exact, done.places.len()), ("a c", true, 1));
    assert_eq!(done.places.first(), Some(&(2..3)));
    assert!(edited("a", "", "c", false).is_err() && edited("a", "b", "c", true).is_err());
}

#[tokio::test]
async fn files_that_are_not_text_or_not_there() {
    let desk = Desk::with(&[("main.rs", b"x"), ("latin", b"gr\xC3\xBCn und \xFC")]);
    let tool = FileEdit::new(&desk.workspace);
    let edit = |path: &str| json!({"path": path, "old": "x", "new": "y"});
    assert_eq!(call(&tool, edit("mian.rs")).await.unwrap_err(), "There is no mian.rs. Near names: main.rs.");
    assert_eq!(
        call(&tool, edit("latin")).await.unwrap_err(),
        "latin is not valid UTF-8 (first at byte 10), so changing it as text would damage it. Nothing was written."
    );
    let spec = tool.spec();
    assert_eq!((spec.access, spec.effect, spec.approval), (Access::Write, Effect::Unsafe, Approval::Needed));
}

#[tokio::test]
async fn what_the_user_interface_gets() {
    let desk = Desk::with(&[("f", b"a\n")]);
    let args = json!({"path": "f", "old": "a", "new": "b"});
    let output = call_whole(&FileEdit::new(&desk.workspace), args).await.unwrap();
    assert_eq!(text(&output), "Edited f in 1 place (+1 -1 lines).");
    assert_eq!(
        output.details.unwrap(),
        json!({
            "path": desk.path("f"),
            "diff": "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
            "added": 1,
            "removed": 1,
            "exact": true,
            "files": { "read": [], "changed": [desk.path("f")] },
        })
    );
}
