//! What reading shows.

use mica_agent::{Access, Approval, Effect};
use serde_json::json;

use super::*;
use crate::limits::Limits;
use crate::testing::{Desk, call, call_whole, text};

#[tokio::test]
async fn what_is_shown() {
    let desk = Desk::with(&[
        ("a.txt", b"one\ntwo\n"),
        ("crlf.txt", b"one\r\ntwo\r\n"),
        ("mixed.txt", b"one\r\ntwo\n"),
        ("bom.txt", b"\xEF\xBB\xBFone\n"),
        ("wide.txt", b"\xFF\xFEo\0\n\0"),
        ("latin.txt", b"gr\xFCn\n"),
        ("damaged.txt", b"gr\xC3\xBCn \xFC\n"),
        ("empty.txt", b""),
        ("lib.so", b"\x7FELF\0\0"),
        ("blob", b"\0\x01"),
        ("dir/f", b"123"),
    ]);
    let tool = FileRead::new(&desk.workspace, Sight::Blind);
    for (args, expected) in [
        (json!({"path": "a.txt"}), "one\ntwo\n"),
        (json!({"path": "a.txt", "line_numbers": true}), "1\tone\n2\ttwo\n"),
        (json!({"path": "a.txt", "offset": 2, "limit": null}), "two\n"),
        (
            json!({"path": "a.txt", "limit": 1}),
            "one\n[… lines 2-2 of 2 are left out here; read on with offset 2 …]\n",
        ),
        (json!({"path": "crlf.txt"}), "one\ntwo\n[lines end with CRLF, shown as LF; edits keep CRLF]\n"),
        (
            json!({"path": "mixed.txt"}),
            "one\ntwo\n[line endings are mixed (LF and CRLF), shown as LF; edits keep those around them]\n",
        ),
        (
            json!({"path": "bom.txt"}),
            "one\n[the file begins with a byte order mark, which is not shown; edits keep it]\n",
        ),
        (
            json!({"path": "wide.txt"}),
            "o\n[the file is UTF-16 (little endian), decoded here; edits keep the encoding]\n",
        ),
        (
            json!({"path": "latin.txt"}),
            "grün\n[the file is not UTF-8; it was read as Windows-1252 (or Latin-1), and edits keep that encoding]\n",
        ),
        (
            json!({"path": "damaged.txt"}),
            "grün \u{FFFD}\n[the file is not valid UTF-8 (first at byte 6); what could not be read is shown as \u{FFFD}, and \
             edits will refuse it]\n",
        ),
        (json!({"path": "empty.txt"}), "[empty.txt is empty]"),
        (
            json!({"path": "lib.so"}),
            "[lib.so is an ELF program or library, 6 bytes. It is not shown: it is no text.]",
        ),
        (
            json!({"path": "blob"}),
            "[blob is binary data of an unknown type, 2 bytes. It is not shown: it is no text.]",
        ),
        (json!({"path": "dir"}), "dir/\nf  (3 bytes)"),
    ] {
        assert_eq!(call(&tool, args.clone()).await.as_deref(), Ok(expected), "{args}");
    }
}

#[tokio::test]
async fn what_is_refused() {
    let desk = Desk::with(&[("main.rs", b"x\n"), ("src/config.toml", b"x\n"), ("src/zebra", b"")]);
    let tool = FileRead::new(&desk.workspace, Sight::Blind);
    for (args, expected) in [
        (json!({"path": "mian.rs"}), "There is no mian.rs. Near names: main.rs."),
        (json!({"path": "src/config.yaml"}), "There is no src/config.yaml. Near names: src/config.toml."),
        (json!({"path": "none/x"}), "There is no none/x. Look for the right path by name."),
        (json!({"path": "main.rs", "offset": 2}), "main.rs has 1 lines; offset 2 is behind the last."),
        (json!({"path": "main.rs", "offset": 0}), "offset counts lines from 1; 0 is before the first line."),
        (
            json!({"path": "main.rs", "limit": 0}),
            "limit is 0, so there is nothing to show. Leave it out or give a number.",
        ),
        (
            json!({"file": "main.rs"}),
            "The arguments do not fit the tool: unknown field `file`, expected one of `path`, `offset`, `limit`, \
             `pages`, `raw`, `line_numbers`. Nothing was done.",
        ),
    ] {
        assert_eq!(call(&tool, args.clone()).await, Err(expected.to_owned()), "{args}");
    }
    let small = desk.workspace.clone().with_limits(Limits { file_bytes: 1, ..Limits::default() });
    assert_eq!(
        call(&FileRead::new(&small, Sight::Blind), json!({"path": "main.rs"})).await,
        Err("main.rs has 2 bytes; at most 1 are read at once. Search it for the part you need instead."
            .to_owned())
    );
}

#[tokio::test]
async fn images_for_models_that_see() {
    let desk = Desk::with(&[("a.png", b"\x89PNG\r\n\x1a\n\0")]);
    let args = json!({"path": "a.png"});
    let seeing = FileRead::new(&desk.workspace, Sight::Sees);
    let output = call_whole(&seeing, args.clone()).await.unwrap();
    assert_eq!(text(&output), "[a.png: image/png, 9 bytes]|<image/png>");
    assert_eq!(FileUse::of(output.details.as_ref()).read, [desk.path("a.png")]);
    assert_eq!(
        call(&FileRead::new(&desk.workspace, Sight::Blind), args.clone()).await.unwrap(),
        "[a.png: image/png, 9 bytes; this model cannot see images]"
    );
    let small = desk.workspace.clone().with_limits(Limits { image_bytes: 8, ..Limits::default() });
    assert_eq!(
        call(&FileRead::new(&small, Sight::Sees), args).await.unwrap(),
        "[a.png: image/png, 9 bytes; more than the 8 bytes that can be shown]"
    );
}

#[tokio::test]
async fn a_spilled_result_can_be_read() {
    let desk = Desk::with(&[]);
    let path = desk.beside("spill/1.txt");
    #[allow(clippy::disallowed_methods, reason = "the test prepares the file itself")]
    std::fs::write(&path, "spilled\n").unwrap();
    let tool = FileRead::new(&desk.workspace, Sight::Blind);
    assert_eq!(call(&tool, json!({"path": path})).await.unwrap(), "spilled\n");
}

#[test]
fn what_the_engine_knows() {
    let desk = Desk::with(&[("a.txt", b"")]);
    let tool = FileRead::new(&desk.workspace, Sight::Blind);
    let spec = tool.spec();
    assert_eq!((spec.access, spec.effect, spec.approval), (Access::Read, Effect::Pure, Approval::NotNeeded));
    assert_eq!(spec.schema["required"], json!(["path"]));
    assert_eq!(spec.schema["properties"]["offset"]["description"], "First line to show, counted from 1.");
    let touched = |path: &str| tool.touches(json!({ "path": path }).as_object().unwrap());
    assert_eq!(touched("./a.txt"), [Resource::file(desk.path("a.txt"))]);
    assert_eq!(touched("../secret"), []);
}
