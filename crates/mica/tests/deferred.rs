//! Deferred tools through the program itself: what is sent, what a person is asked about, a run that another process left
//! waiting, rules, undo, and the history.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

mod stage;

use mica_testkit::{Call, Scenario, Step, Turn};
use serde_json::{Value, json};
use stage::Stage;

const DEFER: &str = "defer = [\"file_*\", \"grep\"]\n";

fn through(id: &str, name: &str, arguments: &Value) -> Step {
    Step::Call(Call::new("call_tool", json!({ "name": name, "arguments": arguments })).with_id(id))
}

fn writes(id: &str, path: &str) -> Step {
    through(id, "file_write", &json!({ "path": path, "content": "mica\n" }))
}

async fn stage(scenario: Scenario) -> Stage {
    let stage = Stage::new(scenario).await;
    stage.settings(DEFER);
    stage
}

/// The names of the tools that each request was sent with, and the whole of what each was sent with besides messages.
fn sent(stage: &Stage) -> Vec<(Vec<String>, Value)> {
    let bodies = stage.server.script().captured();
    let requests = bodies.iter().map(|captured| serde_json::from_slice::<Value>(&captured.body).unwrap());
    requests
        .map(|request| {
            let names = request["tools"].as_array().unwrap().iter();
            let name = |tool: &Value| {
                let name = tool.pointer("/name").or(tool.pointer("/function/name"));
                name.and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            (names.map(name).collect(), request["tools"].clone())
        })
        .collect()
}

#[tokio::test]
async fn a_run_that_waits_for_a_deferred_call_goes_on_in_another_process() {
    let scenario = Scenario::new()
        .turn(Turn::new().call("load_tools", json!({ "names": ["file_write"] })))
        .turn(Turn::new().text("I write it.").step(writes("call_1", "b.txt")))
        .turn(Turn::new().text("Done."))
        .turn(Turn::new().text("Yes."));
    let stage = stage(scenario).await;
    let waits = stage.ask(&["-p", "write b.txt"]).await;
    assert_eq!(waits.code, Some(4), "{}{}", waits.out, waits.err);
    assert!(waits.err.contains("file_write") && !waits.err.contains("call_tool"), "{}", waits.err);
    assert!(!stage.project().join("b.txt").exists());

    let done = stage.ask(&["--continue", "--yes"]).await;
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    assert!(done.err.contains("● Write file path=b.txt"), "{}", done.err);
    assert_eq!(std::fs::read_to_string(stage.project().join("b.txt")).unwrap(), "mica\n");

    // What was sent is the same in both processes, before and after loading, and has none of what is deferred.
    let sent = sent(&stage);
    assert_eq!(sent.len(), 3);
    let (names, tools) = &sent[0];
    assert!(names.contains(&"call_tool".to_owned()) && names.contains(&"load_tools".to_owned()), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("file_") || name == "grep"), "{names:?}");
    assert!(sent.iter().all(|(_, others)| others == tools));
    let first = stage.server.script().captured()[0].clone();
    let first = String::from_utf8_lossy(&first.body).into_owned();
    assert!(first.contains("- file_write: "), "the list is in the prompt");

    // The change is that of the tool itself, and is taken back as such.
    let undone = stage.does(&["undo"]).await;
    assert!(undone.contains("b.txt"), "{undone}");
    assert!(!stage.project().join("b.txt").exists());

    // The history has the call as it was made, and the result by the tool that did it.
    let list: Value = serde_json::from_str(&stage.does(&["sessions", "list", "--json"]).await).unwrap();
    let id = list[0]["id"].as_str().unwrap();
    let history = stage.does(&["sessions", "export", id, "--form", "markdown"]).await;
    assert!(history.contains("### Call of `call_tool`"), "{history}");
    assert!(history.contains("### Result of `file_write`"), "{history}");
}

#[tokio::test]
async fn rules_and_modes_are_about_the_tool_itself() {
    let turns = || {
        Scenario::new()
            .turn(Turn::new().step(writes("one", "src/a.txt")).step(writes("two", "b.txt")))
            .turn(Turn::new().text("Done."))
    };
    // One may be written, the other is asked about; nobody is there.
    let allowed = stage(turns()).await;
    let ran = allowed.ask(&["-p", "write", "--allow", "file_write(src/**)"]).await;
    assert_eq!(ran.code, Some(4), "{}{}", ran.out, ran.err);
    let ran = allowed.ask(&["--continue", "--allow", "file_write(src/**)"]).await;
    assert!(allowed.project().join("src/a.txt").exists(), "{}{}", ran.out, ran.err);
    assert!(!allowed.project().join("b.txt").exists(), "{}{}", ran.out, ran.err);

    let denied = stage(turns()).await;
    denied.settings(&format!("{DEFER}deny = [\"file_write(src/**)\"]\n"));
    denied.ask(&["-p", "write", "--yes"]).await;
    assert!(!denied.project().join("src/a.txt").exists());
    assert!(denied.project().join("b.txt").exists());

    let planning = stage(turns()).await;
    planning.ask(&["-p", "write", "--yes", "--mode", "plan"]).await;
    assert!(!planning.project().join("b.txt").exists());
}

#[tokio::test]
async fn a_deferred_tool_needs_no_loading_and_can_be_called_by_its_name() {
    let scenario = Scenario::new()
        .turn(Turn::new().call("file_read", json!({ "path": "a.txt" })))
        .turn(Turn::new().step(through("two", "file_edit", &json!({ "path": "a.txt", "edit": "x" }))))
        .turn(Turn::new().step(through("three", "call_tool", &json!({ "name": "grep" }))))
        .turn(Turn::new().text("Done."));
    let stage = stage(scenario).await;
    let ran = stage.ask(&["-p", "read", "--yes", "--output", "json"]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let last = stage.server.script().captured().last().unwrap().body.clone();
    let last = String::from_utf8_lossy(&last).into_owned();
    assert!(last.contains("world"), "the file was read: {last}");
    assert!(last.contains("The arguments of file_edit do not fit its schema"), "{last}");
    assert!(last.contains("Its arguments (JSON Schema): {"), "{last}");
    assert!(last.contains("call_tool cannot call call_tool: name the tool that does the work."), "{last}");
}

#[tokio::test]
async fn settings_that_are_no_names_are_told() {
    let stage = Stage::new(Scenario::new()).await;
    for (setting, expected) in [
        (
            "defer = [\"file_write(src/**)\"]\n",
            "the setting `defer` takes names of tools, without arguments: \"file_write(src/**)\" has some",
        ),
        ("defer = [\"\"]\n", "the setting `defer` is wrong: the rule is empty"),
    ] {
        stage.settings(setting);
        let ran = stage.ask(&["-p", "x"]).await;
        assert!(ran.err.contains(expected), "{setting}: {}", ran.err);
    }
}
