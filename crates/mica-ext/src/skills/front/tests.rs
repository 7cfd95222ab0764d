//! Tests of front matter as the format wants it and as people write it.

use serde_json::json;

use super::*;

/// What is read of a head, as JSON, whether it was read line by line, and the body.
fn check(text: &str, fields: Value, by_lines: bool, body: &str) {
    let (front, rest) = Front::read(text);
    let read: Value = Value::Object(front.fields.clone().into_iter().collect());
    assert_eq!((read, front.problem.is_some(), rest), (fields, by_lines, body), "{text:?}");
}

#[test]
fn yaml_is_read_as_yaml() {
    check(
        "---\nname: a\ndescription: >-\n  one\n  two\n---\nBody\n",
        json!({"name": "a", "description": "one two"}),
        false,
        "Body\n",
    );
    check(
        "---\nname: 12\ntools: [a, b]\nmetadata:\n  version: 1.0\n---\n",
        json!({"name": 12, "tools": ["a", "b"], "metadata": {"version": 1.0}}),
        false,
        "",
    );
    check("---\n---\nx", json!({}), false, "x");
    check("---\nname: a\n...\nx", json!({"name": "a"}), false, "x");
}

#[test]
fn what_people_write_is_read_too() {
    // A colon in the words.
    check(
        "---\nname: a\ndescription: Make it ready: errors, empty states\ntools:\n  - x\n  - y\nmetadata:\n  by: me: you\n---\nB",
        json!({"name": "a", "description": "Make it ready: errors, empty states", "tools": ["x", "y"], "metadata": {"by": "me: you"}}),
        true,
        "B",
    );
    // Lines of Windows, a mark at the beginning, tabs.
    check(
        "\u{feff}---\r\nName: a\r\ndescription: d\r\n---\r\nB\r\n",
        json!({"name": "a", "description": "d"}),
        false,
        "B\r\n",
    );
    check(
        "---\nname: a\nmetadata:\n\tby: me\n---\n",
        json!({"name": "a", "metadata": {"by": "me"}}),
        false,
        "",
    );
    // Continued, folded and quoted where the rest is broken.
    check(
        "---\ndescription: one: two\n  three\nother: >-\n  four: five\nname: 'a'\n---\n",
        json!({"description": "one: two three", "other": {"four": "five"}, "name": "a"}),
        true,
        "",
    );
}

#[test]
fn the_short_way_gives_what_yaml_gives() {
    let mut taken = 0;
    for value in [
        "words",
        "Two words.",
        "\"quoted: with a colon\"",
        "\"\"",
        "\"a \\n b\"",
        "\"a \"b\"",
        "true",
        "Yes",
        "null",
        "12",
        "1.0",
        "~",
        "a: b",
        "a:b",
        "a #b",
        "a#b",
        "'x'",
        "it's",
        "[a]",
        "{a}",
        "- a",
        "> a",
        "| a",
        "*a",
        "&a",
        "!a",
        "%a",
        "@a",
        "`a`",
        "grün",
        "éa",
        "a\tb",
        "a  b",
        "inf",
        ".nan",
        "0x10",
        "a, b",
        "a [b]",
        "a {b}",
        "a & b",
        "a * b",
        "a! b",
        "Infinity",
        "NaN",
        "NULL",
        "2020-01-01",
    ] {
        let head = format!("name: {value}\ndescription: d\n");
        let Some(short) = plain(&head) else { continue };
        taken += 1;
        let Ok(Value::Object(long)) = serde_saphyr::from_str::<Value>(&head) else {
            panic!("{value:?} is no YAML")
        };
        assert_eq!(Value::Object(short.into_iter().collect()), Value::Object(long), "{value:?}");
    }
    assert!(taken >= 10, "{taken}");
    for head in ["", "a: b\na: c\n", "A: b\n", "a:\n  b: c\n", "- a: b\n", "a: b\n\nc: d\n"] {
        assert_eq!(plain(head), None, "{head:?}");
    }
}

#[test]
fn what_is_no_front_matter_is_the_body() {
    for text in
        ["", "# Title\n---\nname: a\n---\n", "---\nname: a\n", " ---\nname: a\n---\n", "----\na: b\n----\n"]
    {
        check(text, json!({}), false, text);
    }
    let long = format!("---\nname: {}\n---\nB", "a".repeat(LONGEST));
    check(&long, json!({}), false, &long);
}

#[test]
fn fields_by_kind() {
    let (front, _) = Front::read(
        "---\nn: 1.50\nallowed-tools: Bash(git add *) Read, Grep\ntools: [' a ', '', 3]\nhide: 'Yes'\nshow: false\nmap: {a: 1, b: [2]}\n---\n",
    );
    assert_eq!(front.text("n").as_deref(), Some("1.5"));
    assert_eq!(front.text("map"), None);
    assert_eq!(front.list("allowed-tools"), ["Bash(git add *)", "Read", "Grep"]);
    assert_eq!(front.list("tools"), ["a", "3"]);
    assert_eq!(front.list("none"), Vec::<String>::new());
    assert!(front.is_set("hide") && !front.is_set("show") && !front.is_set("none"));
    assert_eq!(front.map("map"), BTreeMap::from([("a".to_owned(), "1".to_owned())]));
}
