//! Conditions are read and hold as their text says.

use super::*;
use crate::model::Model;

/// An element written as lists.
struct Fake {
    attributes: &'static [(&'static str, &'static str)],
    children: &'static [&'static str],
    text: bool,
}

impl Node for Fake {
    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(one, _)| *one == name).map(|(_, value)| *value)
    }
    fn has_child(&self, name: &str) -> bool {
        self.children.contains(&name)
    }
    fn has_any_child(&self) -> bool {
        !self.children.is_empty()
    }
    fn has_text(&self) -> bool {
        self.text
    }
    fn parent(&self) -> Option<&str> {
        Some("sequence")
    }
    fn parent_attribute(&self, name: &str) -> Option<&str> {
        (name == "onError").then_some("Failed")
    }
    fn child_values(&self, child: &str, attribute: &str) -> Vec<Option<&str>> {
        if (child, attribute) == ("property", "name") {
            vec![Some("first"), Some("second")]
        } else {
            Vec::new()
        }
    }
}

#[test]
fn conditions_hold_or_do_not() {
    let log = Model::get().mediator("log").unwrap();
    let node = Fake { attributes: &[("category", "warn"), ("a", "1")], children: &["property"], text: false };
    for (text, expect) in [
        ("@category", true),
        ("not @category", false),
        ("@category = WARN", false),
        ("@category is WARN", true),
        ("@category != WARN", true),
        ("@a in [0, 1]", true),
        ("@a in [0]", false),
        ("@level = simple", true),
        ("@level", false),
        ("property", true),
        ("message", false),
        ("property@name = first", true),
        ("property@name = second", false),
        ("property@value", false),
        ("not property@value and property@name", true),
        ("*", true),
        ("text()", false),
        ("parent is sequence", true),
        ("parent is filter", false),
        ("../@onError = Failed", true),
        ("../@name", false),
        ("message or property and @a = 2", false),
        ("(message or property) and @a = 1", true),
        ("not (message or text()) and not not *", true),
    ] {
        let condition: Condition = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(condition.holds(&node, log), expect, "{text}");
    }
}

#[test]
fn what_is_no_condition_is_refused() {
    for (text, expected) in [
        ("", "a word"),
        ("@a =", "a word"),
        ("@a in 1", "["),
        ("@a in [1", "]"),
        ("(@a", ")"),
        ("@a @b", "and, or, or the end"),
        ("parent was x", "is"),
        ("@", "a name"),
    ] {
        assert_eq!(text.parse::<Condition>().unwrap_err().expected, expected, "{text}");
    }
}
