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

use mica_testkit::{At, Fault, Pacing, Scenario, ScriptedServer, Turn};
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

#[tokio::test(flavor = "multi_thread")]
async fn a_question_shows_what_would_change_and_all_of_it_when_asked() {
    let lines: String = (0..40).map(|line| format!("line {line}\n")).collect();
    let write = Turn::new().call("file_write", json!({ "path": "a.txt", "content": lines }));
    let mut person = Person::sits_down(Scenario::new().turn(write).turn(Turn::new().text("Done."))).await;
    person.sees("edit> ");
    person.types("write\r");
    let asked = person.sees("instead:");
    assert!(asked.contains("? file_write a.txt (+40 -0)"), "{asked:?}");
    assert!(asked.contains("+line 16") && !asked.contains("+line 17"), "{asked:?}");
    assert!(asked.contains("… 23 more lines"), "{asked:?}");
    person.types("a\r");
    let all = person.sees("instead:");
    assert!(all.contains("+line 39") && !all.contains("more lines"), "{all:?}");
    person.types("y\r");
    person.sees("Done.");
    person.sees("edit> ");
    assert_eq!(std::fs::read_to_string(person.folder.path().join("project/a.txt")).unwrap(), lines);
    person.leaves();
}

/// A line that was half typed once became the answer to the question that came in between.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_half_typed_is_no_answer_and_comes_back() {
    // Slow enough for somebody to type while it speaks.
    let slowly = Pacing { chars: 1, delay_ms: 100, ..Pacing::default() };
    let words = "These are words that take a while.";
    let scenario = Scenario::new()
        .turn(writes("a.txt").text(words).pacing(slowly))
        .turn(Turn::new().text(words).pacing(slowly))
        .turn(Turn::new().text("Added."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("write\r");
    person.sees("These");
    person.types("yes, and add te");
    person.sees("» yes, and add te");
    person.sees("instead:");
    assert!(!person.folder.path().join("project/a.txt").exists(), "nothing is answered yet");
    person.types("y\r");
    person.sees("» y");
    // The draft is back, and goes on where it was.
    person.sees("» yes, and add te");
    person.types("sts\r");
    person.sees("joins before the next step");
    person.sees("Added.");
    person.sees("edit> ");
    assert!(person.folder.path().join("project/a.txt").exists());
    let requests = person.server.captured();
    let last = requests[2].json["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(last.contains("yes, and add tests"), "{last}");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aborted_question_leaves_the_draft_in_the_prompt() {
    let slowly = Pacing { chars: 1, delay_ms: 100, ..Pacing::default() };
    let scenario = Scenario::new()
        .turn(writes("a.txt").text("These are words that take a while.").pacing(slowly))
        .turn(Turn::new().text("Heard."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("write\r");
    person.sees("These");
    person.types("or rather");
    person.sees("» or rather");
    person.sees("instead:");
    person.types("\x03");
    person.sees("stopped");
    person.sees("edit> or rather");
    person.types(" not\r");
    person.sees("Heard.");
    person.sees("edit> ");
    let said = person.server.captured()[1].json["messages"].to_string();
    assert!(said.contains("or rather not"), "{said}");
    person.leaves();
}

/// The short id before a text in what `/tree` shows.
fn id_before(tree: &str, text: &str) -> String {
    let line =
        tree.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("no {text:?} in {tree}"));
    line.split_whitespace().find(|word| word.len() == 8).unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_marks_goes_back_and_says_it_differently() {
    let answers = ["First answer.", "Second answer.", "Third answer."];
    let scenario = answers.iter().fold(Scenario::new(), |all, text| all.turn(Turn::new().text(*text)));
    let mut person = Person::sits_down(scenario).await;
    for (question, answer) in [("one question", "First answer."), ("another question", "Second answer.")] {
        person.sees("edit> ");
        person.types(&format!("{question}\r"));
        person.sees(answer);
    }
    person.sees("edit> ");
    person.types("/tree\r");
    let tree = person.sees("edit> ");
    let (first, another) = (id_before(&tree, "First answer."), id_before(&tree, "another question"));
    person.types(&format!("/label {first} good\r"));
    person.sees(&format!("{first} is labelled \"good\""));
    person.types("/name Two questions\r");
    person.sees("is called \"Two questions\"");
    person.types("/goto nowhere\r");
    person.sees("no entry has the label \"nowhere\"");
    person.types(&format!("/goto {another}\r"));
    person.sees("(Enter: nothing) ");
    person.types("it was too vague\r");
    person.sees("the conversation goes on at");
    // What was said is in the prompt, to be said differently.
    person.sees("another question");
    person.types(", a sharper one\r");
    person.sees("Third answer.");
    person.sees("edit> ");
    let sent = person.server.captured()[2].json["messages"].to_string();
    assert!(sent.contains("another question, a sharper one") && sent.contains("it was too vague"), "{sent}");
    assert!(sent.contains("First answer.") && !sent.contains("Second answer."), "{sent}");
    person.types("/fork good\r");
    let forked = person.sees("opens it");
    let id = forked.split("--resume ").nth(1).unwrap().split('`').next().unwrap().to_owned();
    person.sees("edit> ");
    person.leaves();
    let tree = Command::new(env!("CARGO_BIN_EXE_mica"))
        .env_clear()
        .env("MICA_HOME", person.folder.path().join("home"))
        .args(["sessions", "tree", &id])
        .output()
        .unwrap();
    let tree = String::from_utf8(tree.stdout).unwrap();
    assert!(tree.contains("Two questions") && tree.contains("First answer.  [good]"), "{tree}");
    assert!(!tree.contains("another question"), "{tree}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_takes_a_compaction_back() {
    use mica_session::{Access, Body, Compaction, Durability, Sessions};
    let scenario = Scenario::new().turn(Turn::new().text("Seen.")).turn(Turn::new().text("All of it."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("the old question\r");
    person.sees("Seen.");
    person.sees("edit> ");
    person.types("/undo-compact\r");
    person.sees("there is nothing to undo");
    person.sees("edit> ");
    person.leaves();
    let sessions = Sessions::new(person.folder.path().join("home/data/sessions"), jiff::Timestamp::now);
    let path = sessions.list(None).sessions[0].path.clone();
    let compaction = Compaction {
        summary: "<summary>only the gist</summary>".to_owned(),
        tokens_before: 1234,
        reason: "asked for".to_owned(),
        ..Compaction::default()
    };
    let mut session = sessions.open(&path, Access::Write).unwrap();
    session.append(Body::Compaction(compaction), Durability::Now).unwrap();
    drop(session);
    person.comes_back();
    person.sees("edit> ");
    person.types("/undo-compact\r");
    person.sees("everything is in the window again, 1234 tokens");
    person.sees("edit> ");
    person.types("what was it?\r");
    person.sees("All of it.");
    person.sees("edit> ");
    let sent = person.server.captured()[1].json["messages"].to_string();
    assert!(sent.contains("the old question") && !sent.contains("only the gist"), "{sent}");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_8_a_person_undoes_and_redoes_and_the_model_is_told() {
    let scenario = Scenario::new()
        .turn(writes("a.txt"))
        .turn(Turn::new().text("Done."))
        .turn(Turn::new().text("I see."));
    let mut person = Person::sits_down(scenario).await;
    let exists = |person: &Person| person.folder.path().join("project/a.txt").exists();
    person.sees("edit> ");
    person.types("write it\r");
    person.sees("instead:");
    person.types("y\r");
    person.sees("Done.");
    person.sees("edit> ");
    person.types("/undo --nonsense\r");
    person.sees("unexpected argument '--nonsense'");
    person.sees("edit> ");
    person.types("/undo\r");
    person.sees("(write it)");
    person.sees("a.txt");
    person.sees("edit> ");
    assert!(!exists(&person));
    person.types("/redo\r");
    person.sees("redid run");
    person.sees("edit> ");
    assert!(exists(&person));
    person.types("/undo --list\r");
    person.sees("write it");
    person.sees("edit> ");
    person.types("/undo\r");
    person.sees("undid run");
    person.sees("edit> ");
    person.types("and now?\r");
    person.sees("I see.");
    person.sees("edit> ");
    let sent = person.server.captured()[2].json["messages"].to_string();
    assert!(sent.contains("took changes of yours back"), "{sent}");
    person.leaves();
}
