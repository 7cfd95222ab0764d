//! Kinds of values are read from their short texts and take what they should.

use super::*;

#[test]
fn kinds_of_values_take_what_the_runtime_takes() {
    for (kind, text, expect) in [
        ("choice simple full", "full", true),
        ("choice simple full", "FULL", false),
        ("choice simple full", " full", false),
        ("choice-any-case INFO WARN", "warn", true),
        ("choice-any-case INFO WARN", "loud", false),
        ("integer", "12", true),
        ("integer", "1.5", false),
        ("integer", "99999999999", false),
        ("integer 0..", "-1", false),
        ("integer 1..65535", "65535", true),
        ("integer 1..65535", "65536", false),
        ("long", "99999999999", true),
        ("number", "1.5", true),
        ("number", "1,5", false),
        ("boolean", "yes", true),
        ("boolean closed", "TRUE", true),
        ("boolean closed", "yes", false),
        ("boolean explicit", "Yes", true),
        ("boolean explicit", "on", false),
        ("words GET POST", "GET POST", true),
        ("words GET POST", " GET ", true),
        ("words GET POST", "GET GET", false),
        ("words GET POST", "GET,POST", false),
        ("words GET POST", "GET  POST", false),
        ("words GET POST", "get", false),
        ("path", "/a", true),
        ("path", "a", false),
        ("numbers", "101500, 101501", true),
        ("numbers", "101500 101501,", true),
        ("numbers", "101500;101501", false),
        ("suggest a b", "c", true),
    ] {
        let kind: ValueType = kind.parse().unwrap();
        assert_eq!(kind.takes(text), expect, "{kind:?} {text:?}");
    }
}

#[test]
fn what_names_no_kind_is_refused() {
    for text in ["", "choice", "integer 1..x", "boolean maybe", "text long", "date"] {
        assert_eq!(text.parse::<ValueType>(), Err(NotAValueType(text.to_owned())));
    }
}
