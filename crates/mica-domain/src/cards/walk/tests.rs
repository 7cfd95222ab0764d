//! Which shapes are things and which only look alike, and that a walk has an end.

use mica_agent::ToolOutput;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::cards::fixture;

/// What is found in a value, as `thing id`.
fn found(value: &Value) -> Vec<String> {
    let things = walk(&fixture::ready().probes, value);
    things.iter().map(|found| format!("{} {}", found.thing, found.id)).collect()
}

#[test]
fn what_is_found() {
    let record = json!({ "recordId": "companies:abc", "name": "ACME" });
    let thread = json!({ "id": "t1", "subject": "Hello", "lastMessageAt": "2026-11-15T20:00:00Z" });
    let task = json!({ "id": "7", "title": "Call", "status": "open" });
    for (case, value, expected) in [
        ("alone", record.clone(), vec!["record companies:abc"]),
        ("in a list", json!([record, thread]), vec!["record companies:abc", "thread t1"]),
        ("in a container", json!({ "results": [record] }), vec!["record companies:abc"]),
        (
            "in a container nobody heard of",
            json!({ "hits": { "page": [record] } }),
            vec!["record companies:abc"],
        ),
        ("twice", json!([record, record]), vec!["record companies:abc"]),
        (
            "inside another",
            json!({ "recordId": "contacts:x", "name": "Ada", "company": record }),
            vec!["record contacts:x", "record companies:abc"],
        ),
        ("a task under its key", json!({ "tasks": [task] }), vec!["task 7"]),
        ("a task under its key, deeper", json!({ "tasks": [[task]] }), vec!["task 7"]),
        ("a number as id", json!({ "taskId": 12, "title": "Call" }), vec!["task 12"]),
        (
            "the first id that is there",
            json!({ "recordId": null, "id": "contacts:x", "name": "Ada" }),
            vec!["record contacts:x"],
        ),
        ("a draft", json!({ "id": "d1", "subject": "Re", "to": ["a@b"], "kind": "reply" }), vec!["draft d1"]),
        (
            "a date alone",
            json!({ "id": "t1", "subject": "Hello", "lastMessageAt": "2026-11-15" }),
            vec!["thread t1"],
        ),
    ] {
        assert_eq!(found(&value), expected, "{case}");
    }
}

#[test]
fn what_is_not_found() {
    for (case, value) in [
        ("an id and a title are no task", json!({ "id": "1", "title": "A book" })),
        ("nor in results", json!({ "results": [{ "id": "1", "title": "A book" }] })),
        (
            "nor with a status of something else",
            json!({ "tasks": [{ "id": "1", "title": "A", "status": "shipped" }] }),
        ),
        (
            "nor where a forbidden key is",
            json!({ "tasks": [{ "id": "1", "title": "A", "status": "open", "slug": "a" }] }),
        ),
        ("nor under another key", json!({ "articles": [{ "id": "1", "title": "A", "status": "open" }] })),
        (
            "nor beside the key",
            json!({ "tasks": [], "other": { "id": "1", "title": "A", "status": "open" } }),
        ),
        ("a record without a name", json!({ "recordId": "companies:abc" })),
        ("an empty name", json!({ "recordId": "companies:abc", "name": "  " })),
        ("no name but null", json!({ "recordId": "companies:abc", "name": null })),
        ("a kind nobody knows", json!({ "recordId": "planets:abc", "name": "Mars" })),
        ("two colons", json!({ "recordId": "companies:a:b", "name": "ACME" })),
        ("no id behind the colon", json!({ "recordId": "companies:", "name": "ACME" })),
        ("a web address", json!({ "id": "https://example.org", "name": "ACME" })),
        ("a time of day", json!({ "id": "12:30", "name": "Lunch" })),
        ("a space in the id", json!({ "recordId": "companies:a b", "name": "ACME" })),
        ("a list as id", json!({ "recordId": ["companies:abc"], "name": "ACME" })),
        ("an object as id", json!({ "taskId": { "$oid": "1" }, "title": "A" })),
        ("a fraction as id", json!({ "taskId": 1.5, "title": "A" })),
        ("yes as id", json!({ "taskId": true, "title": "A" })),
        ("a message is no thread", json!({ "id": "m1", "subject": "Hello", "body": "…" })),
        (
            "nor with a time that is none",
            json!({ "id": "m1", "subject": "Hello", "lastMessageAt": "yesterday" }),
        ),
        ("nor with a number", json!({ "id": "m1", "subject": "Hello", "lastMessageAt": 5 })),
        ("a draft of another kind", json!({ "id": "d1", "subject": "Re", "to": ["a"], "kind": "memo" })),
        ("a draft to no list", json!({ "id": "d1", "subject": "Re", "to": "a@b" })),
        ("a member", json!({ "id": "u1", "name": "Ada", "email": "ada@example.org" })),
        ("a file", json!({ "id": "f1", "name": "a.txt", "size": 3 })),
        ("an error", json!({ "id": "e1", "title": "Not found", "status": 404 })),
        ("a tag", json!({ "id": "urgent", "label": "Urgent" })),
        ("an event", json!({ "id": "ev1", "title": "Launch", "start": "2026-11-15" })),
        ("text", json!("companies:abc")),
        ("a list of ids", json!({ "ids": ["companies:abc", "contacts:x"] })),
        ("a text that is JSON", json!({ "text": "{\"recordId\":\"companies:abc\",\"name\":\"ACME\"}" })),
        ("nothing", json!(null)),
    ] {
        assert_eq!(found(&value), Vec::<String>::new(), "{case}");
    }
}

