//! Promise 5, through the whole program: killed at any instant, nothing that was said is lost.
//!
//! The real binary works through thirty scripted turns, told fast, and is killed with `SIGKILL` at instants drawn
//! uniformly over the time an unkilled run takes. After each kill the session opens, what was under way is marked,
//! the files are those of a finished edit, and `--continue` goes on with every finished turn. The scripted model
//! checks requests as providers do, so an unpaired call would be answered 400 and end that run with an error.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests; how the kills fell is worth a line"
)]

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use mica_ai::{Dialect, Message};
use mica_session::{Access, Sessions, Unfinished};
use mica_testkit::{Pacing, Scenario, ScriptedServer, Turn};
use serde_json::{Value, json};
use tokio::process::Command;

/// Twelve tests of twenty-five, side by side: three hundred kills.
const KILLS: usize = 25;
/// Model calls of a whole run.
const TURNS: usize = 30;

/// What the model says in its `number`-th turn: reads, edits, and two reads at once, in turn. Only the last is told
/// slowly, or nearly all kills would fall into streams.
fn turn(number: usize) -> Turn {
    let read = |name: String| json!({ "path": name });
    let turn = Turn::new().thinking(format!("Turn {number}: what is next?"));
    match number {
        0 => turn.call("file_read", read("step.txt".to_owned())),
        _ if number == TURNS - 1 => turn.text("All of it is done."),
        _ if is_edit(number) => {
            let step = edits(number);
            let change = json!({ "path": "step.txt", "old": format!("step {step}."), "new": format!("step {}.", step + 1) });
            turn.text("One step further.").call("file_edit", change)
        }
        _ if number % 3 == 2 => turn
            .text("Two at once.")
            .pacing(Pacing { chars: 12, first_ms: 1, delay_ms: 1 })
            .call("file_read", read(format!("a{number}.txt")))
            .call("file_read", read(format!("b{number}.txt"))),
        _ => turn.call("file_read", read(format!("a{number}.txt"))),
    }
}

fn is_edit(number: usize) -> bool {
    number % 3 == 1
}

/// How many of the first `turns` turns are edits.
fn edits(turns: usize) -> usize {
    (0..turns).filter(|number| is_edit(*number)).count()
}

fn scenario() -> Scenario {
    (0..TURNS).map(turn).fold(Scenario::new(), Scenario::turn).pacing(Pacing {
        chars: 12,
        first_ms: 2,
        delay_ms: 1,
    })
}

/// A project, a home and two models for one kill: who is asked before it, and who is asked after it.
struct Stage {
    folder: tempfile::TempDir,
    before: ScriptedServer,
    after: ScriptedServer,
    dialect: Dialect,
}

impl Stage {
    async fn new(dialect: Dialect) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir(&project).unwrap();
        std::fs::write(project.join("step.txt"), "step 0.\n").unwrap();
        for number in 0..TURNS {
            for side in ["a", "b"] {
                let words = format!("{side}{number}: some words\n").repeat(20);
                std::fs::write(project.join(format!("{side}{number}.txt")), words).unwrap();
            }
        }
        let before = ScriptedServer::start(scenario()).await.unwrap();
        let after = ScriptedServer::start(Turn::new().text("Going on.")).await.unwrap();
        Self { folder, before, after, dialect }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mica"));
        command
            .env_clear()
            .env("MICA_HOME", self.folder.path().join("home"))
            .current_dir(self.project())
            .args(arguments)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    fn asking(&self, server: &ScriptedServer, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        command.args(["--yes", "--model", "scripted", "--dialect", self.dialect.name()]);
        command.args(["--base-url", &server.url("/v1")]);
        command
    }

    /// The run to be killed. What it tells goes to a file, which outlives it.
    fn works(&self) -> Command {
        let mut command = self.asking(&self.before, &["-p", "work through it", "--output", "stream-json"]);
        command.stdout(File::create(self.told()).unwrap()).stderr(Stdio::null());
        command
    }

    fn told(&self) -> PathBuf {
        self.folder.path().join("told")
    }

