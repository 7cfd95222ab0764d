//! Where paths lead.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::testing::Desk;

fn desk() -> Desk {
    let desk = Desk::with(&[("src/main.rs", b"fn main() {}\n"), ("a b/ü.txt", b"x")]);
    symlink("src/main.rs", desk.path("link.rs")).unwrap();
    symlink(desk.beside("secret"), desk.path("leak")).unwrap();
    symlink("..", desk.path("up")).unwrap();
    symlink("loop-b", desk.path("loop-a")).unwrap();
    symlink("loop-a", desk.path("loop-b")).unwrap();
    symlink("src/new.rs", desk.path("dangling")).unwrap();
    desk
}

#[test]
fn what_is_inside() {
    let desk = desk();
    let root = desk.workspace.root().display().to_string();
    for (given, shown, found) in [
        ("src/main.rs", "src/main.rs", Found::File),
        ("./src//main.rs", "src/main.rs", Found::File),
        ("src/../src/main.rs", "src/main.rs", Found::File),
        (&format!("{root}/src/main.rs"), "src/main.rs", Found::File),
        (".", ".", Found::Folder),
        ("src/", "src", Found::Folder),
        ("link.rs", "src/main.rs", Found::File),
        ("dangling", "src/new.rs", Found::Nothing),
        ("new/deep/file.rs", "new/deep/file.rs", Found::Nothing),
        ("new/../other", "other", Found::Nothing),
        ("../work/src/main.rs", "src/main.rs", Found::File),
        ("up/work/src/main.rs", "src/main.rs", Found::File),
        ("a b/ü.txt", "a b/ü.txt", Found::File),
        ("~file", "~file", Found::Nothing),
    ] {
        let place = desk.workspace.resolve(given).unwrap_or_else(|error| panic!("{given}: {error}"));
        assert_eq!((place.shown().as_str(), place.found()), (shown, found), "{given}");
    }
}

#[test]
fn what_is_not() {
    let desk = desk();
    for (given, kind) in [
        ("", "bad"),
        ("a\0b", "bad"),
        ("~", "bad"),
        ("~/x", "bad"),
        ("..", "outside"),
        ("../secret", "outside"),
        ("src/../../secret", "outside"),
        ("/etc/passwd", "outside"),
        ("/etc/passwd/x", "outside"),
        ("/proc/self/root/etc/passwd", "outside"),
        ("/no/such/thing", "outside"),
        ("leak", "outside"),
        ("up/secret", "outside"),
        ("loop-a", "links"),
        ("src/main.rs/x", "not a folder"),
        ("src/main.rs/", "not a folder"),
    ] {
        let error = desk.workspace.resolve(given).expect_err(given);
        let found = match error {
            FileError::BadPath { .. } => "bad",
            FileError::Outside { .. } => "outside",
            FileError::Links { .. } => "links",
            FileError::NotAFolder { .. } => "not a folder",
            _ => "other",
        };
        assert_eq!(found, kind, "{given}: {error}");
    }
    let told = desk.workspace.resolve("../secret").unwrap_err().for_model();
    let root = desk.workspace.root().display();
    assert_eq!(
        told,
        format!(
            "\"../secret\" is outside of the workspace, so it was not touched. Allowed are paths inside {root}, relative \
             or absolute; symbolic links that lead out of it are not followed."
        )
    );
}

#[test]
fn a_readable_folder_is_not_writable() {
    let desk = desk();
    let path = desk.beside("spill/out.txt").display().to_string();
    let place = desk.workspace.resolve(&path).unwrap();
    assert_eq!((place.shown(), place.found()), (path.clone(), Found::Nothing));
    assert!(matches!(desk.workspace.writable(&path), Err(FileError::ReadOnly { .. })));
}

#[test]
fn a_readable_folder_inside_stays_readable() {
    let desk = Desk::with(&[("spill/x", b"1"), ("y", b"2")]);
    let workspace = desk.workspace.clone().with_readable(desk.path("spill")).unwrap();
    assert!(matches!(workspace.writable("spill/x"), Err(FileError::ReadOnly { .. })));
    assert!(workspace.writable("y").is_ok());
    let same = desk.workspace.clone().with_readable(desk.path("")).unwrap();
    assert!(same.writable("y").is_ok());
}

