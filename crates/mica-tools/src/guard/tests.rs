//! What no tool hands out or changes, however it is asked.

#![allow(clippy::disallowed_methods, reason = "tests prepare files themselves")]

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mica_agent::Tool;
use rustix::fs::RenameFlags;
use serde_json::{Value, json};

use crate::testing::{Desk, call};
use crate::{FileEdit, FileError, FileRead, FileWrite, Glob, Grep, ListDir, Sight, Workspace};

const VALUE: &str = "hunter2-value";

fn desk() -> Desk {
    let line = format!("KEY={VALUE}\n");
    let desk = Desk::with(&[
        (".env", line.as_bytes()),
        ("app/.env.production", line.as_bytes()),
        (".env.example", b"KEY=example\n"),
        (".ssh/config", line.as_bytes()),
        (".aws/credentials", line.as_bytes()),
        (".npmrc", line.as_bytes()),
        ("deploy/id_rsa", line.as_bytes()),
        ("deploy/tls.pem", line.as_bytes()),
        (".git/config", b"[core]\n"),
        (".git/hooks/pre-commit", b"#!/bin/sh\n"),
        (".mica/config.toml", b"mode = \"ask\"\n"),
        ("credentials/mod.rs", b"// KEY\n"),
        ("notes.txt", b"KEY is explained here\n"),
    ]);
    symlink(".env", desk.path("plain.txt")).unwrap();
    symlink(".ssh", desk.path("folder")).unwrap();
    symlink("notes.txt", desk.path(".netrc")).unwrap();
    symlink(".git", desk.path("repository")).unwrap();
    desk
}

async fn read(desk: &Desk, path: &str) -> Result<String, String> {
    call(&FileRead::new(&desk.workspace, Sight::Sees), json!({"path": path})).await
}

#[tokio::test]
async fn secrets_are_not_read() {
    let desk = desk();
    let root = desk.workspace.root().display().to_string();
    for path in [
        ".ssh/config",
        "folder/config",
        ".aws/credentials",
        ".npmrc",
        "deploy/id_rsa",
        "deploy/tls.pem",
        ".netrc",
        "./app/../.npmrc",
        &format!("{root}/.npmrc"),
        "/proc/self/root/etc/passwd",
        "/proc/self/environ",
        "/dev/fd/0",
        "/proc/self/fd/0",
        "/dev/stdin",
    ] {
        let told = read(&desk, path).await.unwrap_err();
        assert!(
            told.contains("is where secrets are kept") || told.contains("is outside of the workspace"),
            "{path}: {told}"
        );
    }
    assert_eq!(read(&desk, "credentials/mod.rs").await.unwrap(), "// KEY\n");
    assert_eq!(read(&desk, ".env.example").await.unwrap(), "KEY=example\n");
    assert_eq!(read(&desk, ".git/config").await.unwrap(), "[core]\n");
    assert_eq!(read(&desk, ".mica/config.toml").await.unwrap(), "mode = \"ask\"\n");
}

#[tokio::test]
async fn names_of_variables_are_told_and_values_are_not() {
    let desk = desk();
    for (path, shown) in
        [(".env", ".env"), ("plain.txt", ".env"), ("app/.env.production", "app/.env.production")]
    {
        assert_eq!(
            read(&desk, path).await.unwrap(),
            format!("[{shown}: 1 variable. Names only: values are secrets and are not shown]\nKEY"),
        );
    }
    desk.put(".env", b"A=1\nsecret words\nB=2\n");
    assert_eq!(
        read(&desk, ".env").await.unwrap(),
        "[.env: 1 variable. Names only: values are secrets and are not shown]\nA\n[from line 2 on it is not plain \
         NAME=value, and nothing is shown]"
    );
    desk.put(".env", &[0, 1, 2, 3]);
    assert_eq!(
        read(&desk, ".env").await.unwrap(),
        "[.env: 0 variables. Names only: values are secrets and are not shown]"
    );
}

#[tokio::test]
async fn secrets_are_neither_written_nor_edited() {
    let desk = desk();
    let (write, edit) = (FileWrite::new(&desk.workspace), FileEdit::new(&desk.workspace));
    for path in [
        ".env",
        ".ENV",
        ".env.new",
        ".env.",
        "ENV~1",
        "plain.txt",
        "folder/authorized_keys",
        ".SSH/authorized_keys",
        "new/.aws/credentials",
        ".npmrc",
        ".git/config",
        ".git/hooks/post-checkout",
        ".Git/hooks/post-checkout",
        "GIT~1/config",
        "repository/config",
        "vendored/.git/config",
        ".mica/config.toml",
        ".mica/hooks/new.sh",
        ".MICA/config.toml",
        ".bashrc",
    ] {
        let told = call(&write, json!({"path": path, "content": "x"})).await.unwrap_err();
        let expected = ["secret", "decides what tools and agents do later"];
        assert!(expected.iter().any(|reason| told.contains(reason)), "{path}: {told}");
        let told = call(&edit, json!({"path": path, "old": "KEY", "new": "x"})).await.unwrap_err();
        assert!(expected.iter().any(|reason| told.contains(reason)), "{path}: {told}");
    }
    assert_eq!(desk.bytes(".env"), format!("KEY={VALUE}\n").as_bytes());
    assert!(!desk.path(".git/hooks/post-checkout").exists() && !desk.path(".ENV").exists());
    call(&write, json!({"path": ".gitignore", "content": "target\n"})).await.unwrap();
    call(&write, json!({"path": "credentials/store.rs", "content": "// x\n"})).await.unwrap();
    // It counts only once the user trusts it.
    call(&write, json!({"path": ".mica/extensions/a.ts", "content": "export default () => {};\n"}))
        .await
        .unwrap();
}

