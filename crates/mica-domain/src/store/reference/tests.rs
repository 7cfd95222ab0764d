use proptest::prelude::*;

use super::*;

#[test]
fn what_references_mean() {
    let path = |text: &str| Path::parse(text).unwrap();
    for (text, source, rest) in [
        ("var:plan", Source::Var("plan".to_owned()), ""),
        ("var:plan.steps[0].label", Source::Var("plan".to_owned()), "steps[0].label"),
        ("tool:search", Source::Tool("search".to_owned(), Which::Latest), ""),
        ("tool:search.items[1]", Source::Tool("search".to_owned(), Which::Latest), "items[1]"),
        ("tool:search[]", Source::Tool("search".to_owned(), Which::All), ""),
        ("tool:search[][*].id", Source::Tool("search".to_owned(), Which::All), "[*].id"),
        ("tool:search[-1][0]", Source::Tool("search".to_owned(), Which::At(-1)), "[0]"),
        ("call:toolu_01-x.items", Source::Call("toolu_01-x".to_owned()), "items"),
        ("sys:user.email", Source::Sys(Sys::User), "email"),
        ("sys:now", Source::Sys(Sys::Now), ""),
        ("contact.email", Source::Field("contact".to_owned()), "email"),
    ] {
        let parsed = Reference::parse(text).unwrap();
        assert_eq!(parsed, Reference { source, path: path(rest) }, "{text}");
        assert_eq!(parsed.to_string(), text);
    }
}

#[test]
fn mistakes_say_where_they_are() {
    for (text, column, problem) in [
        ("", 0, "var:, tool:, call:, sys: or the name of a field is expected, not the end"),
        ("var:", 4, "the name of a variable is expected, not the end"),
        ("var:1", 4, "the name of a variable is expected, not '1'"),
        (
            "tool:search[*]",
            11,
            "behind a tool, the number of a call or nothing is expected between the brackets",
        ),
        ("tool:search[x]", 12, "a number, a text or \"*\" is expected"),
        ("call:", 5, "the id of a call is expected"),
        ("sys:users", 4, "one of user, org, agent, now is expected"),
        ("vars:x", 4, "there is no vars: — use var:, tool:, call:, sys: or the name of a field"),
        ("var:a b", 5, "\".\" or \"[\" is expected, not ' '"),
    ] {
        let misread = Reference::parse(text).unwrap_err();
        assert_eq!((misread.column, misread.problem.as_str()), (column, problem), "{text}");
    }
}

proptest! {
    #[test]
    fn anything_parses_or_says_where_it_does_not(text in "(var:|tool:|call:|sys:|)[a-c.\\[\\]*\"0-9 -]{0,20}|\\PC{0,40}") {
        match Reference::parse(&text) {
            Ok(parsed) => prop_assert_eq!(Reference::parse(&parsed.to_string()).unwrap(), parsed),
            Err(misread) => prop_assert!(misread.column <= text.chars().count()),
        }
    }
}
