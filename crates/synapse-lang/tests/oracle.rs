//! Recorded answers of the runtime's own engine, compared with ours.
//!
//! The recordings are no part of the project. Their folder is named by the environment variable `MICA_ORACLES`; without
//! it these tests say so and pass.

#![allow(clippy::print_stdout, reason = "a table of results is what these tests are for")]
#![allow(clippy::disallowed_methods, reason = "where recordings lie is told by the environment")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a recording that cannot be read fails the test")]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use synapse_lang::expr::{self, Context, Status};

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("MICA_ORACLES").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: MICA_ORACLES does not name a folder of recordings");
    }
    folder
}

fn lines(folder: &std::path::Path, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join(name)).expect(name);
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn context(value: Value) -> Context {
    serde_json::from_value(value).expect("a context")
}

#[test]
fn the_recorded_answers_of_the_engine() {
    let Some(folder) = folder() else { return };
    let text = std::fs::read_to_string(folder.join("expr_engine_context.json")).expect("the context");
    let context = context(serde_json::from_str(&text).expect("the context"));
    let mut table: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in lines(&folder, "expr_engine_cases.jsonl") {
        let category = case["cat"].as_str().unwrap_or_default();
        let text = case["expr"].as_str().unwrap_or_default();
        let answer = expr::evaluate_text(text, &context);
        let expected = (
            case["status"].as_str().unwrap_or_default(),
            case["string"].as_str().unwrap_or_default(),
            case["type"].as_str(),
        );
        let found = (answer.status.word(), answer.string.as_str(), answer.kind);
        let row = table.entry(category.to_owned()).or_default();
        row.1 += 1;
        if expected == found {
            row.0 += 1;
        } else {
            wrong.push(format!(
                "{category}: {text}\n   expected {expected:?} {}\n   found    {found:?} {:?}",
                case["message"], answer.message
            ));
        }
    }
    for line in &wrong {
        println!("{line}");
    }
    let (right, all) = table.values().fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
    for (category, (right, all)) in &table {
        println!("{category:<20} {right:>5} of {all:>5}");
    }
    println!("{:<20} {right:>5} of {all:>5}", "all");
    for (category, (right, all)) in &table {
        let floor = if matches!(category.as_str(), "syntax" | "ternary" | "arity") {
            *all
        } else {
            all.saturating_sub(all / 100)
        };
        assert!(*right >= floor, "{category}: {right} of {all}");
    }
}

/// The context of a case of the runtime's own unit tests.
fn own_context(case: &Value) -> Context {
    let texts = |map: &Value| {
        let entries = map.as_object().into_iter().flatten();
        let kept = entries.filter_map(|(name, value)| value.as_str().map(|text| (name.clone(), json!(text))));
        Value::Object(kept.collect())
    };
    let or_empty = |value: &Value| if value.is_null() { json!({}) } else { value.clone() };
    let payload = match &case["payload"] {
        Value::Null => Value::Null,
        Value::String(text) => json!(text),
        other => json!(other.to_string()),
    };
    context(json!({
        "payload": payload,
        "vars": or_empty(&case["vars"]),
        "headers": texts(&case["headers"]),
        "syn": texts(&case["properties"]["synapse"]),
        "ax": texts(&case["properties"]["axis2"]),
        "namespaces": or_empty(&case["namespaces"]),
        "now": 1_700_000_000_000_i64,
    }))
}

#[test]
fn the_unit_tests_of_the_runtime() {
    let Some(folder) = folder() else { return };
    let mut wrong = Vec::new();
    let mut right = 0;
    for case in lines(&folder, "expr_cases.jsonl") {
        let text = case["expr"].as_str().unwrap_or_default();
        let expected = case["expected"].as_str().unwrap_or_default();
        let context = own_context(&case);
        let answer = expr::evaluate_text(text, &context);
        let good = match case["expected_kind"].as_str().unwrap_or_default() {
            // What depends on today's date cannot be compared; that it is a text can.
            "nondeterministic" => answer.kind == Some("String"),
            "value" => answer.string == expected && answer.kind == case["engine_type"].as_str(),
            "evaluation_error" => answer.status == Status::EvalError,
            "syntax_error" => answer.status == Status::SyntaxError,
            "parse_ok" => expr::parse(text).is_ok(),
            "content_aware" => {
                let wanted =
                    case["expected"].as_bool().or_else(|| expected.to_ascii_lowercase().parse().ok());
                expr::parse(text).ok().map(|expression| expr::is_content_aware(&expression)) == wanted
            }
            other => panic!("unknown kind {other}"),
        };
        if good {
            right += 1;
        } else {
            wrong.push(format!(
                "{} {text}\n   expected {expected:?} {} {}\n   found    {answer:?}",
                case["id"], case["expected_kind"], case["engine_type"]
            ));
        }
    }
    for line in &wrong {
        println!("{line}");
    }
    println!("{right} of {}", right + wrong.len());
    assert!(wrong.is_empty(), "{} differ", wrong.len());
}

#[test]
fn the_template_tests_of_the_runtime() {
    use synapse_lang::expr::template::{Media, fill_format};
    let Some(folder) = folder() else { return };
    for case in lines(&folder, "payload_template_cases.jsonl") {
        let context =
            context(json!({ "payload": case["payload"], "content_type": case["payload_content_type"] }));
        let media = match case["media_type"].as_str() {
            Some("json") => Media::Json,
            Some("xml") => Media::Xml,
            _ => Media::Text,
        };
        let filled = fill_format(case["template"].as_str().unwrap_or_default(), media, &[], &context);
        assert_eq!(filled.as_deref().ok(), case["expected"].as_str(), "{} {filled:?}", case["id"]);
    }
}
