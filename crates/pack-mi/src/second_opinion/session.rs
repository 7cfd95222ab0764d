//! The conversation with a language server: one task owns the program, asks it one question after the other, and starts it
//! again when it breaks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mica_sandbox::{Child, Command, Streaming};
use mica_tools::Ground;
use serde_json::{Value, json};
use synapse_lang::diagnostic::Severity;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::frames::{Frames, framed};
use super::{Foreign, LanguageServer, Opinion, Question};

/// How long a server has to begin, and to take in what it is sent. Virtual machines are slow to start.
const START: Duration = Duration::from_secs(30);
/// Findings of one file.
const FINDINGS: usize = 200;
/// Bytes of a message.
const MESSAGE: usize = 1_000;
/// Files that a server has open. Beyond it, the oldest are closed.
const OPEN: usize = 64;
/// Messages that wait to be sent; a server that takes none is stuck.
const OUTBOX: usize = 32;

/// Answers questions until nobody asks any more.
pub(super) async fn serve(
    server: LanguageServer,
    ground: Arc<dyn Ground>,
    root: PathBuf,
    mut asked: mpsc::Receiver<Question>,
) {
    let mut talk: Option<Talk> = None;
    let mut starts = 0;
    let mut broke = String::new();
    while let Some(question) = asked.recv().await {
        // Whoever asked has given up, while others were answered.
        if question.answer.is_closed() {
            continue;
        }
        if talk.is_none() {
            if starts > server.restarts {
                let why = format!(
                    "{} broke {starts} times and is not started any more; the last time: {broke}",
                    server.name
                );
                let _ = question.answer.send(Opinion::None(why));
                continue;
            }
            starts += 1;
            match Talk::begin(&server, &*ground, &root).await {
                Ok(begun) => talk = Some(begun),
                Err(why) => {
                    broke.clone_from(&why);
                    let _ = question
                        .answer
                        .send(Opinion::None(format!("{} cannot be asked: {why}", server.name)));
                    continue;
                }
            }
        }
        let Some(open) = &mut talk else { continue };
        // The start may have taken longer than anybody waits; the server is ready for the next question then.
        if question.answer.is_closed() {
            continue;
        }
        match open.ask(&question, &server).await {
            Ok(opinion) => {
                let _ = question.answer.send(opinion);
            }
            Err(why) => {
                broke.clone_from(&why);
                talk = None;
                let _ = question.answer.send(Opinion::None(format!("{} broke: {why}", server.name)));
            }
        }
    }
}

/// A server that runs and was greeted.
struct Talk {
    outbox: mpsc::Sender<Vec<u8>>,
    inbox: mpsc::Receiver<Result<Value, String>>,
    /// Dropping it ends the program.
    _end: tokio_util::sync::DropGuard,
    /// The files that it has open, with their versions.
    open: BTreeMap<PathBuf, i64>,
    order: Vec<PathBuf>,
    version: i64,
}

impl Talk {
    async fn begin(server: &LanguageServer, ground: &dyn Ground, root: &Path) -> Result<Self, String> {
        let (program, arguments) = server.command.split_first().ok_or("it has no command")?;
        let sandbox = ground.sandbox().await.map_err(|error| error.message)?;
        let mut boundary = ground.boundary().map_err(|error| error.message)?.read_only();
        boundary.limits.wall = None;
        boundary.limits.cpu_seconds = None;
        boundary.limits.grace = Duration::from_secs(1);
        let command = Command::new(program, root)
            .arguments(arguments.iter().cloned())
            .with_input()
            .streaming(Streaming::Pipe);
        let cancel = CancellationToken::new();
        let mut child =
            sandbox.spawn(command, &boundary, cancel.clone()).await.map_err(|error| error.for_model())?;
        let (Some(input), Some(output)) = (child.take_input(), child.take_output()) else {
            return Err("it has no pipes".to_owned());
        };
        let (outbox, messages) = mpsc::channel(OUTBOX);
        let (told, inbox) = mpsc::channel(OUTBOX);
        tokio::spawn(write(input, messages));
        tokio::spawn(read(output, told));
        tokio::spawn(drain(child));
        let mut talk = Self {
            outbox,
            inbox,
            _end: cancel.drop_guard(),
            open: BTreeMap::new(),
            order: Vec::new(),
            version: 0,
        };
        talk.greet(root).await?;
        Ok(talk)
    }

