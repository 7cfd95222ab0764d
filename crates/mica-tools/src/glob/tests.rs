//! Which files are found, and in which order.

use std::fs::File;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::testing::{Desk, call};

#[tokio::test]
async fn finds() {
    let desk = Desk::with(&[
        ("src/b.rs", b""),
        ("src/a.rs", b""),
        ("src/deep/c.rs", b""),
        ("build/d.rs", b""),
        (".hidden/e.rs", b""),
        (".git/f.rs", b""),
        (".gitignore", b"/build\n"),
        ("g.txt", b""),
    ]);
    for (index, path) in ["src/a.rs", "src/deep/c.rs", "src/b.rs"].iter().enumerate() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(index as u64 + 1);
        File::options().write(true).open(desk.path(path)).unwrap().set_modified(time).unwrap();
    }
    let tool = Glob::new(&desk.workspace);
    for (args, expected) in [
        (json!({"pattern": "*.rs"}), "src/a.rs\nsrc/b.rs\nsrc/deep/c.rs"),
        (json!({"pattern": "src/*.rs"}), "src/a.rs\nsrc/b.rs"),
        (json!({"pattern": "*.rs", "path": "src/deep"}), "src/deep/c.rs"),
        (json!({"pattern": "*.rs", "sort": "modified"}), "src/b.rs\nsrc/deep/c.rs\nsrc/a.rs"),
        (
            json!({"pattern": "*.rs", "all": true}),
            ".hidden/e.rs\nbuild/d.rs\nsrc/a.rs\nsrc/b.rs\nsrc/deep/c.rs",
        ),
        (
            json!({"pattern": "*.rs", "limit": 1}),
            "src/a.rs\n[… 2 of 3 files are left out; go on with offset 1 …]",
        ),
        (json!({"pattern": "*.rs", "limit": 2, "offset": 1}), "src/b.rs\nsrc/deep/c.rs"),
        (
            json!({"pattern": "*.zig"}),
            "[no file in . fits. Hidden and ignored files were left out; set all to find them.]",
        ),
    ] {
        assert_eq!(call(&tool, args.clone()).await.as_deref(), Ok(expected), "{args}");
    }
    assert_eq!(
        call(&tool, json!({"pattern": "*", "path": "g.txt"})).await.unwrap_err(),
        "g.txt is not a folder."
    );
    assert_eq!(
        call(&tool, json!({"pattern": "[a"})).await.unwrap_err(),
        "\"[a\" is not a usable pattern: unclosed character class; missing ']'."
    );
}
