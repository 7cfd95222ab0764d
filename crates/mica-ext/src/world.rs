//! What extensions can ask of the program around them.
//!
//! The program implements [`World`]; every method has a default that refuses, so that a program without a screen, and a
//! test, implement what they have. Permissions of scripts are judged before the world is asked; policy and sandbox are the
//! world's.
//!
//! Contract: a method that waits must end soon after its token fires, and must not wait for the run itself (its events, its
//! end): extensions are asked in the middle of it.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use mica_ai::Content;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Why the world did not do what it was asked, in words for the author of the extension.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no such thing here.
    #[error("there is no {what} here")]
    Unavailable {
        /// What was asked for.
        what: &'static str,
    },
    /// A rule, or a person, says no.
    #[error("not allowed: {reason}")]
    Denied {
        /// Why.
        reason: String,
    },
    /// It was tried.
    #[error("{reason}")]
    Failed {
        /// What went wrong.
        reason: String,
    },
}

impl Refusal {
    /// It was tried, and this went wrong.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self::Failed { reason: reason.into() }
    }
}

/// How much a message to people matters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    #[default]
    Info,
    /// Something may be wrong.
    Warn,
    /// Something is wrong.
    Error,
}

/// One of several that a person picks from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What is shown.
    pub label: String,
    /// What it means, in a line.
    pub description: Option<String>,
}

/// When a message of an extension is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Deliver {
    /// Before the next model call of the run that goes on.
    #[default]
    Steer,
    /// When the run would end.
    FollowUp,
    /// With the next thing a person says.
    NextTurn,
}

/// In whose name a message is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Voice {
    /// The extension's own: the model is told whose words they are.
    #[default]
    Extension,
    /// As if the person had typed it.
    User,
}

/// Something that an extension says to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// What kind of message the extension calls it.
    pub custom_type: Option<String>,
    /// Text and images.
    pub content: Vec<Content>,
    /// In whose name.
    pub voice: Voice,
    /// When.
    pub deliver: Deliver,
    /// Whether a run begins with it when none goes on.
    pub trigger: bool,
    /// Whether people see it.
    pub display: bool,
    /// For user interfaces and the session. Never sent to a model.
    pub details: Option<Value>,
}

/// Something that an extension keeps in the session. It follows branches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Kept {
    /// The id of the entry.
    pub id: String,
    /// What kind of entry the extension calls it.
    pub custom_type: String,
    /// What it keeps.
    pub data: Value,
}

/// A tool, as extensions see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolInfo {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Whether the model can call it now.
    pub active: bool,
}

/// How full the window is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WindowUse {
    /// Tokens in it, as far as known.
    pub tokens: u64,
    /// Tokens that fit.
    pub window: u64,
}

/// A program to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exec {
    /// What to run.
    pub what: Program,
    /// Where, below the working folder. `None`: in it.
    pub cwd: Option<PathBuf>,
    /// What it reads.
    pub stdin: Option<String>,
    /// How long it may take.
    pub timeout: Duration,
}

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A program and its arguments.
    Argv(Vec<String>),
    /// A command line of the shell.
    Shell(String),
}

/// What a program came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Executed {
    /// What it wrote, cut when it is long.
    pub stdout: String,
    /// What it complained of, cut when it is long.
    pub stderr: String,
    /// How it ended; `None` when it was stopped.
    pub code: Option<i32>,
    /// Whether it was stopped, by its time or by somebody.
    pub killed: bool,
}

/// A request to the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    /// The address.
    pub url: String,
    /// `GET` and so on.
    pub method: String,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<String>,
    /// How long it may take.
    pub timeout: Duration,
}

/// What the network answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fetched {
    /// The status.
    pub status: u16,
    /// Headers, with names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body as text, cut when it is long.
    pub body: String,
    /// The address that answered, behind redirects.
    pub url: String,
}

/// What extensions can ask of the program. `by` is the name of the extension that asks.
#[async_trait]
pub trait World: Send + Sync {
    /// The folder that the agent works in.
    fn cwd(&self) -> PathBuf {
        PathBuf::from(".")
    }

    /// Whether there is somebody to ask. Nobody waits for a person who is not there: the defaults answer no.
    fn has_ui(&self) -> bool {
        false
    }

    /// Asks a person for a yes. No person, no answer and a withdrawn question are a no.
    async fn confirm(&self, by: &str, title: &str, message: &str, cancel: &CancellationToken) -> bool {
        let _ = (by, title, message, cancel);
        false
    }

    /// Lets a person pick one, by its index.
    async fn select(
        &self,
        by: &str,
        title: &str,
        choices: &[Choice],
        cancel: &CancellationToken,
    ) -> Option<usize> {
        let _ = (by, title, choices, cancel);
        None
    }

    /// Lets a person write something.
    async fn input(
        &self,
        by: &str,
        title: &str,
        placeholder: &str,
        cancel: &CancellationToken,
    ) -> Option<String> {
        let _ = (by, title, placeholder, cancel);
        None
    }