    /// Where the kill landed: what the program had told last.
    fn phase(&self) -> &'static str {
        let told = std::fs::read_to_string(self.told()).unwrap();
        let last = told.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).next_back();
        match last.as_ref().and_then(|event| event["type"].as_str()) {
            None => "before the run",
            Some("run_start" | "turn_start" | "message" | "window") => "before a request",
            Some("answer_start") => "in a request",
            Some("answer") => "in a stream",
            Some("answer_end" | "usage") => "after an answer",
            Some("call_start" | "call_progress") => "in a tool",
            Some("call_end" | "turn_end") => "after a tool",
            Some("run_end") => "at the end",
            other => panic!("an event nobody thought of: {other:?}"),
        }
    }

    fn kept(&self) -> Option<Kept> {
        let sessions = Sessions::new(self.folder.path().join("home/data/sessions"), jiff::Timestamp::now);
        let listing = sessions.list(None);
        assert!(listing.unreadable.is_empty(), "{:?}", listing.unreadable);
        assert!(listing.sessions.len() <= 1);
        let summary = listing.sessions.into_iter().next()?;
        let session = sessions.open(&summary.path, Access::Read).unwrap();
        let branch = session.branch().unwrap();
        let answers = branch.messages().filter(|message| matches!(message, Message::Assistant(_))).count();
        Some(Kept { id: summary.id.to_string(), answers, unfinished: session.unfinished().unwrap() })
    }

    /// The conversation in each request to a server.
    fn asked(&self, server: &ScriptedServer) -> Vec<Vec<Value>> {
        server.captured().iter().map(|request| items(self.dialect, &request.json)).collect()
    }
}

/// What a killed run left behind.
struct Kept {
    id: String,
    answers: usize,
    unfinished: Unfinished,
}

/// The conversation in a request, as items that only ever grow at the end.
fn items(dialect: Dialect, request: &Value) -> Vec<Value> {
    let list = |value: &Value| value.as_array().unwrap().clone();
    match dialect {
        Dialect::Chat => list(&request["messages"]),
        Dialect::Responses => list(&request["input"]),
        // What one side says is one message here, however often it speaks; and the cache marks move along.
        Dialect::Messages => list(&request["messages"])
            .iter()
            .flat_map(|message| {
                let blocks = match &message["content"] {
                    Value::String(text) => vec![json!({ "type": "text", "text": text })],
                    content => list(content),
                };
                blocks.into_iter().map(|mut block| {
                    block.as_object_mut().unwrap().remove("cache_control");
                    json!({ "role": message["role"], "block": block })
                })
            })
            .collect(),
    }
}

async fn finish(mut command: Command) -> Output {
    let running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output();
    tokio::time::timeout(Duration::from_secs(110), running).await.unwrap().unwrap()
}

/// How long a run takes that nobody kills, and that it does what the script says.
async fn whole(dialect: Dialect) -> Duration {
    let stage = Stage::new(dialect).await;
    let began = Instant::now();
    let status = stage.works().status().await.unwrap();
    let took = began.elapsed();
    assert_eq!(status.code(), Some(0), "{dialect}: {}", std::fs::read_to_string(stage.told()).unwrap());
    assert_eq!(stage.before.captured().len(), TURNS, "{dialect}");
    let step = std::fs::read_to_string(stage.project().join("step.txt")).unwrap();
    assert_eq!(step, format!("step {}.\n", edits(TURNS)), "{dialect}");
    let kept = stage.kept().unwrap();
    assert_eq!((kept.answers, kept.unfinished), (TURNS, Unfinished::default()), "{dialect}");
    took
}

