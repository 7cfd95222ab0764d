use serde_json::json;

use super::*;

fn gave(tool: &str, call: &str, value: Value) -> Gave {
    Gave { tool: tool.to_owned(), call: call.to_owned(), value }
}

#[test]
fn which_of_them() {
    let mut slice = Slice::default();
    for (tool, call, value) in [("a", "1", 10), ("b", "2", 20), ("a", "3", 30)] {
        slice.give(gave(tool, call, json!(value)), false);
    }
    for (tool, which, expected) in [
        ("a", Which::Latest, Some(json!(30))),
        ("a", Which::All, Some(json!([10, 30]))),
        ("a", Which::At(0), Some(json!(10))),
        ("a", Which::At(1), Some(json!(30))),
        ("a", Which::At(2), None),
        ("a", Which::At(-1), Some(json!(30))),
        ("a", Which::At(-2), Some(json!(10))),
        ("a", Which::At(-3), None),
        ("a", Which::At(i64::MIN), None),
        ("c", Which::Latest, None),
        ("c", Which::All, None),
    ] {
        assert_eq!(slice.of_tool(tool, which), expected, "{tool} {which:?}");
    }
    assert_eq!((slice.of_call("2"), slice.of_call("9")), (Some(json!(20)), None));
}

#[test]
fn what_tools_gave_goes_before_variables_and_the_oldest_first() {
    let third = || json!("x".repeat(LIMIT / 3));
    let mut slice = Slice::default();
    slice.give(gave("a", "1", third()), false);
    slice.give(gave("a", "2", third()), false);
    slice.give(gave("a", "3", third()), false);
    assert_eq!(slice.of_call("1"), None);
    assert!(slice.of_call("2").is_some() && slice.of_call("3").is_some());
    slice.apply(Change::Set { name: "v".to_owned(), value: third() });
    assert!(slice.of_call("2").is_none() && slice.of_call("3").is_some());
    slice.give(gave("a", "4", json!("x".repeat(LIMIT))), false);
    assert!(slice.of_call("3").is_none() && slice.of_call("4").is_none(), "what is too large is not there");
    assert_eq!(slice.variable("v"), Some(third()));
}