#[test]
fn what_a_snapshot_has() {
    let long = "x".repeat(2000);
    let value = json!([
        { "recordId": "companies:a", "name": long, "fields": { "stage": "lead" }, "secret": { "deep": [1, [2, [3, [4]]]] }, "extra": 1 },
        { "recordId": "companies:b", "name": "B", "stage": "customer", "secret": vec![1; 100] },
        { "id": "t1", "subject": "S", "lastMessageAt": "2026-11-15", "from": "ada@example.org" },
        { "id": "t2", "subject": "S", "lastMessageAt": "2026-11-15", "from": { "name": "Ada" } },
    ]);
    let fields: Vec<Value> =
        walk(&fixture::ready().probes, &value).into_iter().map(|found| Value::Object(found.fields)).collect();
    assert_eq!(
        fields,
        [
            json!({ "name": format!("{}…", "x".repeat(500)), "stage": "lead" }),
            json!({ "name": "B", "stage": "customer" }),
            json!({ "subject": "S", "at": "2026-11-15", "sender": "ada@example.org" }),
            json!({ "subject": "S", "at": "2026-11-15", "sender": "Ada" }),
        ]
    );
}

#[test]
fn details_count_before_text() {
    let record = |id: &str| json!({ "recordId": id, "name": "X" });
    let ids =
        |output: &ToolOutput| -> Vec<String> { data(output).iter().flat_map(|value| found(value)).collect() };
    let text = ToolOutput::text(record("companies:text").to_string());
    assert_eq!(ids(&text), ["record companies:text"]);
    assert_eq!(ids(&text.with_details(record("companies:details"))), ["record companies:details"]);
    assert_eq!(ids(&ToolOutput::text(format!("Found: {}", record("companies:a")))), Vec::<String>::new());
    assert_eq!(ids(&ToolOutput::text("[1, 2")), Vec::<String>::new());
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(ids(&ToolOutput::text(deep)), Vec::<String>::new());
}

#[test]
fn a_walk_has_an_end() {
    let record = |id: usize| json!({ "recordId": format!("companies:{id}"), "name": "X" });
    let many: Value = (0..2 * THINGS).map(record).collect();
    assert_eq!(found(&many).len(), THINGS);
    let nothing = json!({ "noise": vec![json!([0, 0, 0]); VALUES], "zzz": record(1) });
    assert_eq!(found(&nothing), Vec::<String>::new());
    for (depth, expected) in [(DEPTH, 1), (DEPTH + 1, 0)] {
        let mut value = record(1);
        for _ in 0..depth {
            value = json!([value]);
        }
        assert_eq!(found(&value).len(), expected, "{depth}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z]{0,6}|companies:[a-z]{1,3}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("recordId".to_owned()),
        Just("id".to_owned()),
        Just("name".to_owned()),
        Just("tasks".to_owned()),
        "[a-z]{1,4}"
    ];
    leaf.prop_recursive(12, 400, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Whatever it is given, what is found has ids that are short and is no more than there can be.
    #[test]
    fn anything_can_be_walked(value in any_json()) {
        for found in walk(&fixture::ready().probes, &value) {
            prop_assert!(found.id.len() <= 200 && !found.id.is_empty());
            prop_assert!(!found.fields.is_empty());
        }
    }

    /// What is beyond the bounds changes nothing: the same is found whatever stands behind them.
    #[test]
    fn what_is_out_of_bounds_is_not_looked_at(noise in any_json()) {
        let mut buried = noise;
        for _ in 0..=DEPTH {
            buried = json!([buried]);
        }
        prop_assert_eq!(found(&buried), Vec::<String>::new());
    }
}

#[test]
fn values_are_counted_not_timed() {
    let ready = fixture::ready();
    for (count, left) in [(10, VALUES - 1 - 10 * 4), (VALUES, 0)] {
        let wide: Value = (0..count).map(|at| json!({ "id": at, "x": [at] })).collect();
        let mut walk = Walk { probes: &ready.probes, given: &[], left: VALUES, found: Vec::new() };
        walk.look(&wide, None, DEPTH);
        assert_eq!(walk.left, left);
    }
}
