//! What a plan says of hidden places.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

use super::*;

#[test]
fn hidden_places_are_hidden_at_both_ends_of_links_and_named_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    std::fs::create_dir(at("real")).unwrap();
    std::fs::create_dir(at("real/inside")).unwrap();
    symlink("real", at("link")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    let mut boundary = Boundary::open(BTreeMap::new(), Path::new("/tmp"));
    boundary.hidden =
        ["missing", "link", "real", "dangling", "link/inside", "missing"].into_iter().map(at).collect();
    let found: Vec<(PathBuf, bool)> =
        hidden(&boundary).into_iter().map(|(path, there)| (path, there.is_some())).collect();
    let expected = [
        ("dangling", true),
        ("link", true),
        ("link/inside", true),
        ("missing", false),
        ("real", true),
        ("real/inside", true),
    ];
    assert_eq!(found, expected.map(|(name, there)| (at(name), there)));
}

#[test]
fn what_is_replaced_is_not_what_was_seen() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("secrets");
    let mut boundary = Boundary::open(BTreeMap::new(), Path::new("/tmp"));
    boundary.hidden = vec![place.clone()];
    boundary.network = Network::Off;
    let sandbox = Sandbox::unconfined(crate::sandbox::Stub::this_program());
    let look = || plan(&sandbox, folder.path(), &boundary, Reachable::Nothing).unwrap();
    let missing = look();
    assert!(missing == look(), "nothing has changed");
    std::fs::create_dir(&place).unwrap();
    let there = look();
    assert!(missing.1 != there.1, "it came to be");
    // Two are there at a time, so that the new one cannot have the number of the old one.
    std::fs::create_dir(folder.path().join("other")).unwrap();
    std::fs::remove_dir(&place).unwrap();
    std::fs::rename(folder.path().join("other"), &place).unwrap();
    let replaced = look();
    assert!(there.0 == replaced.0 && there.1 != replaced.1, "another one has its name");
}
