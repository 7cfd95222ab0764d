//! A language server that finds every `TODO`, or does what no server should.

use std::io::{BufRead, BufReader, Write};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};

fn read(input: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" => break,
            line => {
                if let Some(number) = line.strip_prefix("Content-Length: ") {
                    length = number.parse().ok()?;
                }
            }
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn send(message: &Value) {
    let body = message.to_string();
    let mut out = std::io::stdout().lock();
    let _ = write!(out, "Content-Length: {}\r\n\r\n{body}", body.len());
    let _ = out.flush();
}

pub(crate) fn run(mode: &str) -> ExitCode {
    if mode == "babbles" {
        println!("Starting the language server …");
        std::thread::sleep(Duration::from_secs(30));
        return ExitCode::SUCCESS;
    }
    if mode == "crashes" {
        return ExitCode::from(9);
    }
    if mode == "silent" {
        std::thread::sleep(Duration::from_secs(60));
        return ExitCode::SUCCESS;
    }
    let mut input = BufReader::new(std::io::stdin());
    let mut asked = 0;
    while let Some(message) = read(&mut input) {
        let method = message["method"].as_str().unwrap_or_default();
        match method {
            "initialize" => {
                // Some servers want to know something first, and wait for it.
                send(
                    &json!({"jsonrpc": "2.0", "id": "c", "method": "workspace/configuration", "params": {"items": [{"section": "xml"}, {}]}}),
                );
                let answer = read(&mut input).unwrap();
                assert_eq!(answer["result"], json!([null, null]), "{answer}");
                send(
                    &json!({"jsonrpc": "2.0", "id": message["id"], "result": {"capabilities": {"textDocumentSync": 1}}}),
                );
            }
            "textDocument/didOpen" | "textDocument/didChange" => {
                asked += 1;
                if mode == "crashes-once-asked" || (mode == "crashes-second" && asked == 2) {
                    return ExitCode::from(9);
                }
                if mode == "slow" {
                    std::thread::sleep(Duration::from_secs(20));
                }
                let params = &message["params"];
                let text =
                    params["textDocument"]["text"].as_str().or(params["contentChanges"][0]["text"].as_str());
                let text = text.unwrap_or_default();
                publish(params, text, mode);
            }
            _ => {}
        }
    }
    ExitCode::SUCCESS
}

fn publish(params: &Value, text: &str, mode: &str) {
    let place = |line: usize, column: usize| json!({ "line": line, "character": column });
    let finding = |line: usize, column: usize, message: String| {
        json!({ "range": { "start": place(line, column), "end": place(line, column + 4) }, "severity": 2, "code": "todo",
                "message": message, "source": "stand-in" })
    };
    let mut found: Vec<Value> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        found.extend(
            line.match_indices("TODO")
                .map(|(at, _)| finding(number, at, "Something is\nleft to do".to_owned())),
        );
    }
    if mode == "huge" {
        found = (0..5_000).map(|number| finding(number, 0, "x".repeat(2_000))).collect();
    }
    if mode == "endless" {
        let mut out = std::io::stdout().lock();
        let _ = write!(out, "Content-Length: 4000000000\r\n\r\n");
        let _ = out.flush();
        return;
    }
    // News of another file, and of an older state, come first.
    let uri = &params["textDocument"]["uri"];
    let version = params["textDocument"]["version"].as_i64().unwrap_or(0);
    send(
        &json!({"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": {"uri": "file:///elsewhere.xml", "diagnostics": [finding(0, 0, "not this".to_owned())]}}),
    );
    send(
        &json!({"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": {"uri": uri, "version": version - 1, "diagnostics": [finding(0, 0, "not this".to_owned())]}}),
    );
    send(
        &json!({"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": {"uri": uri, "version": version, "diagnostics": found}}),
    );
}