    async fn greet(&mut self, root: &Path) -> Result<(), String> {
        let uri = uri(root);
        self.send(&json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {
                "processId": null,
                "rootUri": uri,
                "workspaceFolders": [{ "uri": uri, "name": "project" }],
                "capabilities": {
                    "general": { "positionEncodings": ["utf-16"] },
                    "textDocument": {
                        "synchronization": { "dynamicRegistration": false },
                        "publishDiagnostics": { "versionSupport": true, "relatedInformation": false },
                    },
                    "workspace": { "configuration": true, "workspaceFolders": true },
                },
            },
        }))?;
        let until = Instant::now() + START;
        loop {
            let message = self.receive(until).await?;
            if message.get("id") == Some(&json!(1)) && message.get("method").is_none() {
                if let Some(error) = message.get("error") {
                    return Err(format!("it refused to begin: {}", shortened(&error.to_string())));
                }
                break;
            }
            self.answer(&message)?;
        }
        self.send(&json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }))
    }

    /// Sends a text and waits for what the server says about it.
    async fn ask(&mut self, question: &Question, server: &LanguageServer) -> Result<Opinion, String> {
        // Old news are about old texts.
        while let Ok(message) = self.inbox.try_recv() {
            self.answer(&message?)?;
        }
        self.version += 1;
        let (uri, version) = (uri(&question.path), self.version);
        if self.open.insert(question.path.clone(), version).is_some() {
            self.send(&json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
                "textDocument": { "uri": uri, "version": version },
                "contentChanges": [{ "text": question.text }],
            }}))?;
        } else {
            self.order.push(question.path.clone());
            self.send(&json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {
                "textDocument": { "uri": uri, "languageId": server.language, "version": version, "text": question.text },
            }}))?;
            self.close_oldest()?;
        }
        let until = Instant::now() + server.deadline;
        loop {
            let message = match tokio::time::timeout_at(until, self.inbox.recv()).await {
                // A server that is slow is not broken.
                Err(_) => return Ok(Opinion::Late),
                Ok(None) => return Err("it ended".to_owned()),
                Ok(Some(message)) => message?,
            };
            if let Some(found) = published(&message, &question.path, version, &server.name) {
                return Ok(Opinion::Found(found));
            }
            self.answer(&message)?;
        }
    }

    fn close_oldest(&mut self) -> Result<(), String> {
        while self.order.len() > OPEN {
            let oldest = self.order.remove(0);
            self.open.remove(&oldest);
            self.send(&json!({ "jsonrpc": "2.0", "method": "textDocument/didClose", "params": {
                "textDocument": { "uri": uri(&oldest) },
            }}))?;
        }
        Ok(())
    }

    fn send(&self, message: &Value) -> Result<(), String> {
        self.outbox.try_send(framed(message)).map_err(|_| "it takes no messages any more".to_owned())
    }

    async fn receive(&mut self, until: Instant) -> Result<Value, String> {
        match tokio::time::timeout_at(until, self.inbox.recv()).await {
            Err(_) => Err(format!("it did not begin within {} s", START.as_secs())),
            Ok(None) => Err("it ended".to_owned()),
            Ok(Some(message)) => message,
        }
    }

    /// Answers what a server wants to know. Some wait for it.
    fn answer(&self, message: &Value) -> Result<(), String> {
        let (Some(id), Some(method)) = (message.get("id"), message.get("method").and_then(Value::as_str))
        else {
            return Ok(());
        };
        let result = match method {
            "workspace/configuration" => {
                let items = message.pointer("/params/items").and_then(Value::as_array).map_or(0, Vec::len);
                Value::Array(vec![Value::Null; items.min(100)])
            }
            "client/registerCapability"
            | "client/unregisterCapability"
            | "window/workDoneProgress/create"
            | "window/showMessageRequest"
            | "workspace/workspaceFolders" => Value::Null,
            _ => {
                return self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": {
                    "code": -32601, "message": "nothing is known about this here",
                }}));
            }
        };
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }
}

