//! The program at the other end of a pipe: `mica rpc`, driven by a test.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::Stage;

/// A program at the other end of the pipe.
pub struct Pipe {
    pub input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    pub program: Child,
    /// Events, in the order they came, and how many of them were looked at.
    pub events: Vec<Value>,
    seen: usize,
}

impl Pipe {
    pub fn open(stage: &Stage, arguments: &[&str]) -> Self {
        Self::to(stage, &stage.server.url("/v1"), arguments)
    }

    pub fn to(stage: &Stage, url: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mica"));
        command
            .env_clear()
            .env("MICA_HOME", stage.folder.path().join("home"))
            .current_dir(stage.project())
            .args(["rpc", "--base-url", url, "--model", "scripted"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let mut program = command.spawn().unwrap();
        let output = BufReader::new(program.stdout.take().unwrap()).lines();
        Self { input: program.stdin.take().unwrap(), output, program, events: Vec::new(), seen: 0 }
    }

    pub async fn send(&mut self, request: Value) {
        self.input.write_all(format!("{request}\n").as_bytes()).await.unwrap();
    }

    pub async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = tokio::time::timeout(Duration::from_secs(100), self.output.next_line()).await;
            let line: Value = serde_json::from_str(&line.unwrap().unwrap().unwrap()).unwrap();
            if line.get("event").is_some() {
                self.events.push(line["event"].clone());
            }
            if wanted(&line) {
                return line;
            }
        }
    }

    /// Sends a request and waits for its answer.
    pub async fn ask(&mut self, mut request: Value) -> Value {
        request["id"] = json!("ask");
        self.send(request).await;
        self.until(|line| line["id"] == "ask").await
    }

    /// The next event of a kind. It may have come before an answer that was waited for.
    pub async fn event(&mut self, kind: &str) -> Value {
        let passed = self.events.iter().skip(self.seen).position(|event| event["type"] == kind);
        match passed {
            Some(at) => self.seen += at + 1,
            None => {
                self.until(|line| line["event"]["type"] == kind).await;
                self.seen = self.events.len();
            }
        }
        self.events[self.seen - 1].clone()
    }

    /// Begins a run. Its answer comes when it ends.
    pub async fn begin(&mut self, text: &str) {
        self.send(json!({ "id": "run", "method": "prompt", "text": text })).await;
    }

    pub async fn outcome(&mut self) -> Value {
        self.until(|line| line["id"] == "run").await["result"]["outcome"].clone()
    }

    /// Says yes or no to the next call that is asked about.
    pub async fn decide(&mut self, decision: Value) -> Value {
        let ask = self.event("approval_asked").await["ask"].clone();
        let mut decision = decision;
        decision["call"] = ask["call"]["id"].clone();
        decision["shown"] = ask["shown"].clone();
        let answer = self.ask(json!({ "method": "approve", "decisions": [decision] })).await;
        assert_eq!(answer["result"], json!({}), "{answer}");
        ask
    }

    pub async fn state(&mut self, key: &str) -> Value {
        self.ask(json!({ "method": "state" })).await["result"][key].clone()
    }

    pub async fn leave(mut self) {
        drop(self.input);
        assert_eq!(self.program.wait().await.unwrap().code(), Some(0));
    }
}
