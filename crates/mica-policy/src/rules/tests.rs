//! Rules: how they are read, what they fit, which one wins.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn subjects() -> Subjects {
    Subjects::new()
        .below("/home/user/project")
        .path("file_write", "path")
        .path("file_move", "paths")
        .text("say", "words")
        .host("web_fetch", "url")
}

fn judge(rules: &[(Action, &str)], tool: &str, args: &Value) -> Option<String> {
    let mut set = RuleSet::new(subjects());
    for (action, rule) in rules {
        set = set.and(*action, rule).unwrap();
    }
    set.judge(tool, args.as_object().unwrap()).map(|(action, rule)| format!("{action} {rule}"))
}

#[test]
fn what_a_rule_fits() {
    let allow = |rule: &str, tool: &str, args: Value| judge(&[(Action::Allow, rule)], tool, &args).is_some();
    assert!(allow("file_write", "file_write", json!({})));
    assert!(!allow("file_write", "file_writer", json!({})));
    assert!(allow("file_*", "file_read", json!({})));
    assert!(allow("*", "anything", json!({})));
    for (path, fits) in [
        ("src/a.rs", true),
        ("./src/a.rs", true),
        ("src//x/../a.rs", true),
        ("/home/user/project/src/a.rs", true),
        ("src", false),
        ("lib/a.rs", false),
        ("src/../lib/a.rs", false),
        ("src/../../etc/passwd", false),
        ("../src/a.rs", false),
        ("/etc/src/a.rs", false),
        ("/home/user/project-old/src/a.rs", false),
    ] {
        assert_eq!(allow("file_write(src/**)", "file_write", json!({ "path": path })), fits, "{path}");
    }
    for outside in ["/etc/passwd", "/home/user/project-old/a", "/home/user", "..", "../a"] {
        assert!(!allow("file_write(**)", "file_write", json!({ "path": outside })), "{outside}");
    }
    assert!(allow("file_write(/etc/*)", "file_write", json!({ "path": "/etc/passwd" })));
    assert!(allow("file_write(/home/user/project/**)", "file_write", json!({ "path": "a" })));
    assert!(allow("say(hello *)", "say", json!({ "words": "hello you" })));
}

#[test]
fn addresses_are_judged_by_their_host() {
    let url = |url: &str| json!({ "url": url });
    let judged =
        |action, rule: &str, address: &str| judge(&[(action, rule)], "web_fetch", &url(address)).is_some();
    // What a rule cannot tell, it neither allows nor lets pass.
    for (address, allowed, denied) in [
        ("https://docs.rs/tokio", true, true),
        ("https://docs.rs:8443/", false, true),
        ("https://docs.rs@evil.example/", false, false),
        ("https://evil.example/docs.rs", false, false),
        ("no address", false, true),
    ] {
        assert_eq!(judged(Action::Allow, "web_fetch(docs.rs)", address), allowed, "{address}");
        assert_eq!(judged(Action::Deny, "web_fetch(docs.rs)", address), denied, "{address}");
    }
    assert!(judged(Action::Allow, "web_*(*.wso2.com)", "https://mi.docs.wso2.com/en/latest/"));
    let error = RuleSet::new(subjects()).and(Action::Allow, "web_fetch(https://docs.rs/*)").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the rule \"web_fetch(https://docs.rs/*)\" must name a host, such as docs.rs, *.example.org or docs.rs:8443: \
         web_fetch goes by the host alone"
    );
}

#[test]
fn a_project_at_the_root_has_everything() {
    let set =
        RuleSet::new(Subjects::new().below("/").path("t", "path")).and(Action::Allow, "t(etc/*)").unwrap();
    assert!(set.judge("t", json!({ "path": "/etc/passwd" }).as_object().unwrap()).is_some());
    assert!(set.judge("t", json!({ "path": "/usr/passwd" }).as_object().unwrap()).is_none());
}

#[test]
fn lists_fit_as_a_whole_to_be_allowed_and_in_part_to_be_denied() {
    let args = json!({ "paths": ["src/a", "lib/b"] });
    assert_eq!(judge(&[(Action::Allow, "file_move(src/**)")], "file_move", &args), None);
    assert_eq!(
        judge(&[(Action::Deny, "file_move(src/**)")], "file_move", &args).as_deref(),
        Some("deny file_move(src/**)")
    );
}

