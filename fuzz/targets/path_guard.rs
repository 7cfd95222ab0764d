//! The path guard: on a small tree with links, no path leads out, no secret is read, and what is resolved is what the
//! system itself finds.

#![no_main]
#![allow(clippy::disallowed_methods, reason = "the tree that is looked at is made here")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mica_tools::{Found, Workspace};

const OUTSIDE: &str = "from outside";
const SECRET: &str = "a secret value";

static TREE: LazyLock<(PathBuf, Workspace)> = LazyLock::new(|| {
    let outer = std::env::temp_dir().join(format!("mica-path-guard-{}", std::process::id()));
    let work = outer.join("w");
    let _ = fs::remove_dir_all(&outer);
    for folder in ["a/b", ".ssh", ".git/hooks", ".mica"] {
        fs::create_dir_all(work.join(folder)).expect("a folder");
    }
    fs::create_dir_all(outer.join("o/a")).expect("a folder");
    for (file, text) in [
        ("o/f", OUTSIDE),
        ("o/a/f", OUTSIDE),
        ("w/f", "in"),
        ("w/a/f", "in"),
        ("w/a/b/f", "in"),
        ("w/.env", SECRET),
        ("w/a/.env.x", SECRET),
        ("w/.ssh/f", SECRET),
        ("w/id_rsa", SECRET),
    ] {
        fs::write(outer.join(file), text).expect("a file");
    }
    for (link, target) in [
        ("l0", "../o"),
        ("l1", "a/b"),
        ("a/l2", ".."),
        ("a/l3", "../../o/f"),
        ("l4", "l4"),
        ("l5", ".ssh"),
        ("a/l6", "../.env"),
        ("l7", "/proc/self/root"),
        ("l8", "missing/../a"),
        ("a/b/l9", "../../../w/a"),
    ] {
        symlink(target, work.join(link)).expect("a link");
    }
    let workspace = Workspace::new(&work).expect("a workspace");
    (fs::canonicalize(&work).expect("a path"), workspace)
});

fuzz_target!(|input: &[u8]| {
    let Ok(given) = std::str::from_utf8(input) else { return };
    let (root, workspace) = &*TREE;
    // Short names for long ones, so that interesting paths are near.
    let given = given.replace('@', &root.display().to_string());
    if let Ok(place) = workspace.resolve(&given) {
        assert!(place.path().starts_with(root), "{given:?} leads to {}", place.path().display());
        let real = fs::canonicalize(root.join(&given));
        if let (Ok(real), true) = (&real, place.found() != Found::Nothing) {
            assert_eq!(*real, place.path(), "{given:?}");
        }
    }
    if let Ok(text) = workspace.text(&given, 1_000) {
        assert_eq!(text.as_deref(), Some("in"), "{given:?}");
    }
    if let Ok(place) = workspace.writable(&given) {
        let path = place.path();
        let below = path.strip_prefix(root).expect("inside").display().to_string();
        let parts: Vec<String> = below.split('/').map(str::to_lowercase).collect();
        for folder in [".ssh", ".git", ".mica"] {
            assert!(!parts.iter().any(|part| part == folder), "{given:?} may be written");
        }
        // Names of files: a folder may be called so, as virtual environments are.
        for file in [".env", "id_rsa"] {
            assert!(parts.last().is_none_or(|last| last != file), "{given:?} may be written");
        }
    }
});
