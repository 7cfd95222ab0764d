//! What is trusted, and what a change of it does.

use super::*;

const TOOL: Kind = Kind { word: "tool", does: "does something" };
const HOOK: Kind = Kind { word: "hook", does: "does something else" };

fn surroundings(home: &Path) -> Surroundings {
    Surroundings {
        variables: std::collections::BTreeMap::new(),
        folder: home.join("project"),
        config: home.join("config"),
        data: home.join("data"),
        stdin_is_terminal: false,
        columns: 80,
    }
}

fn folder(files: &[(&str, &str)]) -> Part {
    let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
    Part::folder(TOOL, "x", files)
}

#[test]
fn trust_is_for_a_kind_and_all_bytes_and_names() {
    let same = Part::file(TOOL, "elsewhere", "text");
    assert_eq!(Part::file(TOOL, "x", "text").digest(), same.digest(), "a project may be moved");
    let all = [
        same,
        Part::file(HOOK, "x", "text"),
        Part::file(TOOL, "x", "text "),
        Part::file(SETTINGS, "x", "text"),
        Part::file(TOOL, "x", "text").asking(vec!["exec".to_owned()]),
        Part::file(TOOL, "x", "text").asking(vec!["exec:git".to_owned()]),
        folder(&[("a", "text")]),
        folder(&[("a", "te"), ("b", "xt")]),
        folder(&[("a", "tex"), ("b", "t")]),
        folder(&[("ab", "te"), ("", "xt")]),
    ];
    let digests: std::collections::BTreeSet<&str> = all.iter().map(Part::digest).collect();
    assert_eq!(digests.len(), all.len());
    assert_eq!(folder(&[("a", "1"), ("b", "2")]).digest(), folder(&[("b", "2"), ("a", "1")]).digest());
}

#[test]
fn settings_that_were_trusted_before_there_were_kinds_still_are() {
    // The digest of the bytes alone, as it was written then.
    let before = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1";
    assert_eq!(Part::file(SETTINGS, "x", "text").digest(), before);
}

#[test]
fn what_was_said_is_kept_until_something_else_is() {
    let home = tempfile::tempdir().unwrap();
    let surroundings = surroundings(home.path());
    let part = Part::file(TOOL, "x", "text");
    assert_eq!(part.state(&surroundings), State::New);
    part.decline(&surroundings).unwrap();
    assert_eq!(part.state(&surroundings), State::Declined);
    part.trust(&surroundings).unwrap();
    assert_eq!(part.state(&surroundings), State::Trusted);
    assert_eq!(Part::file(TOOL, "x", "other").state(&surroundings), State::New);
    assert!(part.revoke(&surroundings).unwrap());
    assert!(!part.revoke(&surroundings).unwrap());
    assert_eq!(part.state(&surroundings), State::New);
}

#[test]
fn a_part_says_what_it_is_where_and_how_large() {
    let part = Part::file(TOOL, "/p/.mica/a.ts", "text").asking(vec!["exec:git".to_owned()]);
    assert_eq!(part.line(Path::new("/p")), "tool .mica/a.ts (4 bytes; asks for exec:git)");
    let part = folder(&[("b", "2\n"), ("a", "1")]);
    assert_eq!(part.line(Path::new("/p")), "tool x (2 files, 3 bytes)");
    assert_eq!(part.text, "--- a\n1\n--- b\n2\n");
}