#[test]
fn what_cannot_be_seen_counts_against_the_call() {
    for (tool, args) in [
        ("file_write", json!({})),
        ("file_write", json!({ "path": 5 })),
        ("file_write", json!({ "path": "../x" })),
        ("file_move", json!({ "paths": [] })),
        ("file_move", json!({ "paths": ["src/a", 1] })),
        ("unknown", json!({ "path": "src/a" })),
    ] {
        assert_eq!(judge(&[(Action::Allow, "*(src/**)")], tool, &args), None, "{tool} {args}");
        for action in [Action::Ask, Action::Deny] {
            assert!(judge(&[(action, "*(src/**)")], tool, &args).is_some(), "{tool} {args}");
        }
    }
}

#[test]
fn no_pattern_of_tools_agrees_to_a_plan() {
    let args = json!({ "plan": "x" });
    for tool in ["exit_plan_mode", "enter_plan_mode"] {
        for pattern in ["*", "*_plan_mode", "exit_plan_mod?", "*(x)"] {
            assert_eq!(judge(&[(Action::Allow, pattern)], tool, &args), None, "{pattern}");
        }
        let denies = judge(&[(Action::Allow, tool), (Action::Deny, "*")], tool, &args);
        assert_eq!(denies.as_deref(), Some("deny *"), "what denies needs no name");
        let named = judge(&[(Action::Allow, "*"), (Action::Allow, tool)], tool, &args);
        assert_eq!(named, Some(format!("allow {tool}")));
    }
}

#[test]
fn texts_that_are_no_rules() {
    for (text, expect) in [
        ("", "the rule is empty; it should look like file_write or file_write(src/**)"),
        ("(src)", "the rule \"(src)\" names no tool before its parentheses; use * for any tool"),
        ("a(b", "the rule \"a(b\" must end with the ) that closes its parentheses"),
        ("a(b) c", "the rule \"a(b) c\" must end with the ) that closes its parentheses"),
        ("a)", "the rule \"a)\" must end with the ) that closes its parentheses"),
        ("a()", "the rule \"a()\" has nothing in its parentheses; leave them out for any argument"),
        (
            "a b",
            "the rule \"a b\" has ' ' in the name of the tool; names have letters, digits, _, -, . and *",
        ),
        (
            "a({b,c})",
            "the rule \"a({b,c})\" cannot be read: '{' has no meaning here: patterns have *, ** and ? only",
        ),
    ] {
        assert_eq!(text.parse::<Rule>().unwrap_err().to_string(), expect, "{text}");
    }
}

proptest! {
    /// The strictest rule that fits wins, in whatever order they are given.
    #[test]
    fn order_means_nothing(
        rules in prop::collection::vec(
            (
                prop::sample::select(vec![Action::Allow, Action::Ask, Action::Deny]),
                prop::sample::select(vec!["*", "file_*", "file_write", "file_write(src/**)", "web_*", "file_write(lib/*)"]),
            ),
            0..6,
        ),
        path in prop::sample::select(vec!["src/a", "lib/a", "x"]),
    ) {
        let args = json!({ "path": path });
        let action = |rules: &[(Action, &str)]| {
            judge(rules, "file_write", &args).map(|text| text.split(' ').next().unwrap().to_owned())
        };
        let alone = rules.iter().filter(|rule| judge(&[**rule], "file_write", &args).is_some());
        let strictest = alone.map(|(action, _)| *action).max().map(|action| action.to_string());
        prop_assert_eq!(action(&rules), strictest.clone());
        let backwards: Vec<_> = rules.iter().rev().copied().collect();
        prop_assert_eq!(action(&backwards), strictest);
    }

    /// Nothing that is read as a rule fits more than its text says: without signs it fits one tool.
    #[test]
    fn any_text_is_read_or_refused(text in "[a-z_*(){}/ .]{0,12}", tool in "[a-z_]{1,6}") {
        if let Ok(rule) = text.parse::<Rule>() {
            prop_assert_eq!(rule.to_string(), text.trim());
            if !text.contains(['*', '?', '(']) {
                prop_assert_eq!(rule.names(&tool), text.trim() == tool);
            }
        }
    }
}
