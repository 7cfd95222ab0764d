//! Asked by other people's clients: the official one in Python, and the one that mica itself uses.

use std::process::Command;

use rmcp::model::{CallToolRequestParams, ReadResourceRequestParams};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Value, json};

use super::stage::{FILE, Stage};

/// What the official client gets, whatever the way and the era.
fn expected(version: &str) -> Value {
    json!({
        "version": version,
        "tools": [
            "check", "evaluate_expression", "explain_finding", "fix", "get_connector_definitions", "list_references",
            "load_references", "outline", "project_facts", "project_graph", "search_references",
        ],
        "read_only": true,
        "schemas": true,
        "check": [["Orders.xml", "SYN0101", 5], ["Orders.xml", "SYN0901", 6]],
        "check_text": "1 file checked: 2 errors.",
        "fix": ["SYN0101"],
        "fix_written": false,
        "expression": ["6", "Integer"],
        "search": ["synapse-expression-spec:type_coercion"],
        "load": ["synapse-expression-spec:type_coercion"],
        "explain": "unknown-mediator",
        "facts": ["orders", "4.4.0", "wso2mi", { "api": 1 }],
        "graph": [["sequence:Missing", "missing", ["api:Orders"]]],
        "outline": ["api Orders", "resource GET /"],
        "connectors": ["http"],
        "list_references": true,
        "resources": [true, true, "mica://llms.txt"],
        "templates": ["mica://reference/{name}", "mica://reference/{name}/{section}", "mica://finding/{code}"],
        "finding": "SYN0101 unknown-mediator (error)",
        "reference": "text/markdown",
        "llms": "# Synapse and WSO2 Micro Integrator: references",
        "prompts": ["explain-artifact", "migrate-expressions", "review-project"],
        "prompt": ["text", "resource"],
        "complete_name": ["synapse-expression-spec"],
        "complete_file": [FILE],
        "errors": {
            "tool": -32602, "resource": if version == "2026-07-28" { -32602 } else { -32002 }, "prompt": -32602, "argument": -32602,
            "cursor": -32602, "outside": true, "secret": true, "both": true, "type": true,
        },
    })
}

fn official(arguments: &[&str], stage: &Stage) -> Option<Value> {
    let Some(python) = std::env::var_os("MICA_PYTHON_MCP") else {
        eprintln!("SKIP: MICA_PYTHON_MCP is not set; `cargo xtask test` sets it");
        return None;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp_serve/client.py");
    let ran = Command::new(python)
        .arg(script)
        .args(arguments)
        .current_dir(stage.path().join("project"))
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{err}{out}");
    Some(serde_json::from_str(out.trim()).unwrap())
}

#[test]
fn the_official_client_over_standard_input_and_output() {
    let stage = Stage::new();
    for (mode, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let root = stage.path().join("project");
        let command = [mode, env!("CARGO_BIN_EXE_mica"), "mcp", "serve", "--root", root.to_str().unwrap()];
        let Some(got) = official(&command, &stage) else { return };
        assert_eq!(got, expected(version), "{mode}");
    }
}

#[test]
fn the_official_client_over_http() {
    let stage = Stage::new();
    let (served, _) = stage.serve(&[], 1);
    for (mode, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let Some(got) = official(&[mode, &served.url], &stage) else { return };
        assert_eq!(got, expected(version), "{mode}");
    }
}

async fn ask(client: &rmcp::service::RunningService<RoleClient, ()>) {
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.len(), 11);
    let arguments = json!({ "paths": [FILE] }).as_object().unwrap().clone();
    let request = CallToolRequestParams::new("check").with_arguments(arguments);
    let checked = client.call_tool(request).await.unwrap();
    assert_eq!(checked.structured_content.unwrap()["summary"]["errors"], 2);
    let read = client.read_resource(ReadResourceRequestParams::new("mica://finding/SYN0101")).await.unwrap();
    assert_eq!(read.contents.len(), 1);
    assert!(client.list_all_resources().await.unwrap().len() > 100, "all pages");
    assert!(client.read_resource(ReadResourceRequestParams::new("mica://finding/nope")).await.is_err());
}

#[test]
fn micas_own_client() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let stage = Stage::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let mut process = tokio::process::Command::from(stage.command(&[]))
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let ends = (process.stdout.take().unwrap(), process.stdin.take().unwrap());
        let client = ().serve(ends).await.unwrap();
        ask(&client).await;
        client.cancel().await.unwrap();
        assert_eq!(process.wait().await.unwrap().code(), Some(0));

        let (served, _) = stage.serve(&[], 1);
        let transport = StreamableHttpClientTransport::from_uri(served.url.clone());
        let client = ().serve(transport).await.unwrap();
        ask(&client).await;
        client.cancel().await.unwrap();
    });
}
