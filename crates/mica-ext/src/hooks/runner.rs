//! The seam to whoever runs commands, and the facts that hooks are told of the session.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;

use super::config::{Exec, Hook, Owner};

/// A command that is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// Where it stands, for messages.
    pub place: String,
    /// Whose it is.
    pub owner: Owner,
    /// What is run.
    pub exec: Exec,
    /// What it reads.
    pub stdin: String,
    /// How long it has.
    pub timeout: Duration,
    /// Hosts that it reaches.
    pub network: Vec<String>,
    /// Variables that it gets besides.
    pub env: BTreeMap<String, String>,
    /// The folder it runs in, below the project.
    pub cwd: Option<String>,
}

impl Invocation {
    /// A hook with what it reads.
    pub fn of(hook: &Hook, stdin: String) -> Self {
        Self {
            place: hook.place.clone(),
            owner: hook.owner,
            exec: hook.exec.clone(),
            stdin,
            timeout: hook.timeout,
            network: hook.network.clone(),
            env: hook.env.clone(),
            cwd: hook.cwd.clone(),
        }
    }
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// By itself, with a code.
    Exited(i32),
    /// By a signal.
    Signalled(i32),
    /// Its time was up.
    TimedOut,
    /// Another limit was reached, in words.
    Limited(String),
    /// It was stopped with the run or the session.
    Cancelled,
    /// It was never run, for this reason.
    NotRun(String),
}

/// What a command came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// What it printed, as much as is kept.
    pub stdout: Vec<u8>,
    /// Whether there was more.
    pub is_cut: bool,
    /// What it printed as errors, as much as is kept.
    pub stderr: Vec<u8>,
}

impl Ran {
    /// One that was never run.
    pub fn not(reason: impl Into<String>) -> Self {
        Self { end: End::NotRun(reason.into()), stdout: Vec::new(), is_cut: false, stderr: Vec::new() }
    }
}

/// Runs commands. What it is given is trusted: whoever loads hooks sees to that.
///
/// Contract: it keeps the deadline, ends everything that the command started when it is over or the future is dropped,
/// and bounds what it keeps.
#[async_trait]
pub trait Runner: Send + Sync {
    /// Runs a command to its end.
    async fn run(&self, invocation: Invocation) -> Ran;

    /// Takes secrets out of something that a command printed, before anybody reads it.
    async fn clean(&self, text: String) -> String {
        text
    }
}

/// The session, as hooks are told of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Situation {
    /// Its id.
    pub session: String,
    /// Where it is kept.
    pub transcript: Option<PathBuf>,
    /// The folder that is worked in.
    pub folder: PathBuf,
    /// How much may be done: `default`, `acceptEdits`, `plan` or `bypassPermissions`.
    pub mode: &'static str,
    /// Whether something was said in it before.
    pub is_resumed: bool,
}

/// Who knows the session, and tells people something.
pub trait Session: Send + Sync {
    /// The session as it is now.
    fn situation(&self) -> Situation;

    /// Tells people something.
    fn tell(&self, text: String);
}
