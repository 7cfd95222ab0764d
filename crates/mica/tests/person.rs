//! The interactive mode as a person sees it: the real binary on a pseudo-terminal, key by key.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use mica_testkit::{At, Fault, Scenario, ScriptedServer, Turn};
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
            match self.screen.recv_timeout(Duration::from_secs(30)) {
                Ok(more) => self.seen.push_str(&more),
                Err(_) => panic!("never saw {text:?}; there is {:?}", self.seen),
            }
        }
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

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_asked_once_and_answers_in_words() {
    let scenario = Scenario::new()
        .turn(writes("a.txt"))
        .turn(Turn::new().text("Not that."))
        .turn(writes("b.txt"))
        .turn(Turn::new().text("Written."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("write\r");
    let asked = person.sees("instead:");
    assert_eq!(asked.matches("? file_write").count(), 1, "{asked:?}");
    person.types("\r");
    person.sees("instead:");
    person.types("another name\r");
    person.sees("Not that.");
    person.sees("edit> ");
    person.types("again\r");
    person.sees("instead:");
    person.types("y\r");
    person.sees("Written.");
    person.sees("edit> ");
    let sent = person.server.captured()[1].json["messages"].to_string();
    assert!(sent.contains("another name"), "the model reads why: {sent}");
    let exists = |name: &str| person.folder.path().join("project").join(name).exists();
    assert_eq!((exists("a.txt"), exists("b.txt")), (false, true));
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_the_run_and_gives_back_what_was_not_sent() {
    let stalls = Turn::new().text("half of it").fault(Fault::Stall { at: At::BeforeFinish });
    let mut person = Person::sits_down(Scenario::new().turn(stalls).turn(Turn::new().text("Yes."))).await;
    person.sees("edit> ");
    person.types("begin\r");
    person.sees("half of it");
    person.types("do this\r");
    person.sees("joins before the next step");
    person.types("\x03");
    let stopped = person.sees("it is in the prompt");
    assert!(stopped.contains("stopped") && !stopped.contains("User {"), "{stopped:?}");
    person.sees("edit> ");
    person.types("\r");
    person.sees("Yes.");
    person.sees("edit> ");
    let sent = person.server.captured()[1].json["messages"].to_string();
    assert!(sent.contains("do this"), "{sent}");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_asks_again_when_the_person_is_back() {
    let mut person =
        Person::sits_down(Scenario::new().turn(writes("a.txt")).turn(Turn::new().text("Done."))).await;
    // A run that nobody watches stops at the question.
    let waits = Command::new(env!("CARGO_BIN_EXE_mica"))
        .env_clear()
        .env("MICA_HOME", person.folder.path().join("home"))
        .current_dir(person.folder.path().join("project"))
        .args(["-p", "write", "--base-url", &person.server.url("/v1"), "--model", "scripted"])
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert_eq!(waits.status.code(), Some(4));
    person.sees("edit> ");
    person.leaves();
    let newest = String::from_utf8(waits.stderr).unwrap();
    assert_eq!(newest.matches("file_write").count(), 1, "{newest}");
    person.comes_back();
    person.sees("? file_write");
    person.sees("instead:");
    person.types("y\r");
    person.sees("Done.");
    person.sees("edit> ");
    assert!(person.folder.path().join("project/a.txt").exists());
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_switches_the_model_and_leaves_nothing_unsaid() {
    let stalls = Turn::new().text("half of it").fault(Fault::Stall { at: At::BeforeFinish });
    let mut person = Person::sits_down(Scenario::new().turn(stalls).turn(Turn::new().text("Yes."))).await;
    let sessions = person.folder.path().join("home/data/sessions");
    person.sees("edit> ");
    person.types("/help\r");
    person.sees("/model [NAME]");
    person.sees("edit> ");
    person.types("/model flags/other\r");
    person.sees("other over chat at");
    person.sees("edit> ");
    person.types("/session\r");
    person.sees("made when something is said");
    person.sees("edit> ");
    person.leaves();
    assert!(!sessions.exists(), "nothing was said");

    (person.keyboard, person.screen, person.program) = begin(&person.folder, &person.server, &[]);
    person.sees("edit> ");
    person.types("begin\r");
    person.sees("half of it");
    person.types("/model flags/other\r");
    person.sees("the model is switched between runs");
    person.types("\x03");
    person.sees("stopped");
    person.sees("edit> ");
    person.types("/model flags/other\r");
    person.sees("other over chat at");
    person.sees("edit> ");
    person.types("/mode plan\r");
    person.sees("plan> ");
    person.types("go on\r");
    person.sees("Yes.");
    person.sees("plan> ");
    let models: Vec<String> =
        person.server.captured().iter().map(|request| request.json["model"].to_string()).collect();
    assert_eq!(models, ["\"scripted\"", "\"other\""]);
    person.leaves();
    person.comes_back();
    person.sees("plan> ");
    person.leaves();
}
