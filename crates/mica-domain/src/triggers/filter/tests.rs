//! Conditions: which can be judged, and what they come to.

use serde_json::json;

use super::*;

fn kinds() -> EventKinds {
    EventKinds::default().with(
        "thread.created",
        [
            ("subject", FieldKind::Text),
            ("messages", FieldKind::Number),
            ("vip", FieldKind::Bool),
            ("at", FieldKind::Time),
        ],
    )
}

#[test]
fn judged_by_type() {
    let event =
        json!({ "subject": "Refund please", "messages": 3, "vip": false, "at": "2026-03-01T12:00:00Z" });
    let event: Fields = serde_json::from_value(event).unwrap();
    let cases = [
        (json!({ "field": "subject", "is": "Refund please" }), true),
        (json!({ "field": "subject", "is": "refund please" }), false),
        (json!({ "field": "subject", "contains": "REFUND" }), true),
        (json!({ "field": "subject", "not": "Hello" }), true),
        (json!({ "field": "messages", "one_of": [1, 3.0] }), true),
        (json!({ "field": "messages", "at_least": 4 }), false),
        (json!({ "field": "messages", "at_most": 3 }), true),
        (json!({ "field": "vip", "is": false }), true),
        (json!({ "field": "vip", "exists": true }), true),
        (json!({ "field": "at", "is": "2026-03-01T13:00:00+01:00" }), true),
        (json!({ "field": "at", "at_least": "2026-03-01T12:00:01Z" }), false),
    ];
    let kinds = kinds();
    let fields = kinds.fields("thread.created").unwrap();
    for (condition, expected) in cases {
        let condition: Condition = serde_json::from_value(condition).unwrap();
        condition.check(fields).unwrap();
        assert_eq!(condition.holds(&event), expected, "{condition:?}");
        let mut absent = event.clone();
        absent.remove(&condition.field);
        assert!(!condition.holds(&absent), "{condition:?} of nothing");
    }
    let absent = Condition { field: "vip".to_owned(), exists: Some(false), ..Condition::default() };
    assert!(absent.holds(&Fields::new()) && !absent.holds(&event));
}

#[test]
fn what_can_never_be_judged_is_said() {
    let cases = [
        (
            json!({ "field": "subjekt", "is": "x" }),
            "there is no field \"subjekt\"; there are: at, messages, subject, vip",
        ),
        (
            json!({ "field": "vip" }),
            "say exactly one of is, not, one_of, at_least, at_most, contains or exists for \"vip\"",
        ),
        (
            json!({ "field": "vip", "is": true, "exists": true }),
            "say exactly one of is, not, one_of, at_least, at_most, contains or exists for \"vip\"",
        ),
        (
            json!({ "field": "messages", "is": "three" }),
            "\"messages\" is a number, and can never be \"three\"",
        ),
        (
            json!({ "field": "subject", "at_least": "a" }),
            "\"subject\" is a text: there is no more or less of it",
        ),
        (json!({ "field": "vip", "contains": "t" }), "\"vip\" is true or false: nothing is contained in it"),
        (
            json!({ "field": "at", "at_most": "tomorrow" }),
            "\"at\" is a moment such as \"2026-03-01T12:00:00Z\", and can never be \"tomorrow\"",
        ),
    ];
    let kinds = kinds();
    for (condition, problem) in cases {
        let condition: Condition = serde_json::from_value(condition).unwrap();
        assert_eq!(condition.check(kinds.fields("thread.created").unwrap()).unwrap_err(), problem);
    }
    let event: Fields = serde_json::from_value(json!({ "messages": "3", "other": [] })).unwrap();
    assert_eq!(
        kinds.check("thread.created", &event).unwrap_err(),
        "the field messages of thread.created must be a number, not \"3\""
    );
    assert_eq!(
        kinds.check("thread.creatd", &event).unwrap_err(),
        "there is no event \"thread.creatd\"; there are: thread.created"
    );
}
