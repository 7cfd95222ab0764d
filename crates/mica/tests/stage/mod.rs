//! What tests of the program share: a folder to work in, a home, a scripted model, and the real binary.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests, and not every file uses all of them"
)]

pub mod pipe;

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use mica_session::{Session, Sessions};
use mica_testkit::{Scenario, ScriptedServer};
use tokio::process::Command;

/// A folder to work in, a home, and a model.
pub struct Stage {
    pub folder: tempfile::TempDir,
    pub server: ScriptedServer,
    variables: Vec<(&'static str, String)>,
}

/// What a run of the program came to.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Stage {
    pub async fn new(scenario: Scenario) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        std::fs::write(folder.path().join("project/a.txt"), "hello\nworld\n").unwrap();
        Self { folder, server: ScriptedServer::start(scenario).await.unwrap(), variables: Vec::new() }
    }

    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project").canonicalize().unwrap()
    }

    /// Sets a variable for all that follows.
    pub fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.variables.push((name, value.into()));
    }

    /// Writes the user's settings.
    pub fn settings(&self, text: &str) {
        let folder = self.folder.path().join("home/config");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.toml"), text).unwrap();
    }

    /// The sessions of this home, at a time of the test's own.
    pub fn sessions(&self, now: jiff::Timestamp) -> Sessions {
        Sessions::new(self.folder.path().join("home/data/sessions"), move || now)
    }

    /// A session of this project in which something was said, and how long ago.
    pub fn said(&self, text: &str, days_ago: i64) -> Session {
        let now = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24 * days_ago);
        let mut session = self.sessions(now).create(&self.project(), None).unwrap();
        let message = mica_ai::Message::from(mica_ai::User::text(text));
        session.append(message, mica_session::Durability::Now).unwrap();
        session
    }

    /// Runs the program without a model.
    pub async fn mica(&self, arguments: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mica"));
        command
            .env_clear()
            .env("MICA_HOME", self.folder.path().join("home"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.project())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let child = command.spawn().unwrap();
        let output =
            tokio::time::timeout(Duration::from_secs(110), child.wait_with_output()).await.unwrap().unwrap();
        Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs the program with the scripted model.
    pub async fn ask(&self, arguments: &[&str]) -> Ran {
        let url = self.server.url("/v1");
        let model = ["--base-url", &url, "--model", "scripted"];
        self.mica(&[arguments, &model].concat()).await
    }

    /// Runs the program without a model, and wants it to work.
    pub async fn does(&self, arguments: &[&str]) -> String {
        let ran = self.mica(arguments).await;
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}{}", ran.out, ran.err);
        ran.out
    }

    /// Runs the program without a model, and wants it to fail. Answers what it says.
    pub async fn fails(&self, arguments: &[&str]) -> String {
        let ran = self.mica(arguments).await;
        assert_eq!(ran.code, Some(1), "{arguments:?}: {}{}", ran.out, ran.err);
        ran.err
    }
}
