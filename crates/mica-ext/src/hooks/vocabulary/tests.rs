//! Tools and inputs, there and back.

#![allow(clippy::needless_pass_by_value, reason = "tables read better with values")]

use serde_json::json;

use super::*;

fn args(value: Value) -> Args {
    match value {
        Value::Object(args) => args,
        other => panic!("{other} is no object"),
    }
}

fn check(tool: &str, ours: Value, name: &str, theirs: Value) {
    let (ours, theirs) = (args(ours), args(theirs));
    let root = Path::new("/srv/shop");
    assert_eq!(Vocabulary::Claude.tool(tool, &ours), name);
    assert_eq!(Vocabulary::Claude.told(tool, &ours, root), theirs, "{tool} told");
    assert_eq!(Vocabulary::Mica.told(tool, &ours, root), ours, "{tool} in our words");
    // Paths are told in full, and stay so.
    let back = Vocabulary::Claude.meant(tool, &theirs);
    let again = Vocabulary::Claude.told(tool, &back, root);
    assert_eq!(again, theirs, "{tool} there and back");
    assert_eq!(super::ours(name), tool);
}

#[test]
fn inputs_are_told_in_the_words_of_the_hook() {
    check(
        "shell",
        json!({ "command": "ls", "timeout_seconds": 5, "background": true, "cwd": "src" }),
        "Bash",
        json!({ "command": "ls", "timeout": 5000, "run_in_background": true, "cwd": "src" }),
    );
    check(
        "file_write",
        json!({ "path": "a/b.txt", "content": "x" }),
        "Write",
        json!({ "file_path": "/srv/shop/a/b.txt", "content": "x" }),
    );
    check(
        "file_edit",
        json!({ "path": "/etc/x", "old": "a", "new": "b", "replace_all": true }),
        "Edit",
        json!({ "file_path": "/etc/x", "old_string": "a", "new_string": "b", "replace_all": true }),
    );
    check(
        "file_edit",
        json!({ "path": "x", "edits": [{ "old": "a", "new": "b" }] }),
        "MultiEdit",
        json!({ "file_path": "/srv/shop/x", "edits": [{ "old_string": "a", "new_string": "b" }] }),
    );
    check(
        "grep",
        json!({ "pattern": "x", "mode": "files", "ignore_case": true }),
        "Grep",
        json!({ "pattern": "x", "output_mode": "files_with_matches", "-i": true }),
    );
    check(
        "create_subagent",
        json!({ "profile": "explore", "description": "d", "prompt": "p" }),
        "Task",
        json!({ "subagent_type": "explore", "description": "d", "prompt": "p" }),
    );
    check(
        "todo_write",
        json!({ "todos": [{ "content": "c", "status": "pending", "active_form": "cing" }] }),
        "TodoWrite",
        json!({ "todos": [{ "content": "c", "status": "pending", "activeForm": "cing" }] }),
    );
    check("mcp__files__read", json!({ "path": "x" }), "mcp__files__read", json!({ "path": "x" }));
}

#[test]
fn half_a_second_is_not_no_time() {
    let meant = Vocabulary::Claude.meant("shell", &args(json!({ "command": "ls", "timeout": 500 })));
    assert_eq!(Value::Object(meant), json!({ "command": "ls", "timeout_seconds": 1 }));
}

#[test]
fn a_tool_goes_by_all_its_names() {
    assert_eq!(names("file_edit"), ["file_edit", "Edit", "MultiEdit"]);
    assert_eq!(names("validate_code"), ["validate_code"]);
}

#[test]
fn a_guard_of_what_is_written_or_run_looks_at_every_tool_that_does() {
    assert_eq!(names("shell"), ["shell", "Bash"]);
    assert_eq!(names("apply_code_action"), ["apply_code_action", "Write", "Edit"]);
    assert_eq!(names("build_project"), ["build_project", "Bash"]);
    assert_eq!(names("mcp__files__write"), ["mcp__files__write"]);
}
