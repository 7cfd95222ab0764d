//! Writing files: whole or not at all.

#![allow(clippy::disallowed_methods, reason = "tests prepare files themselves")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::testing::{Desk, cx};

/// Names in the root of the workspace.
fn names(desk: &Desk) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(desk.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_change_keeps_the_mode_and_is_told() {
    let desk = Desk::with(&[("run.sh", b"old")]);
    fs::set_permissions(desk.path("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    let place = desk.workspace.existing("run.sh").unwrap();
    put(&desk.workspace, &place, Some(b"old".to_vec()), b"new", &cx()).unwrap();
    assert_eq!(desk.bytes("run.sh"), b"new");
    assert_eq!(fs::metadata(desk.path("run.sh")).unwrap().permissions().mode() & 0o777, 0o750);
    assert_eq!(names(&desk), ["run.sh"]);
    let changes = desk.journal.changes.lock().unwrap();
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].path, desk.path("run.sh"));
    assert_eq!(changes[0].before, Some(Before { digest: Digest::of(b"old"), bytes: b"old".to_vec() }));
    assert_eq!(changes[0].after, Digest::of(b"new"));
}

#[test]
fn a_file_that_changed_or_appeared_meanwhile_is_kept() {
    let desk = Desk::with(&[("a", b"theirs")]);
    let place = desk.workspace.existing("a").unwrap();
    let changed = put(&desk.workspace, &place, Some(b"old".to_vec()), b"ours", &cx());
    assert!(matches!(changed, Err(FileError::Changed { .. })));
    let appeared = put(&desk.workspace, &place, None, b"ours", &cx());
    assert!(matches!(appeared, Err(FileError::Changed { .. })));
    assert_eq!(desk.bytes("a"), b"theirs");
    assert_eq!(names(&desk), ["a"], "nothing is left behind");
    assert!(desk.journal.changes.lock().unwrap().is_empty());
}

#[test]
fn nothing_is_changed_that_is_not_recorded() {
    let desk = Desk::with(&[("a", b"old")]);
    *desk.journal.refuses.lock().unwrap() = true;
    let place = desk.workspace.existing("a").unwrap();
    let error = put(&desk.workspace, &place, Some(b"old".to_vec()), b"new", &cx()).unwrap_err();
    assert_eq!(
        error.for_model(),
        "a was not changed, because the change could not be recorded: the disk is full. Nothing was written."
    );
    assert_eq!(desk.bytes("a"), b"old");
}

#[test]
fn folders_are_made_and_links_in_between_are_not_followed() {
    let desk = Desk::with(&[]);
    let place = desk.workspace.writable("x/y/z.txt").unwrap();
    put(&desk.workspace, &place, None, b"new", &cx()).unwrap();
    assert_eq!(desk.bytes("x/y/z.txt"), b"new");

    let place = desk.workspace.writable("later/z.txt").unwrap();
    symlink(desk.beside(""), desk.path("later")).unwrap();
    let error = put(&desk.workspace, &place, None, b"new", &cx()).unwrap_err();
    assert!(matches!(error, FileError::Changed { .. }), "{error}");
    assert!(!desk.beside("z.txt").exists());
}

#[test]
fn to_the_disk() {
    let desk = Desk::with(&[]);
    let workspace = desk.workspace.clone().with_durability(Durability::Disk);
    let place = workspace.writable("a").unwrap();
    put(&workspace, &place, None, b"new", &cx()).unwrap();
    assert_eq!(desk.bytes("a"), b"new");
}
