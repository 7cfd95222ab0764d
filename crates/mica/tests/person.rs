//! The interactive mode as a person sees it: the real binary on a pseudo-terminal, key by key.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

#[path = "person/checks.rs"]
mod checks;

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
            match self.screen.recv_timeout(Duration::from_secs(30)) {
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
    let waits = person.elsewhere(&["-p", "write"]);
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

fn storage() -> serde_json::Value {
    let options = json!([{ "label": "SQLite", "description": "one file" }, { "label": "Postgres" }]);
    json!({ "header": "Storage", "question": "Where are orders kept?", "options": options })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_answers_what_a_call_asks() {
    let parts = json!({
        "header": "Parts",
        "question": "Which parts?",
        "options": [{ "label": "Orders" }, { "label": "Stock" }],
        "multi_select": true,
    });
    let asks = |questions: serde_json::Value| {
        Turn::new().call("ask_user_question", json!({ "questions": questions }))
    };
    let list = json!([{ "content": "Look \u{1b}[31m", "status": "completed" }, { "content": "Add tests", "status": "in_progress" }]);
    let scenario = Scenario::new()
        .turn(asks(json!([storage(), parts])))
        .turn(asks(json!([storage()])))
        .turn(Turn::new().call("todo_write", json!({ "todos": list })))
        .turn(Turn::new().text("Settled."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("/todos\r");
    person.sees("there is no list of what is to be done");
    person.sees("edit> ");
    person.types("begin\r");
    let asked = person.sees("/decline:");
    assert!(
        asked.contains(
            "? Storage (1 of 2): Where are orders kept?\r\n  1  SQLite — one file\r\n  2  Postgres"
        ),
        "{asked:?}"
    );
    assert!(!asked.contains("ask_user_question") && !asked.contains("● Ask"), "{asked:?}");
    person.types("\r");
    person.sees("/decline:");
    person.types("7\r");
    person.sees("there is no choice 7");
    person.sees("/decline:");
    person.types("2\r");
    person.sees("? Parts (2 of 2): Which parts?");
    person.sees("/decline:");
    person.types("1 2\r");
    // The next call asks again, and is answered in words.
    person.sees("? Storage: Where are orders kept?");
    person.sees("/decline:");
    person.types("a heap of files\r");
    let listed = person.sees("Settled.");
    assert!(listed.contains("● To do, 1 of 2 done"), "{listed:?}");
    assert!(listed.contains("[x] Look \\u{1b}[31m") && listed.contains("[>] Add tests"), "{listed:?}");
    person.sees("edit> ");
    person.types("/todos\r");
    person.sees("[>] Add tests");
    person.sees("edit> ");
    let sent = |request: usize| person.server.captured()[request].json["messages"].to_string();
    assert!(
        sent(1).contains(r"Where are orders kept? Postgres\n- Which parts? Orders, Stock"),
        "{}",
        sent(1)
    );
    assert!(sent(2).contains("in their own words: a heap of files"), "{}", sent(2));
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_withdraws_what_a_call_asks() {
    let asks = Turn::new().call("ask_user_question", json!({ "questions": [storage()] }));
    let mut person = Person::sits_down(Scenario::new().turn(asks).turn(Turn::new().text("Yes."))).await;
    person.sees("edit> ");
    person.types("begin\r");
    person.sees("/decline:");
    person.types("\x03");
    person.sees("stopped");
    person.sees("edit> ");
    person.types("go on\r");
    person.sees("Yes.");
    person.sees("edit> ");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_agrees_to_a_plan_after_changing_it() {
    let plan = |steps: &str| {
        Turn::new().call("exit_plan_mode", json!({ "plan": format!("# Retries\n\n{steps}\n") }))
    };
    let scenario = Scenario::new()
        .turn(Turn::new().call("enter_plan_mode", json!({ "title": "Retries" })))
        .turn(plan("1. Add them."))
        .turn(plan("1. Add them.\n2. Test them."))
        .turn(writes("a.txt"))
        .turn(Turn::new().text("Built."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("add retries\r");
    person.sees("? enter_plan_mode");
    person.sees("instead:");
    person.types("y\r");
    person.sees("… plan mode");
    let asked = person.sees("instead:");
    assert!(asked.contains("? exit_plan_mode: Retries\r\n  # Retries\r\n  \r\n  1. Add them."), "{asked:?}");
    person.types("with tests\r");
    person.sees("2. Test them.");
    person.sees("instead:");
    person.types("y\r");
    person.sees("… edit mode");
    person.sees("? file_write");
    person.sees("instead:");
    person.types("y\r");
    person.sees("Built.");
    person.sees("edit> ");
    assert!(person.folder.path().join("project/a.txt").exists());
    let sent = person.server.captured()[2].json["messages"].to_string();
    assert!(sent.contains("The person declined: with tests"), "{sent}");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_calls_that_ask_at_once_are_answered_one_after_the_other() {
    let ask = |header: &str| {
        let mut question = storage();
        question["header"] = json!(header);
        json!({ "questions": [question] })
    };
    let both = Turn::new().call("ask_user_question", ask("First")).call("ask_user_question", ask("Second"));
    let mut person = Person::sits_down(Scenario::new().turn(both).turn(Turn::new().text("Both."))).await;
    person.sees("edit> ");
    person.types("begin\r");
    let asked = person.sees("/decline:");
    let (first, second) = if asked.contains("? First:") { ("1", "/decline") } else { ("/decline", "1") };
    person.types(&format!("{first}\r"));
    person.sees(if first == "1" { "? Second:" } else { "? First:" });
    person.sees("/decline:");
    person.types(&format!("{second}\r"));
    person.sees("Both.");
    person.sees("edit> ");
    let messages = person.server.captured()[1].json["messages"].as_array().unwrap().clone();
    let results: Vec<String> = messages
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].to_string())
        .collect();
    assert!(results[0].contains("SQLite") && results[1].contains("does not want to answer"), "{results:?}");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_is_remembered_for_the_session_and_can_be_taken_back() {
    let three = ["a.txt", "AGENTS.md", "c.txt"]
        .iter()
        .fold(Turn::new(), |turn, path| turn.call("file_write", json!({ "path": path, "content": "x" })));
    let scenario = Scenario::new()
        .turn(three)
        .turn(Turn::new().text("All written."))
        .turn(writes("d.txt"))
        .turn(Turn::new().text("Fourth."))
        .turn(writes("e.txt"))
        .turn(Turn::new().text("Fifth."))
        .turn(writes("f.txt"))
        .turn(Turn::new().text("Not the sixth."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("write\r");
    let asked = person.sees("instead:");
    assert!(asked.contains("? file_write a.txt"), "{asked:?}");
    assert!(
        asked.contains("[s] yes, and for this session: all changes to files in this project"),
        "{asked:?}"
    );
    assert!(!asked.contains("[p]"), "{asked:?}");
    // A choice that is not there is neither a yes nor a reason to decline.
    person.types("p\r");
    person.sees("there is no choice p here");
    person.sees("instead:");
    person.types("s\r");
    // The third is covered; what tells agents what to do is asked about all the same, and has nothing to remember.
    let asked = person.sees("instead:");
    assert!(asked.contains("? file_write AGENTS.md") && !asked.contains("[s]"), "{asked:?}");
    person.types("n\r");
    let ran = person.sees("All written.");
    assert!(!ran.contains('?'), "{ran:?}");
    person.sees("edit> ");
    person.types("/rules\r");
    person.sees("1  this session  all changes to files in this project");
    person.sees("edit> ");
    person.leaves();
    person.comes_back();
    person.sees("edit> ");
    person.types("more\r");
    let ran = person.sees("Fourth.");
    assert!(!ran.contains("instead:"), "it is remembered: {ran:?}");
    person.sees("edit> ");
    person.leaves();
    let listed = String::from_utf8(person.elsewhere(&["rules", "list"]).stdout).unwrap();
    assert!(listed.contains("Remembered for sessions of this project:\n"), "{listed}");
    assert!(listed.contains("  write\n    all changes to files in this project\n"), "{listed}");
    // A run that nobody watches goes by it, too, and a new session does not.
    assert_eq!(person.elsewhere(&["-p", "write", "--continue"]).status.code(), Some(0));
    assert_eq!(person.elsewhere(&["-p", "write"]).status.code(), Some(4));
    let exists = |name: &str| person.folder.path().join("project").join(name).exists();
    let written = ["a.txt", "AGENTS.md", "c.txt", "d.txt", "e.txt", "f.txt"].map(exists);
    assert_eq!(written, [true, false, true, true, true, false]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_takes_back_is_asked_again() {
    let scenario = Scenario::new()
        .turn(writes("a.txt"))
        .turn(Turn::new().text("First."))
        .turn(writes("b.txt"))
        .turn(Turn::new().text("Second."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("/rules\r");
    person.sees("nothing is remembered");
    person.sees("edit> ");
    person.types("write\r");
    person.sees("instead:");
    person.types("s\r");
    person.sees("First.");
    person.sees("edit> ");
    for wrong in ["/rules forget\r", "/rules forget 0\r", "/rules forget 2\r"] {
        person.types(wrong);
        person.sees("say which one: /rules forget N");
        person.sees("edit> ");
    }
    person.types("/rules forget 1\r");
    person.sees("asked about again: all changes to files in this project");
    person.sees("edit> ");
    person.types("/rules\r");
    person.sees("nothing is remembered");
    person.sees("edit> ");
    person.types("again\r");
    person.sees("instead:");
    person.types("n\r");
    person.sees("Second.");
    person.sees("edit> ");
    person.leaves();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waited_goes_on_with_what_is_remembered() {
    let two = writes("a.txt").call("file_write", json!({ "path": "b.txt", "content": "x" }));
    let scenario = Scenario::new().turn(two).turn(Turn::new().text("Both."));
    let mut person = Person::sits_down(scenario).await;
    let waits = person.elsewhere(&["-p", "write"]);
    assert_eq!(waits.status.code(), Some(4));
    person.sees("edit> ");
    person.leaves();
    person.comes_back();
    person.sees("[s] yes, and for this session: all changes");
    person.sees("instead:");
    person.types("s\r");
    let ran = person.sees("Both.");
    assert!(!ran.contains("instead:"), "{ran:?}");
    person.sees("edit> ");
    let exists = |name: &str| person.folder.path().join("project").join(name).exists();
    assert_eq!((exists("a.txt"), exists("b.txt")), (true, true));
    person.leaves();
}

/// A turn for whoever was told this, after so many results.
fn told(words: &str, results: usize) -> Turn {
    let when = When { user_contains: Some(words.to_owned()), tool_results: Some(results), ..When::default() };
    Turn { when: Some(when), ..Turn::new() }
}

/// What a subagent asks says whose question it is; each of its steps has a row, and what it took is told.
#[tokio::test(flavor = "multi_thread")]
async fn a_subagent_asks_in_its_own_name() {
    let errand =
        json!({ "profile": "general", "description": "write the file", "prompt": "put x into c.txt" });
    let scenario = Scenario::new()
        .turn(told("please", 0).call("create_subagent", errand))
        .turn(told("please", 1).text("All done."))
        .turn(told("put x", 0).call("file_write", json!({ "path": "c.txt", "content": "x" })))
        .turn(told("put x", 1).text("It is there."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("please\r");
    let asked = person.sees("instead:");
    assert!(asked.contains("● Subagent"), "{asked:?}");
    assert!(asked.contains("the subagent general-"), "{asked:?}");
    assert!(asked.contains("(write the file) asks:"), "{asked:?}");
    person.types("y\r");
    let worked = person.sees("All done.");
    assert!(worked.contains("turn 1: Write file path=c.txt"), "{worked:?}");
    assert!(worked.contains("completed after 2 turns"), "{worked:?}");
    person.sees("edit> ");
    person.types("/usage\r");
    person.sees("of which subagents: ");
    person.sees("edit> ");
    assert_eq!(std::fs::read_to_string(person.folder.path().join("project/c.txt")).unwrap(), "x");
    person.leaves();
}

/// A question that is open when the run ends, because nobody waits for the one who asks, is asked again with the next one.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_from_the_background_is_asked_again() {
    let errand = json!({
        "profile": "general", "description": "write the file", "prompt": "put x into c.txt", "background": true,
    });
    let slow = Pacing { chars: 20, first_ms: 3_000, delay_ms: 0 };
    let scenario = Scenario::new()
        .turn(told("please", 0).call("create_subagent", errand))
        .turn(told("please", 1).pacing(slow).text("It is under way."))
        .turn(told("put x", 0).call("file_write", json!({ "path": "c.txt", "content": "x" })))
        .turn(told("put x", 1).text("It is there."))
        .turn(told("and now", 0).pacing(slow).text("Still nothing."))
        .turn(told("has ended", 0).text("There it is."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("please\r");
    person.sees("(write the file) asks:");
    person.sees("It is under way.");
    person.sees("it is asked again with your next prompt");
    person.sees("edit> ");
    assert!(!person.folder.path().join("project/c.txt").exists());
    person.types("and now\r");
    person.sees("(write the file) asks:");
    person.sees("instead:");
    person.types("y\r");
    person.sees("There it is.");
    person.sees("edit> ");
    assert_eq!(std::fs::read_to_string(person.folder.path().join("project/c.txt")).unwrap(), "x");
    person.leaves();
}

/// Who stops the run answers nothing that somebody else asks.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_leaves_a_question_from_the_background() {
    let errand = json!({
        "profile": "general", "description": "write the file", "prompt": "put x into c.txt", "background": true,
    });
    let slow = Pacing { chars: 20, first_ms: 3_000, delay_ms: 0 };
    let scenario = Scenario::new()
        .turn(told("please", 0).call("create_subagent", errand))
        .turn(told("please", 1).text("I wait.").fault(Fault::Stall { at: At::BeforeFinish }))
        .turn(told("put x", 0).call("file_write", json!({ "path": "c.txt", "content": "x" })))
        .turn(told("put x", 1).text("It is there."))
        .turn(told("and now", 0).pacing(slow).text("Still nothing."))
        .turn(told("has ended", 0).text("There it is."));
    let mut person = Person::sits_down(scenario).await;
    person.sees("edit> ");
    person.types("please\r");
    person.sees("(write the file) asks:");
    person.sees("instead:");
    person.types("\x03");
    person.sees("it is asked again with your next prompt");
    person.sees("edit> ");
    person.types("and now\r");
    person.sees("(write the file) asks:");
    person.sees("instead:");
    person.types("y\r");
    person.sees("There it is.");
    person.sees("edit> ");
    assert_eq!(std::fs::read_to_string(person.folder.path().join("project/c.txt")).unwrap(), "x");
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
