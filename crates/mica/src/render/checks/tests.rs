//! Findings as rows.

use serde_json::json;

use super::*;

fn check(checks: &Value, columns: usize, expected: &[(&str, &str)]) {
    let rows = rows(&json!({ "path": "x", "checks": checks }), columns);
    let told: Vec<(&str, &str)> = rows.iter().map(|row| (row.mark, row.text.as_str())).collect();
    assert_eq!(told, expected);
}

fn finding(severity: &str, line: u32, message: &str) -> Value {
    json!({ "severity": severity, "code": "SYN0102", "message": message, "line": line, "column": 1 })
}

#[test]
fn the_worst_comes_first_and_hints_are_left_out() {
    let worst = finding("error", 9, "will not deploy");
    let found = json!([finding("warning", 2, "odd"), finding("hint", 3, "advice"), worst]);
    check(
        &json!([{ "path": "a/B.xml", "findings": found }]),
        79,
        &[("✗", "line 9 SYN0102: will not deploy"), ("!", "line 2 SYN0102: odd")],
    );
}

#[test]
fn what_is_in_order_takes_one_row() {
    check(&json!([{ "path": "B.xml", "findings": [] }]), 79, &[("✓", "checked, nothing wrong")]);
    let hint = json!([{ "path": "B.xml", "findings": [finding("hint", 3, "advice")] }]);
    check(&hint, 79, &[("✓", "checked, nothing wrong (1 hint)")]);
    check(&json!([{ "path": "B.xml" }, { "path": "C.xml" }]), 79, &[("✓", "checked 2 files, nothing wrong")]);
    check(&json!([]), 79, &[]);
    assert_eq!(rows(&json!({ "path": "a" }), 79), [], "nothing was checked");
}

#[test]
fn several_files_are_named_and_rows_are_few() {
    let found: Vec<Value> = (1..=7).map(|line| finding("error", line, "bad")).collect();
    let broken = json!([{ "path": "x/User.xml", "line": 4, "name": "Old" }]);
    let rows = rows(
        &json!({ "checks": [{ "path": "a/B.xml", "findings": [], "broken": broken }, { "path": "C.xml", "findings": found }] }),
        79,
    );
    let told: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
    assert_eq!(told[..2], ["User.xml:4: uses \"Old\", which is gone now", "C.xml:1 SYN0102: bad"]);
    assert_eq!((rows.len(), told[5]), (6, "and 3 more"));
}

#[test]
fn rows_fit_and_command_no_terminal() {
    let long = "a message that goes on and on until it does not fit on a row of a terminal any more";
    let found = json!([finding("error", 1, long), finding("error", 2, "bad \u{1b}[2J")]);
    check(
        &json!([{ "path": "B.xml", "findings": found }]),
        60,
        &[
            ("✗", "line 1 SYN0102: a message that goes on and on until it…"),
            ("✗", "line 2 SYN0102: bad \\u{1b}[2J"),
        ],
    );
}