/// Kills a run after `instant`. Answers where it landed, or nothing when the run had ended by itself.
async fn killed(dialect: Dialect, instant: Duration) -> Option<&'static str> {
    let stage = Stage::new(dialect).await;
    let mut child = stage.works().spawn().unwrap();
    tokio::time::sleep(instant).await;
    child.start_kill().unwrap();
    if child.wait().await.unwrap().signal() != Some(9) {
        return None;
    }
    let phase = stage.phase();
    let step = std::fs::read_to_string(stage.project().join("step.txt")).unwrap();
    let kept = stage.kept();
    if let Some(kept) = &kept {
        let shown = finish(stage.command(&["sessions", "show", &kept.id])).await;
        assert_eq!(shown.status.code(), Some(0), "{}", String::from_utf8_lossy(&shown.stderr));
    }
    // A run that was killed before it had a session left nothing to continue.
    let go_on: &[&str] = if kept.is_some() { &["--continue", "-p", "go on"] } else { &["-p", "go on"] };
    let again = finish(stage.asking(&stage.after, go_on)).await;
    let (out, err) = (String::from_utf8_lossy(&again.stdout), String::from_utf8_lossy(&again.stderr));
    assert_eq!((again.status.code(), &*out), (Some(0), "Going on.\n"), "{phase}: {err}");

    let (asked, then) = (stage.asked(&stage.before), stage.asked(&stage.after));
    assert_eq!(then.len(), 1, "{phase}: what went on was asked once");
    let requests = asked.len();
    let Some(last) = asked.last() else {
        assert_eq!(step, "step 0.\n", "{phase}");
        return Some(phase);
    };
    assert_eq!(then[0].get(..last.len()), Some(&last[..]), "{phase}: something that was said is missing");
    let Some(kept) = kept else { panic!("{phase}: {requests} requests were made and there is no session") };
    // Every answer whose following request was seen is there; the last may be, and what is not done is marked.
    assert!(
        (requests - 1..=requests).contains(&kept.answers),
        "{phase}: {} answers of {requests} requests",
        kept.answers
    );
    if kept.answers < requests {
        assert!(kept.unfinished.turn.is_some(), "{phase}: {:?}", kept.unfinished);
    } else if requests < TURNS {
        assert!(kept.unfinished.run.is_some(), "{phase}: {:?}", kept.unfinished);
    }
    let possible: Vec<String> =
        (edits(requests - 1)..=edits(requests)).map(|step| format!("step {step}.\n")).collect();
    assert!(possible.contains(&step), "{phase}: {step:?} after {requests} requests");
    Some(phase)
}

async fn kills(seed: u64, dialect: Dialect) {
    let whole = whole(dialect).await;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut phases: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut landed, mut missed) = (0, 0);
    while landed < KILLS {
        let instant = whole.mul_f64(random.f64());
        // Printed with a failure: the number of the kill finds the instant again.
        println!(
            "{dialect}, seed {seed}: kill {landed} (and {missed} too late) after {instant:?} of {whole:?}"
        );
        match killed(dialect, instant).await {
            None => missed += 1,
            Some(phase) => {
                landed += 1;
                *phases.entry(phase).or_default() += 1;
            }
        }
        assert!(missed <= KILLS, "most runs end before they are killed: the measured {whole:?} is wrong");
    }
    println!("{dialect}, seed {seed}: {KILLS} kills: {phases:?}; {missed} came too late");
}

/// One test for each part, so that they run side by side and none takes long.
macro_rules! kills {
    ($($name:ident: $seed:expr, $dialect:expr;)*) => {$(
        #[tokio::test]
        async fn $name() {
            kills($seed, $dialect).await;
        }
    )*};
}

kills! {
    promise_5_nothing_said_is_lost_on_chat_1: 1, Dialect::Chat;
    promise_5_nothing_said_is_lost_on_chat_2: 2, Dialect::Chat;
    promise_5_nothing_said_is_lost_on_chat_3: 3, Dialect::Chat;
    promise_5_nothing_said_is_lost_on_chat_4: 4, Dialect::Chat;
    promise_5_nothing_said_is_lost_on_responses_1: 5, Dialect::Responses;
    promise_5_nothing_said_is_lost_on_responses_2: 6, Dialect::Responses;
    promise_5_nothing_said_is_lost_on_responses_3: 7, Dialect::Responses;
    promise_5_nothing_said_is_lost_on_responses_4: 8, Dialect::Responses;
    promise_5_nothing_said_is_lost_on_messages_1: 9, Dialect::Messages;
    promise_5_nothing_said_is_lost_on_messages_2: 10, Dialect::Messages;
    promise_5_nothing_said_is_lost_on_messages_3: 11, Dialect::Messages;
    promise_5_nothing_said_is_lost_on_messages_4: 12, Dialect::Messages;
}