/// Some way to write a path, and some links to trip over.
fn steps() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(
        prop_oneof![
            "[ab]{1}",
            Just("..".to_owned()),
            Just(".".to_owned()),
            "l[0-3]{1}".prop_map(String::from)
        ],
        1..8,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the tree and the path: what is resolved is inside, and is what the system itself would find.
    #[test]
    fn nothing_escapes(links in prop::collection::vec((steps(), any::<bool>()), 4), path in steps()) {
        let desk = Desk::with(&[("a/a/f", b"1"), ("a/b/f", b"2"), ("b/a/f", b"3")]);
        for (index, (target, absolute)) in links.iter().enumerate() {
            let target = target.join("/");
            let target = if *absolute { desk.path(&target) } else { PathBuf::from(target) };
            let folder = ["", "a", "a/b", "b"][index];
            symlink(target, desk.path(folder).join(format!("l{index}"))).unwrap();
        }
        let given = path.join("/");
        if let Ok(place) = desk.workspace.resolve(&given) {
            prop_assert!(place.path().starts_with(desk.workspace.root()));
            prop_assert!(!place.relative.components().any(|step| step.as_os_str() == ".."));
            if let Ok(real) = std::fs::canonicalize(desk.path(&given)) {
                prop_assert_eq!(real, place.path());
            }
        } else if let Ok(real) = std::fs::canonicalize(desk.path(&given)) {
            prop_assert!(!real.starts_with(desk.workspace.root()), "{} was refused", Path::new(&given).display());
        }
    }
}

#[test]
fn a_readable_folder_may_come_later_and_is_never_a_link() {
    let desk = desk();
    let later = desk.beside("sessions/one.spill");
    let workspace = desk.workspace.clone().with_readable(&later).unwrap();
    let file = later.join("a.txt").display().to_string();
    assert_eq!(workspace.resolve(&file).unwrap().found(), Found::Nothing);
    std::fs::create_dir_all(&later).unwrap();
    std::fs::File::create(later.join("a.txt")).unwrap();
    let place = workspace.resolve(&file).unwrap();
    assert_eq!((place.found(), place.reach), (Found::File, Reach::Read));
    let around = desk.path("../sessions/three.spill");
    desk.workspace.clone().with_readable(around).unwrap();
    // Somebody puts a link where the folder was to be.
    let linked = desk.beside("sessions/two.spill");
    let workspace = desk.workspace.clone().with_readable(&linked).unwrap();
    symlink(desk.beside(""), &linked).unwrap();
    let leak = workspace.resolve(&linked.join("secret").display().to_string());
    assert!(matches!(leak, Err(FileError::Outside { .. })));
    for bad in ["spill", "/nowhere/../spill"] {
        assert!(matches!(desk.workspace.clone().with_readable(bad), Err(FileError::BadPath { .. })), "{bad}");
    }
    let file = desk.beside("secret");
    assert!(desk.workspace.clone().with_readable(file).is_err());
}

#[test]
fn a_writable_folder_beside_is_written_and_shown_by_its_whole_path() {
    let desk = desk();
    let plans = desk.beside("one.plans");
    let workspace = desk.workspace.clone().with_writable(&plans).unwrap();
    let path = plans.join("a.md").display().to_string();
    let place = workspace.writable(&path).unwrap();
    assert_eq!((place.shown(), place.found(), place.reach), (path, Found::Nothing, Reach::Beside));
    for outside in ["one.plans/../secret", "two.plans/a.md", "one.plansx/a.md"] {
        let path = desk.beside("").join(outside).display().to_string();
        assert!(matches!(workspace.writable(&path), Err(FileError::Outside { .. })), "{outside}");
    }
    // Somebody puts a link where the folder was to be.
    symlink(desk.beside(""), &plans).unwrap();
    let leak = workspace.writable(&plans.join("secret").display().to_string());
    assert!(matches!(leak, Err(FileError::Outside { .. })));
}
