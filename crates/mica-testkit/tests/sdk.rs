//! The vendors' own SDKs read what the scripted server writes: the server tells the truth, and not merely what mica's
//! parsers expect of it.
//!
//! Needs a Python with `openai` and `anthropic` installed, named by `MICA_TEST_PYTHON`; without it these tests say so
//! and pass, except in CI, where they fail.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

use std::path::Path;

use mica_testkit::{Call, Scenario, ScriptedServer, Step, Turn, WireOptions};
use serde_json::{Value, json};

const THINKING: &str = "First, look at the proxy.\n\nThen call both tools — größer ist besser.";
const TEXT: &str = "Let me look at `HelloProxy` und prüfe 🦀 zwei Dinge.";

/// The Python to use, or `None` after saying why there is none.
#[allow(clippy::disallowed_methods, reason = "a test is a binary: it may read what it is configured with")]
fn python() -> Option<String> {
    if let Ok(path) = std::env::var("MICA_TEST_PYTHON") {
        return Some(path);
    }
    assert!(std::env::var("CI").is_err(), "MICA_TEST_PYTHON is not set, and CI must not skip the SDK tests");
    println!("SKIP: MICA_TEST_PYTHON names no Python with the openai and anthropic packages");
    None
}

/// Runs a script against a server and reads the JSON it prints.
#[allow(clippy::disallowed_methods, reason = "the SDKs are Python: this test is about another process")]
async fn run(python: &str, script: &str, arguments: &[&str]) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk").join(script);
    let output = tokio::process::Command::new(python)
        .arg(path)
        .args(arguments)
        // The SDKs must talk to loopback directly, whatever the machine's proxy settings are.
        .env("NO_PROXY", "127.0.0.1")
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(std::time::Duration::from_secs(60), output).await.unwrap().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}: {stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn scenario() -> Scenario {
    let calls = vec![
        Call::new("read_file", json!({ "path": "HelloProxy.xml", "lines": [1, 20] })).with_id("call_read"),
        Call::new("list_artifacts", json!({})).with_id("call_list"),
    ];
    Turn::new().thinking(THINKING).text(TEXT).step(Step::Interleaved(calls)).into()
}

fn calls() -> Value {
    json!([
        { "id": "call_read", "name": "read_file", "args": { "path": "HelloProxy.xml", "lines": [1, 20] } },
        { "id": "call_list", "name": "list_artifacts", "args": {} },
    ])
}

/// What the SDK understood, without the members that `extra` names.
fn without(mut value: Value, extra: &[&str]) -> Value {
    if let Some(object) = value.as_object_mut() {
        for key in extra {
            object.shift_remove(*key);
        }
    }
    value
}

#[tokio::test]
async fn the_openai_sdk_reads_chat() {
    let Some(python) = python() else { return };
    for flavour in ["openai", "azure"] {
        let server = ScriptedServer::start(scenario().key("scripted-key")).await.unwrap();
        let seen = run(&python, "openai_chat.py", &[&server.url(""), flavour]).await;
        let expected = json!({
            "thinking": THINKING, "text": TEXT, "calls": calls(), "stop": "tool_calls",
            "whole_text": TEXT, "whole_calls": calls(),
        });
        assert_eq!(without(seen.clone(), &["input", "output"]), expected, "{flavour}");
        assert!(seen["input"].as_u64() > Some(0) && seen["output"].as_u64() > Some(20), "{seen}");
        let path = if flavour == "azure" {
            "/openai/deployments/scripted/chat/completions"
        } else {
            "/v1/chat/completions"
        };
        assert!(server.captured().iter().all(|request| request.path == path), "{flavour}");
    }
}

#[tokio::test]
async fn the_openai_sdk_reads_responses() {
    let Some(python) = python() else { return };
    for flavour in ["openai", "azure"] {
        let options = WireOptions { late_encrypted: flavour == "azure", ..WireOptions::default() };
        let server = ScriptedServer::start(scenario().wire(options)).await.unwrap();
        let seen = run(&python, "openai_responses.py", &[&server.url(""), flavour]).await;
        let one = json!({
            "thinking": THINKING, "encrypted": true, "text": TEXT, "calls": calls(), "stop": "completed",
        });
        let usage = ["input", "output"];
        assert_eq!(without(seen["whole"].clone(), &usage), one, "{flavour}");
        assert_eq!(
            without(seen.clone(), &["input", "output", "text_deltas", "kinds", "numbered", "whole"]),
            one,
            "{flavour}"
        );
        assert_eq!(seen["text_deltas"], TEXT);
        assert_eq!(seen["numbered"], true);
        assert_eq!(
            seen["kinds"],
            json!([
                "response.completed",
                "response.content_part.added",
                "response.content_part.done",
                "response.created",
                "response.function_call_arguments.delta",
                "response.function_call_arguments.done",
                "response.in_progress",
                "response.output_item.added",
                "response.output_item.done",
                "response.output_text.delta",
                "response.output_text.done",
                "response.reasoning_summary_part.added",
                "response.reasoning_summary_part.done",
                "response.reasoning_summary_text.delta",
                "response.reasoning_summary_text.done",
            ])
        );
    }
}

#[tokio::test]
async fn the_anthropic_sdk_reads_messages() {
    let Some(python) = python() else { return };
    for flavour in ["anthropic", "azure"] {
        let server = ScriptedServer::start(scenario().key("scripted-key")).await.unwrap();
        let seen = run(&python, "anthropic_messages.py", &[&server.url(""), flavour]).await;
        let one = json!({
            "thinking": THINKING, "signed": true, "text": TEXT, "calls": calls(), "stop": "tool_use",
        });
        assert_eq!(without(seen["whole"].clone(), &["input", "output"]), one, "{flavour}");
        assert_eq!(without(seen.clone(), &["input", "output", "text_deltas", "whole"]), one, "{flavour}");
        assert_eq!(seen["text_deltas"], TEXT);
        let path = if flavour == "azure" { "/anthropic/v1/messages" } else { "/v1/messages" };
        assert!(server.captured().iter().all(|request| request.path == path), "{flavour}");
    }
}

#[tokio::test]
async fn the_sdks_take_scripted_errors_for_what_they_are() {
    let Some(python) = python() else { return };
    let scenario = Scenario::new()
        .turn(Turn::error("azure_429_retry_after_ms".into()))
        .turn(Turn::error("content_filter_400".into()))
        .turn(Turn::error("anthropic_529".into()));
    let server = ScriptedServer::start(scenario).await.unwrap();
    let seen = run(&python, "errors.py", &[&server.url("")]).await;
    assert_eq!(
        seen,
        json!({
            "seen": [["RateLimitError", 429], ["BadRequestError", 400], ["OverloadedError", 529], ["BadRequestError", 400]],
            "models": ["scripted"],
        })
    );
}