#[tokio::test]
async fn search_shows_no_secret() {
    let desk = desk();
    let grep = Grep::new(&desk.workspace);
    for args in [
        json!({"pattern": "KEY", "all": true}),
        json!({"pattern": VALUE, "all": true}),
        json!({"pattern": "KEY", "all": true, "context": 3, "multiline": true}),
        json!({"pattern": "KEY", "all": true, "glob": ".env*"}),
        json!({"pattern": "KEY", "all": true, "mode": "count"}),
        json!({"pattern": "KEY", "path": "deploy"}),
    ] {
        let told = call(&grep, args.clone()).await.unwrap();
        assert!(!told.contains(VALUE) && !told.contains("id_rsa"), "{args}: {told}");
        assert!(told.contains("with secrets"), "{args}: {told}");
    }
    for path in [".env", "plain.txt", ".ssh", "folder", ".ssh/config", "deploy/id_rsa"] {
        let told = call(&grep, json!({"pattern": "KEY", "path": path, "all": true})).await.unwrap_err();
        assert!(told.contains("secret"), "{path}: {told}");
    }
    // Names are no secrets.
    let all = call(&Glob::new(&desk.workspace), json!({"pattern": "*id_rsa", "all": true})).await.unwrap();
    assert_eq!(all, "deploy/id_rsa");
    let list = call(&ListDir::new(&desk.workspace), json!({"path": "deploy"})).await.unwrap();
    assert!(list.contains("id_rsa") && !list.contains(VALUE));
}

#[test]
fn unusable_paths() {
    let desk = desk();
    let long = "a/".repeat(3_000);
    let name = "b".repeat(300);
    for path in [long.as_str(), name.as_str(), "a\0b", ""] {
        assert!(matches!(desk.workspace.resolve(path), Err(FileError::BadPath { .. })), "{path:.20}");
    }
    for path in ["new ", "new.", "a /b", "a./b", "line\nbreak", "tab\tin", " lead"] {
        let written = desk.workspace.writable(path);
        assert!(matches!(written, Err(FileError::BadPath { .. })), "{path:?}");
    }
    // What is there already, under whatever name, stays reachable.
    desk.put("odd. /x", b"1");
    assert!(desk.workspace.writable("odd. /x").is_ok());
}

#[test]
fn the_files_of_the_kernel_are_no_files_of_a_project() {
    let everything = Workspace::new("/").unwrap();
    for path in ["/proc/self/environ", "/proc/version", "/dev/null", "/sys/kernel"] {
        let Ok(place) = everything.resolve(path) else { continue };
        assert!(matches!(place.may_read(), Err(FileError::Secret { .. })), "{path}");
    }
}

#[tokio::test]
async fn a_hard_link_is_cut_by_a_write() {
    let desk = Desk::with(&[("a.txt", b"old\n")]);
    fs::write(desk.beside("other"), "old\n").unwrap();
    fs::remove_file(desk.path("a.txt")).unwrap();
    fs::hard_link(desk.beside("other"), desk.path("a.txt")).unwrap();
    let edit = FileEdit::new(&desk.workspace);
    call(&edit, json!({"path": "a.txt", "old": "old", "new": "new"})).await.unwrap();
    assert_eq!(desk.bytes("a.txt"), b"new\n");
    assert_eq!(fs::read(desk.beside("other")).unwrap(), b"old\n", "the other name keeps what it had");
}