    /// Shows a message. Never waits.
    fn notify(&self, by: &str, text: &str, severity: Severity) {
        let _ = (by, text, severity);
    }

    /// Shows a short text for as long as it is set, under a key of the extension. `None` takes it away.
    fn set_status(&self, by: &str, key: &str, text: Option<&str>) {
        let _ = (by, key, text);
    }

    /// An extension was stopped for good: what it shows is taken away.
    fn stopped(&self, by: &str) {
        let _ = by;
    }

    /// Says something to the model. Taken at once, said when it is time.
    ///
    /// # Errors
    /// [`Refusal`], also when too much waits already.
    fn send_message(&self, by: &str, message: Outgoing) -> Result<(), Refusal> {
        let _ = (by, message);
        Err(Refusal::Unavailable { what: "conversation" })
    }

    /// Keeps something in the session, at the current leaf. Returns its id when it is safe.
    ///
    /// # Errors
    /// [`Refusal`].
    async fn append_entry(&self, by: &str, custom_type: &str, data: Value) -> Result<String, Refusal> {
        let _ = (by, custom_type, data);
        Err(Refusal::Unavailable { what: "session" })
    }

    /// What this extension kept on the current branch, the oldest first.
    ///
    /// # Errors
    /// [`Refusal`].
    async fn entries(&self, by: &str) -> Result<Vec<Kept>, Refusal> {
        let _ = by;
        Ok(Vec::new())
    }

    /// All tools, by name.
    fn tools(&self) -> Vec<ToolInfo> {
        Vec::new()
    }

    /// Which tools the model can call from now on. Others are refused when they are called; the list that the model is sent
    /// does not change within a session.
    ///
    /// # Errors
    /// [`Refusal`], for a tool that there is not.
    fn set_active_tools(&self, by: &str, names: &[String]) -> Result<(), Refusal> {
        let _ = (by, names);
        Err(Refusal::Unavailable { what: "choice of tools" })
    }

    /// How hard the model thinks: `off`, `minimal`, `low`, `medium`, `high`, `xhigh`.
    fn thinking_level(&self) -> String {
        "off".to_owned()
    }

    /// Sets how hard the model thinks, from the next request on.
    ///
    /// # Errors
    /// [`Refusal`], for a level that the model does not have.
    fn set_thinking_level(&self, by: &str, level: &str) -> Result<(), Refusal> {
        let _ = (by, level);
        Err(Refusal::Unavailable { what: "choice of thinking" })
    }

    /// Ends the run that goes on, if one does. Never waits for its end.
    fn abort(&self, by: &str) {
        let _ = by;
    }

    /// Whether no run goes on.
    fn is_idle(&self) -> bool {
        true
    }

    /// How full the window is.
    fn usage(&self) -> WindowUse {
        WindowUse::default()
    }

    /// The system prompt as the model is sent it.
    fn system_prompt(&self) -> String {
        String::new()
    }

    /// Runs a program, in the sandbox and by the rules that hold for commands.
    ///
    /// # Errors
    /// [`Refusal`]. A program that fails is no error: its code says so.
    async fn exec(&self, by: &str, exec: Exec, cancel: &CancellationToken) -> Result<Executed, Refusal> {
        let _ = (by, exec, cancel);
        Err(Refusal::Unavailable { what: "way to run programs" })
    }

    /// Asks the network, by the rules that hold for it.
    ///
    /// # Errors
    /// [`Refusal`]. A status that says no is no error.
    async fn fetch(&self, by: &str, fetch: Fetch, cancel: &CancellationToken) -> Result<Fetched, Refusal> {
        let _ = (by, fetch, cancel);
        Err(Refusal::Unavailable { what: "network" })
    }

    /// What this extension stored under a key, in whatever session.
    ///
    /// # Errors
    /// [`Refusal`].
    async fn stored(&self, by: &str, key: &str) -> Result<Option<Value>, Refusal> {
        let _ = (by, key);
        Ok(None)
    }

    /// Stores something under a key; `None` takes it away. The world bounds what one extension may store.
    ///
    /// # Errors
    /// [`Refusal`].
    async fn store(&self, by: &str, key: &str, value: Option<Value>) -> Result<(), Refusal> {
        let _ = (by, key, value);
        Err(Refusal::Unavailable { what: "storage" })
    }

    /// The keys under which this extension stored something, sorted.
    ///
    /// # Errors
    /// [`Refusal`].
    async fn stored_keys(&self, by: &str) -> Result<Vec<String>, Refusal> {
        let _ = by;
        Ok(Vec::new())
    }

    /// A line that a script printed, for its log.
    fn log(&self, by: &str, severity: Severity, line: &str) {
        let _ = (by, severity, line);
    }
}

/// A world without anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWorld;

impl World for NoWorld {}