/// Sends what waits, until the server takes nothing any more.
async fn write(mut input: tokio::net::unix::pipe::Sender, mut messages: mpsc::Receiver<Vec<u8>>) {
    while let Some(message) = messages.recv().await {
        match tokio::time::timeout(START, input.write_all(&message)).await {
            Ok(Ok(())) => {}
            // The end is told by whoever reads.
            _ => return,
        }
    }
}

/// Hands messages on until the server ends, or says what is none.
async fn read(mut output: tokio::net::unix::pipe::Receiver, told: mpsc::Sender<Result<Value, String>>) {
    let mut frames = Frames::default();
    let mut bytes = vec![0; 64 << 10];
    loop {
        match frames.next() {
            Ok(Some(message)) => {
                if told.send(Ok(message)).await.is_err() {
                    return;
                }
                continue;
            }
            Ok(None) => {}
            Err(error) => {
                let _ = told.send(Err(error.to_string())).await;
                return;
            }
        }
        match output.read(&mut bytes).await {
            Ok(0) | Err(_) => return,
            Ok(length) => frames.push(bytes.get(..length).unwrap_or_default()),
        }
    }
}

/// Takes what the server complains of, so that it need not wait; keeps the program until it ends.
async fn drain(mut child: Child) {
    while let Some(chunk) = child.next().await {
        tracing::debug!(text = %String::from_utf8_lossy(&chunk.bytes), "language server");
    }
    child.wait().await;
}

fn uri(path: &Path) -> String {
    reqwest::Url::from_file_path(path).map(String::from).unwrap_or_default()
}

/// What a message says about this state of a file.
fn published(message: &Value, path: &Path, version: i64, name: &str) -> Option<Vec<Foreign>> {
    if message.get("method")?.as_str()? != "textDocument/publishDiagnostics" {
        return None;
    }
    let params = message.get("params")?;
    let of = reqwest::Url::parse(params.get("uri")?.as_str()?).ok()?.to_file_path().ok()?;
    // Servers that tell no version speak of the newest one.
    let about = params.get("version").and_then(Value::as_i64).unwrap_or(version);
    if of != path || about != version {
        return None;
    }
    let all = params.get("diagnostics")?.as_array()?;
    Some(all.iter().take(FINDINGS).filter_map(|one| foreign(one, name)).collect())
}

fn foreign(one: &Value, name: &str) -> Option<Foreign> {
    let number = |pointer: &str| {
        one.pointer(pointer).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok())
    };
    let severity = match one.get("severity").and_then(Value::as_u64) {
        Some(2) => Severity::Warning,
        Some(3) => Severity::Info,
        Some(4) => Severity::Hint,
        _ => Severity::Error,
    };
    let code = match one.get("code") {
        Some(Value::String(code)) if !code.is_empty() => Some(shortened(code)),
        Some(Value::Number(code)) => Some(code.to_string()),
        _ => None,
    };
    let message = match one.get("message")? {
        Value::String(text) => text.clone(),
        // Since 3.18 it may be marked up.
        other => other.get("value")?.as_str()?.to_owned(),
    };
    Some(Foreign {
        line: number("/range/start/line")?.saturating_add(1),
        column: number("/range/start/character")?.saturating_add(1),
        severity,
        message: shortened(&message.split_whitespace().collect::<Vec<_>>().join(" ")),
        code,
        source: name.to_owned(),
    })
}

fn shortened(text: &str) -> String {
    if text.len() <= MESSAGE {
        return text.to_owned();
    }
    format!("{}…", text.get(..text.floor_char_boundary(MESSAGE)).unwrap_or_default())
}
