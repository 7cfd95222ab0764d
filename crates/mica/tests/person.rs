//! The interactive mode as a person sees it: the real binary on a pseudo-terminal, key by key.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

#[path = "person/asking.rs"]
mod asking;
#[path = "person/checks.rs"]
mod checks;
#[path = "person/delegates.rs"]
mod delegates;
#[path = "person/desk.rs"]
mod desk;
#[path = "person/extending.rs"]
mod extending;
#[path = "person/inquiries.rs"]
mod inquiries;
#[path = "person/remembering.rs"]
mod remembering;
#[path = "person/switching.rs"]
mod switching;
#[path = "person/tree.rs"]
mod tree;
#[path = "person/undoing.rs"]
mod undoing;

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use mica_testkit::{At, Fault, Pacing, Scenario, ScriptedServer, Turn, When};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;

/// A person at a terminal.
struct Person {
    keyboard: File,
    screen: Receiver<String>,
    /// What came and was not looked at yet.
    seen: String,
    program: Child,
    folder: tempfile::TempDir,
    server: ScriptedServer,
}

impl Person {
    async fn sits_down(scenario: Scenario) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = ScriptedServer::start(scenario).await.unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        let (keyboard, screen, program) = begin(&folder, &server, &[]);
        Self { keyboard, screen, seen: String::new(), program, folder, server }
    }

    /// Leaves, and comes back to the newest session.
    fn comes_back(&mut self) {
        (self.keyboard, self.screen, self.program) = begin(&self.folder, &self.server, &["--continue"]);
    }

    fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the screen shows `text`, and gives what came until then.
    fn sees(&mut self, text: &str) -> String {
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            match self.screen.recv_timeout(Duration::from_secs(100)) {
                Ok(more) => self.seen.push_str(&more),
                Err(_) => panic!("never saw {text:?}; there is {:?}", self.seen),
            }
        }
    }

    /// Runs the program once, in the same project, where nobody can type.
    fn elsewhere(&self, arguments: &[&str]) -> std::process::Output {
        Command::new(env!("CARGO_BIN_EXE_mica"))
            .env_clear()
            .env("MICA_HOME", self.folder.path().join("home"))
            .current_dir(self.folder.path().join("project"))
            .args(arguments)
            .args(["--base-url", &self.server.url("/v1"), "--model", "scripted"])
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap()
    }

    fn leaves(&mut self) {
        self.types("\x04");
        assert_eq!(self.program.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

fn begin(
    folder: &tempfile::TempDir,
    server: &ScriptedServer,
    flags: &[&str],
) -> (File, Receiver<String>, Child) {
    let pty = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&pty).unwrap();
    unlockpt(&pty).unwrap();
    let name = ptsname(&pty, Vec::new()).unwrap().into_string().unwrap();
    let side = || OpenOptions::new().read(true).write(true).open(&name).unwrap();
    let program = Command::new(env!("CARGO_BIN_EXE_mica"))
        .env_clear()
        .env("MICA_HOME", folder.path().join("home"))
        .env("TERM", "xterm")
        .current_dir(folder.path().join("project"))
        .args(["--base-url", &server.url("/v1"), "--model", "scripted"])
        .args(flags)
        .stdin(side())
        .stdout(side())
        .stderr(side())
        .spawn()
        .unwrap();
    let keyboard = File::from(pty);
    let mut reader = keyboard.try_clone().unwrap();
    let (sender, screen) = sync_channel(1024);
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count) = reader.read(&mut buffer) {
            let text = String::from_utf8_lossy(&buffer[..count]).into_owned();
            if count == 0 || sender.send(text).is_err() {
                return;
            }
        }
    });
    (keyboard, screen, program)
}

fn writes(name: &str) -> Turn {
    Turn::new().call("file_write", json!({ "path": name, "content": "x" }))
}
