//! Which lines are found, and what is said about the others.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

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
            "src/a.rs\n1:fn one() {}\n\nsrc/b.rs\n1:fn two() {}\n[2 of 3 matches in 2 files are shown; go on with offset 2, \
             or narrow the pattern, the path or the glob]",
        ),
        (
            json!({"pattern": "fn", "path": "src", "limit": 1, "mode": "files"}),
            "src/a.rs\n[1 of 2 files are shown; go on with offset 1, or narrow the pattern, the path or the glob]",
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

/// Pages through a search and puts the rows together again.
async fn paged(tool: &Grep, mut args: Value, limit: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut offset = 0;
    loop {
        args["limit"] = json!(limit);
        args["offset"] = json!(offset);
        let told = call(tool, args.clone()).await.unwrap();
        let (body, note) = told.rsplit_once('[').unwrap();
        rows.extend(body.lines().filter(|row| row.contains(':')).map(str::to_owned));
        let Some((_, next)) = note.split_once("go on with offset ") else { return rows };
        let next: usize = next.split(',').next().unwrap().parse().unwrap();
        assert!(next > offset, "{note}");
        offset = next;
    }
}

#[tokio::test]
async fn every_match_is_reached_by_going_on() {
    let texts: Vec<(String, String)> = (0..7)
        .map(|file| {
            let lines: String = (0..file * 3).map(|line| format!("hit {file}.{line}\nother\n")).collect();
            (format!("d{}/f{file}.txt", file % 3), lines)
        })
        .collect();
    let files: Vec<(&str, &[u8])> = texts.iter().map(|(p, t)| (p.as_str(), t.as_bytes())).collect();
    let desk = Desk::with(&files);
    let tool = Grep::new(&desk.workspace);
    let whole = paged(&tool, json!({"pattern": "hit"}), 100).await;
    assert_eq!(whole.len(), 3 * (1 + 2 + 3 + 4 + 5 + 6));
    for limit in [1, 2, 5, 17, 62] {
        assert_eq!(paged(&tool, json!({"pattern": "hit"}), limit).await, whole, "limit {limit}");
    }
    let counts = paged(&tool, json!({"pattern": "hit", "mode": "count"}), 100).await;
    assert_eq!(paged(&tool, json!({"pattern": "hit", "mode": "count"}), 2).await, counts);
    assert_eq!(counts.first().map(String::as_str), Some("d0/f3.txt: 9"));
    // Bytes that run out end a page as the number of matches does.
    let small = desk.workspace.clone().with_limits(Limits { search_bytes: 60, ..Limits::default() });
    assert_eq!(paged(&Grep::new(&small), json!({"pattern": "hit"}), 100).await, whole);
    assert_eq!(
        call(&tool, json!({"pattern": "hit", "offset": 60, "limit": 2})).await.unwrap(),
        "d2/f5.txt\n25:hit 5.12\n27:hit 5.13\n[61-62 of 63 matches in 6 files are shown; go on with offset 62, or narrow \
         the pattern, the path or the glob]"
    );
    assert_eq!(
        call(&tool, json!({"pattern": "hit", "offset": 63})).await.unwrap(),
        "[offset 63 is behind the last of 63 matches]"
    );
}

#[tokio::test]
async fn context_belongs_to_the_matches_that_are_shown() {
    let desk = Desk::with(&[("f", b"1\nhit\n3\n4\n5\n6\nhit\n8\n9\n10\nhit\n12\n")]);
    let tool = Grep::new(&desk.workspace);
    let args = |offset: usize| json!({"pattern": "hit", "context": 1, "limit": 1, "offset": offset});
    let told = call(&tool, args(0)).await.unwrap();
    assert!(told.starts_with("f\n1-1\n2:hit\n3-3\n[1 of 3"), "{told}");
    let told = call(&tool, args(1)).await.unwrap();
    assert!(told.starts_with("f\n6-6\n7:hit\n8-8\n[2-2 of 3"), "{told}");
    let told = call(&tool, args(2)).await.unwrap();
    assert_eq!(told, "f\n10-10\n11:hit\n12-12\n[3-3 of 3 matches in 1 file are shown]");
}

#[tokio::test]
async fn counting_ends_at_the_same_place_each_time() {
    let many = "x\n".repeat(3_000);
    let texts: Vec<String> = (0..40).map(|file| format!("f{file:02}")).collect();
    let files: Vec<(&str, &[u8])> = texts.iter().map(|name| (name.as_str(), many.as_bytes())).collect();
    let desk = Desk::with(&files);
    let args = json!({"pattern": "x", "limit": 1});
    let told = call(&Grep::new(&desk.workspace), args.clone()).await.unwrap();
    assert_eq!(
        told,
        "f00\n1:x\n[1 of 12000 matches in 4 files are shown; go on with offset 1, or narrow the pattern, the path or the \
         glob; there are more; the search ended here]"
    );
    for _ in 0..20 {
        assert_eq!(call(&Grep::new(&desk.workspace), args.clone()).await.unwrap(), told);
    }
}
