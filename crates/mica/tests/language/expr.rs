//! `mica expr`.

use serde_json::{Value, json};

use crate::Stage;

const CONTEXT: &str =
    r#"{ "payload": "{\"a\": 5, \"s\": \"x\"}", "vars": { "n": { "type": "int", "value": 2 } } }"#;

fn stage() -> Stage {
    Stage::new(&[("context.json", CONTEXT)])
}

#[track_caller]
fn check(arguments: &[&str], code: i32, out: &str) {
    let ran = stage().run(&[&["expr", "--context", "context.json"], arguments].concat());
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(code), out, ""));
}

#[test]
fn a_value_is_told_with_its_type() {
    check(&["payload.a + vars.n"], 0, "7 (Integer)\n");
    check(&["${payload.a + vars.n}"], 0, "7 (Integer)\n");
    check(&["true ? null : 'a'"], 0, "null: the value is empty\n");
    check(
        &["payload.a", "--format", "json"],
        0,
        "{\"status\":\"ok\",\"string\":\"5\",\"type\":\"JsonPrimitive/Long\",\"message\":null}\n",
    );
}

#[test]
fn a_failure_is_told_with_what_the_runtime_does() {
    check(
        &["payload.a + payload.s"],
        1,
        "evaluation error: Addition between non-numeric values: 5 and x\n   \
         at run time: a warning in the log; the value is empty, and the flow goes on\n",
    );
    check(
        &["payload.a -1"],
        1,
        "no expression: the expression is complete before `-1`: a minus directly before digits belongs to the number: \
         write ` - 1` with blanks on both sides\n 1 | payload.a -1\n   |           ^^\n   try: payload.a  - 1\n",
    );
}

#[test]
fn checking_evaluates_nothing() {
    let ran = stage().run(&["expr", "--check", "payload.x = 5"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("error SYN0315"), "{}", ran.out);
    assert!(ran.out.contains("   try: payload.x == 5\n"), "{}", ran.out);
    assert_eq!(stage().run(&["expr", "--check", "payload.x == 5"]).code, Some(0));
}

#[test]
fn a_batch_answers_line_by_line() {
    let stage = stage();
    let lines = "{\"id\":\"a\",\"expr\":\"payload.a * 2\"}\n\n\"vars.n\"\n{\"id\":3,\"expr\":\"payload.a -1\"}\n{\"id\":4,\"expr\":\"null\"}\n";
    stage.write("batch.jsonl", lines.as_bytes());
    let ran = stage.run(&["expr", "--batch", "batch.jsonl", "--context", "context.json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let results: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let brief: Vec<Value> =
        results.iter().map(|one| json!([one["id"], one["status"], one["string"], one["type"]])).collect();
    assert_eq!(
        brief,
        [
            json!(["a", "ok", "10", "Integer"]),
            json!([3, "ok", "2", "Integer"]),
            json!([3, "syntax_error", null, null]),
            json!([4, "null", "", null]),
        ]
    );
    let ran = stage.run_with(&["expr", "--batch", "-"], &[], "{\"expr\":1}\n\"1\"\nno\n");
    assert_eq!(ran.code, Some(2));
    let statuses: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["status"].clone()).collect();
    assert_eq!(statuses, ["unreadable", "ok", "unreadable"]);
}

#[test]
fn what_cannot_run_is_two() {
    let stage = stage();
    stage.write("wrong.json", b"{\"payloads\": 1}");
    for arguments in [
        &["expr"][..],
        &["expr", "1", "--context", "gone.json"],
        &["expr", "1", "--context", "wrong.json"],
        &["expr", "--batch", "gone.jsonl"],
    ] {
        let ran = stage.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}: {}", ran.err);
        assert!(!ran.err.is_empty());
    }
}

#[test]
fn a_body_may_be_written_as_json() {
    let stage = Stage::new(&[("c.json", "{ \"payload\": { \"a\": [1, 2] } }")]);
    let ran = stage.run(&["expr", "length(payload.a)", "--context", "c.json"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "2 (Integer)\n"), "{}", ran.err);
}
