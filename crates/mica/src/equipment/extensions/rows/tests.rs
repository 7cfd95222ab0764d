//! What is told of a change, and what is not.

use super::*;

fn row(name: &str, state: State, digest: &str) -> Row {
    Row {
        name: name.to_owned(),
        whose: Whose::User,
        path: PathBuf::from(format!("/x/{name}.ts")),
        description: String::new(),
        state,
        asks: Vec::new(),
        missing: Vec::new(),
        brings: Brings { commands: vec!["a".to_owned()], says: vec!["judges calls"], ..Brings::default() },
        digest: Some(digest.to_owned()),
    }
}

#[test]
fn only_what_changed_is_told() {
    let check = |before: &[Row], now: &[Row], expect: &[&str]| assert_eq!(news(Some(before), now), expect);
    let first = |now: &[Row], expect: &[&str]| assert_eq!(news(None, now), expect);
    let loaded = |name: &str, digest: &str| row(name, State::Loaded, digest);
    first(&[loaded("a", "1")], &[]);
    check(&[], &[loaded("a", "1")], &["extension a is new: judges calls; commands /a"]);
    check(
        &[],
        &[row("a", State::Failed("line 1\nno".to_owned()), "1")],
        &["extension a is not used: line 1\nno"],
    );
    let a = loaded("a", "1");
    check(&[a.clone()], &[a.clone()], &[]);
    check(&[a.clone()], &[loaded("a", "2")], &["extension a changed, and is loaded anew"]);
    check(&[a.clone()], &[a.clone(), loaded("b", "1")], &["extension b is new: judges calls; commands /a"]);
    check(&[a.clone()], &[], &["extension a is gone"]);
    check(&[a.clone()], &[row("a", State::Untrusted, "2")], &["extension a changed, and is untrusted"]);
    let asking =
        Row { asks: vec!["storage".to_owned()], missing: vec!["storage".to_owned()], ..loaded("a", "1") };
    first(&[asking], &["extension a asks for storage, which you have not allowed: `mica ext allow a`"]);
}

#[test]
fn a_list_has_the_state_and_what_to_do_about_it() {
    let rows = [
        row("a", State::Loaded, "1"),
        row("long", State::Failed("bad \u{1b}[31m".to_owned()), "1"),
        Row { brings: Brings::default(), ..row("off", State::Disabled, "1") },
    ];
    let expect = "\
a     loaded     /x/a.ts (user)
      judges calls; commands /a
long  failed     /x/long.ts (user)
      bad \\u{1b}[31m
      judges calls; commands /a
off   disabled   /x/off.ts (user)
      `mica ext enable off` turns it on
";
    assert_eq!(text(&rows), expect);
}