/// Swaps a folder of the workspace with a link that leads out, and back, until it is told to stop.
fn swapping(desk: &Desk, stop: &Arc<AtomicBool>) -> std::thread::JoinHandle<u64> {
    let (folder, link) = (desk.path("folder"), desk.path("link"));
    symlink(desk.beside("outside"), &link).unwrap();
    let stop = Arc::clone(stop);
    std::thread::spawn(move || {
        let here = rustix::fs::CWD;
        let mut swaps = 0;
        while !stop.load(Ordering::Relaxed) {
            // In one step, so that there is always something of that name.
            rustix::fs::renameat_with(here, &folder, here, &link, RenameFlags::EXCHANGE).unwrap();
            swaps += 1;
        }
        swaps
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_is_swapped_all_the_time_leads_nowhere() {
    let desk = Desk::with(&[("folder/f.txt", b"inside\n"), ("folder/deep/g.txt", b"inside\n")]);
    let outside = desk.beside("outside");
    fs::create_dir_all(outside.join("deep")).unwrap();
    for name in ["f.txt", "deep/g.txt", "theirs.txt"] {
        fs::write(outside.join(name), "outside\n").unwrap();
    }
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = swapping(&desk, &stop);
    let tools: Vec<(Box<dyn Tool>, Value)> = vec![
        (Box::new(FileRead::new(&desk.workspace, Sight::Sees)), json!({"path": "folder/f.txt"})),
        (Box::new(FileRead::new(&desk.workspace, Sight::Sees)), json!({"path": "folder/deep/g.txt"})),
        (Box::new(Grep::new(&desk.workspace)), json!({"pattern": "side"})),
        (Box::new(Glob::new(&desk.workspace)), json!({"pattern": "*.txt"})),
        (Box::new(ListDir::new(&desk.workspace)), json!({"path": "folder"})),
        (
            Box::new(FileEdit::new(&desk.workspace)),
            json!({"path": "folder/f.txt", "edits": [{"old": "side", "new": "SIDE"}]}),
        ),
        (
            Box::new(FileEdit::new(&desk.workspace)),
            json!({"path": "folder/f.txt", "edits": [{"old": "SIDE", "new": "side"}]}),
        ),
    ];
    let mut done = 0;
    for round in 0..40 {
        for (tool, args) in &tools {
            let told = call(tool.as_ref(), args.clone()).await;
            let told = told.unwrap_or_else(|error| {
                // Refusals name the path, never what is there.
                assert!(!error.contains("outside\n"), "{error}");
                String::new()
            });
            assert!(!told.contains("outside\n") && !told.contains("theirs"), "{told}");
            done += usize::from(!told.is_empty());
        }
        let new = json!({"path": format!("folder/new-{round}.txt"), "content": "new\n"});
        let _ = call(&FileWrite::new(&desk.workspace), new).await;
    }
    stop.store(true, Ordering::Relaxed);
    let swaps = swapper.join().unwrap();
    assert!(swaps > 10 && done > 10, "{swaps} swaps, {done} calls that did something: this proves nothing");
    let mut names: Vec<String> = fs::read_dir(&outside)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["deep", "f.txt", "theirs.txt"], "nothing was made out there");
    for name in ["f.txt", "deep/g.txt", "theirs.txt"] {
        assert_eq!(fs::read_to_string(outside.join(name)).unwrap(), "outside\n", "{name}");
    }
}

/// What is found below a folder is shown, whatever the folder is called; a link with the name of a folder of secrets is one.
#[tokio::test]
async fn a_folder_that_is_called_like_a_secret_file_is_searched() {
    let desk = desk();
    let grep = Grep::new(&desk.workspace);
    for path in ["credentials", "credentials/"] {
        let found = call(&grep, json!({"pattern": "KEY", "path": path})).await.unwrap();
        assert_eq!(found, "credentials/mod.rs\n1:// KEY\n[1 match in 1 file]", "{path}");
    }
    symlink("../deploy", desk.path("app/.aws")).unwrap();
    for mode in ["content", "files", "count"] {
        let args = json!({"pattern": "KEY", "path": "app/.aws", "mode": mode});
        let refused = call(&grep, args).await.unwrap_err();
        assert!(refused.contains("secret"), "{mode}: {refused}");
    }
}

#[tokio::test]
async fn what_people_trust_is_not_changed_and_what_is_new_beside_it_is_written() {
    let desk = desk();
    fs::create_dir_all(desk.path(".mica/extensions")).unwrap();
    fs::write(desk.path(".mica/extensions/guard.ts"), "guard").unwrap();
    let trusted = desk.workspace.root().join(".mica/extensions/guard.ts");
    let workspace = desk.workspace.clone().with_trusted(move |path| path == trusted);
    call(&FileRead::new(&workspace, Sight::Sees), json!({"path": ".mica/extensions/guard.ts"}))
        .await
        .unwrap();
    let write = FileWrite::new(&workspace);
    let refused = call(&write, json!({"path": ".mica/extensions/guard.ts", "content": "open"})).await;
    assert_eq!(
        refused.unwrap_err(),
        "The user trusts .mica/extensions/guard.ts as it is, and a change would take it out of use, so tools read it and do \
         not change it. Tell the user what to change there, or write another file."
    );
    call(&write, json!({"path": ".mica/extensions/other.ts", "content": "new"})).await.unwrap();
    assert_eq!(fs::read_to_string(desk.path(".mica/extensions/guard.ts")).unwrap(), "guard");
    assert_eq!(fs::read_to_string(desk.path(".mica/extensions/other.ts")).unwrap(), "new");
}
