//! What another agent waits for: the first answer of `mica mcp serve`, and a check of a long artifact.
//!
//! The real binary over standard input and output. The floors, measured in the same run: a process that does nothing, and
//! `mica check` of the same file as a command of its own.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a measuring program: it starts processes, prints, and stops at the first surprise"
)]

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Measurements of each figure.
const TIMES: usize = 21;
/// Lines of the artifact.
const LINES: usize = 2_000;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("long.xml"), artifact()).unwrap();

    println!("start to the first answer, median of {TIMES}");
    let nothing = middle(|| {
        let began = Instant::now();
        assert!(Command::new("true").status().unwrap().success());
        began.elapsed()
    });
    row("floor: a process that does nothing, to its end", nothing, None);
    let first = middle(|| {
        let began = Instant::now();
        let mut server = Server::start(folder.path());
        let answer = server.ask("tools/list", json!({}));
        let took = began.elapsed();
        assert!(answer["result"]["tools"].is_array(), "{answer}");
        took
    });
    row("mica mcp serve, tools/list", first, Some(nothing));

    println!("check of an artifact of {LINES} lines, median of {TIMES}");
    let command = middle(|| {
        let began = Instant::now();
        let ran = mica(folder.path()).args(["check", "--format", "json", "long.xml"]).output().unwrap();
        let took = began.elapsed();
        assert!(!ran.stdout.is_empty());
        took
    });
    row("floor: mica check, as a command", command, None);
    let mut server = Server::start(folder.path());
    let call = json!({ "name": "check", "arguments": { "paths": ["long.xml"] } });
    let served = middle(|| {
        let began = Instant::now();
        let answer = server.ask("tools/call", call.clone());
        let took = began.elapsed();
        assert_eq!(answer["result"]["structuredContent"]["summary"]["files"], 1, "{answer}");
        took
    });
    row("mica mcp serve, tools/call check", served, Some(command));
}

fn row(what: &str, took: Duration, floor: Option<Duration>) {
    let ratio = floor.map_or_else(String::new, |floor| {
        format!("  {:.2} times the floor", took.as_secs_f64() / floor.as_secs_f64())
    });
    println!("  {what:<50} {:>8.2} ms{ratio}", took.as_secs_f64() * 1e3);
}

fn middle(mut measure: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<Duration> = (0..TIMES).map(|_| measure()).collect();
    times.sort();
    times[times.len() / 2]
}

/// An API with many steps, and a few mistakes.
fn artifact() -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Long\" \
                    context=\"/long\">\n  <resource methods=\"POST\" uri-template=\"/\">\n    <inSequence>\n"
        .to_owned();
    for number in 0..(LINES - 9) / 3 {
        let _ = writeln!(
            text,
            "      <variable name=\"v{number}\" type=\"STRING\" expression=\"${{payload.a{number}}}\"/>"
        );
        let _ = writeln!(
            text,
            "      <log category=\"INFO\"><message>${{vars.v{number}}} of {number}</message></log>"
        );
        let _ = writeln!(
            text,
            "      <property name=\"p{number}\" scope=\"default\" type=\"STRING\" value=\"{number}\"/>"
        );
    }
    text.push_str("      <lag/>\n      <respond/>\n    </inSequence>\n  </resource>\n</api>\n");
    text
}

fn mica(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mica"));
    command.env_clear().current_dir(folder);
    command
}

/// A server, and what it is asked over.
struct Server {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let mut process = mica(folder)
            .args(["mcp", "serve"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, input, output }
    }

    fn ask(&mut self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let line = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        writeln!(self.input, "{line}").unwrap();
        self.input.flush().unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
