//! Which lines are found, and what is said about the others.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::*;
use crate::limits::Limits;
use crate::testing::{Desk, call, call_whole};

fn desk() -> Desk {
    Desk::with(&[
        ("src/b.rs", b"fn two() {}\nlet x = 1;\nfn three() {}\n"),
        ("src/a.rs", b"fn one() {}\r\n// FN\r\n"),
        ("web/c.ts", b"function fn() {}\n"),
        ("blob.rs", b"fn \0 binary\n"),
        ("build/out.rs", b"fn out() {}\n"),
        (".hidden.rs", b"fn hidden() {}\n"),
        (".gitignore", b"build/\n"),
    ])
}

#[tokio::test]
async fn finds() {
    let desk = desk();
    symlink(desk.beside("secret"), desk.path("leak")).unwrap();
    let tool = Grep::new(&desk.workspace);
    for (args, expected) in [
        (
            json!({"pattern": "^fn \\w+"}),
            "src/a.rs\n1:fn one() {}\n\nsrc/b.rs\n1:fn two() {}\n3:fn three() {}\n[3 matches in 2 files; 1 binary file was \
             skipped]",
        ),
        (
            json!({"pattern": "fn", "path": "src/a.rs", "ignore_case": true}),
            "src/a.rs\n1:fn one() {}\n2:// FN\n[2 matches in 1 file]",
        ),
        (
            json!({"pattern": "x = 1", "context": 1}),
            "src/b.rs\n1-fn two() {}\n2:let x = 1;\n3-fn three() {}\n[1 match in 1 file; 1 binary file was skipped]",
        ),
        (json!({"pattern": "fn", "type": "ts"}), "web/c.ts\n1:function fn() {}\n[1 match in 1 file]"),
        (
            json!({"pattern": "fn()", "literal": true, "glob": "*.ts"}),
            "web/c.ts\n1:function fn() {}\n[1 match in 1 file]",
        ),
        (json!({"pattern": "fn", "glob": "src/*", "mode": "files"}), "src/a.rs\nsrc/b.rs\n[2 files]"),
        (
            json!({"pattern": "fn", "glob": "src/*", "mode": "count"}),
            "src/a.rs: 1\nsrc/b.rs: 2\n[3 matches in 2 files]",
        ),
        (
            json!({"pattern": "fn", "all": true, "mode": "files"}),
            ".hidden.rs\nbuild/out.rs\nsrc/a.rs\nsrc/b.rs\nweb/c.ts\n[5 files; 1 binary file was skipped]",
        ),
        (
            json!({"pattern": "fn", "path": "src", "limit": 2}),
            "src/a.rs\n1:fn one() {}\n\nsrc/b.rs\n1:fn two() {}\n[2 of 3 matches in 2 files are shown; narrow the pattern, \
             the path or the glob to see the others]",
        ),
        (
            json!({"pattern": "fn", "path": "src", "limit": 1, "mode": "files"}),
            "src/a.rs\n[1 of 2 files are shown]",
        ),
        (
            json!({"pattern": "two\\(\\) \\{\\}\\nlet", "multiline": true, "glob": "b.rs"}),
            "src/b.rs\n1:fn two() {}\n2:let x = 1;\n[1 match in 1 file]",
        ),
        (json!({"pattern": "secret"}), "[no matches in .; 1 binary file was skipped]"),
    ] {
        assert_eq!(call(&tool, args.clone()).await.as_deref(), Ok(expected), "{args}");
    }
}

#[tokio::test]
async fn what_is_refused() {
    let desk = desk();
    let tool = Grep::new(&desk.workspace);
    let told = call(&tool, json!({"pattern": "fn("})).await.unwrap_err();
    assert!(
        told.starts_with("The pattern is not a regular expression of this tool: regex parse error:"),
        "{told}"
    );
    assert!(told.ends_with("Look-around and back-references are not supported."), "{told}");
    let told = call(&tool, json!({"pattern": "a\nb"})).await.unwrap_err();
    assert!(told.contains("multiline if it has line ends in it"), "{told}");
    assert_eq!(
        call(&tool, json!({"pattern": "x", "type": "nope"})).await.unwrap_err(),
        "There is no file type \"nope\". Types are named like languages (rust, js, ts, py, java, xml, yaml, md); or use \
         glob, for example \"*.nope\"."
    );
    assert_eq!(
        call(&tool, json!({"pattern": "x", "path": "scr"})).await.unwrap_err(),
        "There is no scr. Near names: src."
    );
}

#[tokio::test]
async fn long_lines_are_cut_around_the_match() {
    let line = format!("{}needle{}\n", "a".repeat(100), "b".repeat(100));
    let desk = Desk::with(&[("f", line.as_bytes())]);
    let workspace = desk.workspace.clone().with_limits(Limits { match_bytes: 20, ..Limits::default() });
    assert_eq!(
        call(&Grep::new(&workspace), json!({"pattern": "needle"})).await.unwrap(),
        "f\n1:[… 95 bytes …]aaaaaneedlebbbbbbbbb[… 91 bytes …]\n[1 match in 1 file]"
    );
}

#[tokio::test]
async fn it_stops_when_told() {
    let desk = desk();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let args = GrepArgs { pattern: "fn".to_owned(), ..GrepArgs::default() };
    let output = search(&desk.workspace, &args, &cancel).unwrap();
    assert_eq!(crate::testing::text(&output), "[no matches in .; the search was stopped before it was done]");
}

#[tokio::test]
async fn the_files_that_were_shown_are_told() {
    let desk = desk();
    let output = call_whole(&Grep::new(&desk.workspace), json!({"pattern": "one"})).await.unwrap();
    assert_eq!(FileUse::of(output.details.as_ref()).read, [desk.path("src/a.rs")]);
}
