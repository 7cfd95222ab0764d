//! What a person types, and what comes of it.

#![allow(clippy::disallowed_methods, reason = "tests put files where they want them")]

use super::*;

fn check(typed: &str, expect: State, shown: &[&str]) {
    let home = tempfile::tempdir().unwrap();
    let surroundings = Surroundings {
        variables: std::collections::BTreeMap::new(),
        folder: home.path().join("project"),
        config: home.path().join("config"),
        data: home.path().join("data"),
        stdin_is_terminal: true,
        columns: 80,
    };
    std::fs::create_dir_all(surroundings.folder.join(".mica")).unwrap();
    std::fs::write(surroundings.folder.join(".mica/config.toml"), "mode = \"ask\"\n").unwrap();
    let mut out = Vec::new();
    ask_about_project(&surroundings, &mut typed.as_bytes(), &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("\n  settings .mica/config.toml (13 bytes): "), "{out}");
    for shown in shown {
        assert!(out.contains(shown), "{typed:?}: {out}");
    }
    let parts = project::parts(&surroundings.folder).0;
    assert_eq!(parts[0].state(&surroundings), expect, "{typed:?}: {out}");
    // Whoever said something is not asked again.
    let mut again = Vec::new();
    ask_about_project(&surroundings, &mut "".as_bytes(), &mut again).unwrap();
    assert_eq!(again.is_empty(), expect != State::New, "{typed:?}");
}

#[test]
fn only_a_yes_trusts() {
    check("y\n", State::Trusted, &[]);
    check("\nYes\n", State::Trusted, &[]);
    check("n\n", State::Declined, &["not used"]);
    check("what?\ns\nno\n", State::Declined, &["    mode = \"ask\"\n"]);
    check("", State::New, &[]);
    check("show\n", State::New, &["    mode = \"ask\"\n"]);
}
