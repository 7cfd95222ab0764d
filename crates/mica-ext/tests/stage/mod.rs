//! What tests of MCP servers share: the stand-in as a server, a sandbox that it is the stub of, and somebody to ask.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    reason = "helpers of tests are tests, and not every file uses all of them"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::{RunId, Tool, ToolCx, ToolError, ToolOutput};
use mica_ai::Content;
use mica_ai::id::CallId;
use mica_ext::mcp::config::{self, Read};
use mica_ext::mcp::{Given, Patience, Servers, Settings, Source};
use mica_sandbox::{Boundary, Sandbox, Stub};
use mica_tools::person::Answer;
use mica_tools::{Ground, Inquiry, Person, Reply};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// The stand-in, built with the tests.
pub fn stand_in() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.ancestors().nth(2).unwrap().join("examples/mcp_stand_in");
    assert!(path.exists(), "{} is missing: cargo build -p mica-ext --example mcp_stand_in", path.display());
    path
}

/// Nothing is confined in these tests, but where one says so.
struct OpenGround(PathBuf);

#[async_trait]
impl Ground for OpenGround {
    async fn sandbox(&self) -> Result<Sandbox, ToolError> {
        Ok(Sandbox::negotiate(Stub::at(stand_in())).await)
    }

    fn boundary(&self) -> Result<Boundary, ToolError> {
        let environment = BTreeMap::from([("PATH".to_owned(), std::env::var("PATH").unwrap_or_default())]);
        let around =
            mica_sandbox::Around { home: None, environment: &environment, temporary: &std::env::temp_dir() };
        let places = mica_sandbox::Places::builtin().unwrap();
        Boundary::project(&self.0, &around, &places).map_err(|error| ToolError::new(error.for_model()))
    }
}

/// Answers with a name, or is nobody; counts how often it was asked.
#[derive(Default)]
pub struct Somebody {
    pub name: Option<String>,
    /// How long they think.
    pub takes: Duration,
    pub asked: Mutex<Vec<String>>,
}

#[async_trait]
impl Person for Somebody {
    async fn ask(&self, inquiry: Inquiry) -> Reply {
        self.asked.lock().unwrap().extend(inquiry.questions.iter().map(|question| question.question.clone()));
        tokio::time::sleep(self.takes).await;
        match &self.name {
            None => Reply::Nobody,
            Some(name) => {
                let answer = Answer { chosen: Vec::new(), text: Some(name.clone()) };
                Reply::Answered(inquiry.questions.iter().map(|_| answer.clone()).collect())
            }
        }
    }
}

pub struct Stage {
    pub folder: tempfile::TempDir,
    pub given: Given,
    pub person: Arc<Somebody>,
}

impl Stage {
    pub fn new() -> Self {
        Self::with(Somebody::default())
    }

    pub fn with(person: Somebody) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("project");
        std::fs::create_dir(&root).unwrap();
        let person = Arc::new(person);
        let environment = BTreeMap::from([("PATH".to_owned(), std::env::var("PATH").unwrap_or_default())]);
        let given = Given {
            ground: Arc::new(OpenGround(root.clone())),
            open: Sandbox::unconfined(Stub::at(stand_in())),
            environment,
            temporary: std::env::temp_dir(),
            root,
            data: folder.path().join("data"),
            person: Arc::clone(&person) as Arc<dyn Person>,
            patience: Patience { pause: Duration::from_millis(20), ..Patience::default() },
        };
        Self { folder, given, person }
    }

    /// A server with these words for the stand-in, and more that is written of it.
    pub fn entry(words: &[&str], more: Value) -> Value {
        let mut entry = json!({ "command": stand_in().display().to_string(), "args": words });
        for (key, value) in more.as_object().cloned().unwrap_or_default() {
            entry[key] = value;
        }
        entry
    }

    pub fn read(&self, servers: Value) -> Read {
        let text = json!({ "servers": servers }).to_string();
        let read = config::read(&text, Source::User, &self.given.root, &|_| None);
        assert_eq!(read.problems, []);
        read
    }

    pub fn servers(&self, servers: Value) -> Servers {
        Servers::new(self.read(servers).servers, &self.given, Settings::default())
    }

    /// One server called `s`.
    pub fn one(&self, words: &[&str]) -> Servers {
        self.servers(json!({ "s": Self::entry(words, json!({})) }))
    }
}

pub fn cx() -> ToolCx {
    ToolCx::new(RunId::fresh(), CallId::from("c"), CancellationToken::new(), |_| {})
}

/// The tool of a name, sent or on the shelf.
pub fn tool(servers: &Servers, name: &str) -> Arc<dyn Tool> {
    let all = servers.now();
    let found = all.iter().find(|tool| tool.spec().name == name).cloned();
    found.unwrap_or_else(|| {
        panic!("no {name} among {:?}", all.iter().map(|tool| &tool.spec().name).collect::<Vec<_>>())
    })
}

pub async fn call(servers: &Servers, name: &str, args: Value) -> Result<String, String> {
    call_with(servers, name, args, &cx()).await
}

pub async fn call_with(servers: &Servers, name: &str, args: Value, cx: &ToolCx) -> Result<String, String> {
    let args = args.as_object().cloned().unwrap_or_default();
    let output = tool(servers, name).call(args, cx).await;
    output.map(|output| text(&output)).map_err(|error| error.message)
}

/// The words of a result, without the boundary.
pub fn text(output: &ToolOutput) -> String {
    let Some(Content::Text { text }) = output.content.first() else { panic!("{output:?}") };
    let inner = text.split_once(">\n").and_then(|(_, rest)| rest.rsplit_once("\n</mcp_result>"));
    inner.map_or(text.clone(), |(inner, _)| inner.to_owned())
}

/// Processes whose command line has this in it, besides this one.
pub fn processes(mark: &str) -> Vec<i32> {
    let own = i32::try_from(std::process::id()).unwrap();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        *pid != own && String::from_utf8_lossy(&line).contains(mark)
    })
    .collect()
}
