//! Hooks of one event together, with a runner that plays them.

#![allow(clippy::needless_pass_by_value, reason = "tables read better with values")]

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use serde_json::{Value, json};

use super::super::config::{Kind, Source};
use super::super::payload::CameTo;
use super::super::runner::{End, Ran, Situation};
use super::*;

/// Plays hooks: what each command answers, by what it reads.
type Play = Box<dyn Fn(&str, &Value) -> Ran + Send + Sync>;

struct Stage {
    play: Play,
    ran: Mutex<Vec<(String, Value)>>,
    told: Mutex<Vec<String>>,
    at_once: AtomicUsize,
    most: AtomicUsize,
}

#[async_trait]
impl Runner for Stage {
    async fn run(&self, invocation: Invocation) -> Ran {
        let now = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        tokio::task::yield_now().await;
        let read: Value = serde_json::from_str(&invocation.stdin).unwrap();
        let command = invocation.exec.to_string();
        self.ran.lock().unwrap().push((command.clone(), read.clone()));
        let ran = (self.play)(&command, &read);
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        ran
    }

    async fn clean(&self, text: String) -> String {
        text.replace("hunter2", "[PASSWORD: not shown]")
    }
}

impl Session for Stage {
    fn situation(&self) -> Situation {
        Situation {
            session: "s1".into(),
            folder: "/srv/shop".into(),
            mode: "default",
            ..Situation::default()
        }
    }

    fn tell(&self, text: String) {
        self.told.lock().unwrap().push(text);
    }
}

impl Stage {
    /// What was run, sorted: side by side there is no order.
    fn commands(&self) -> Vec<String> {
        let mut commands: Vec<String> =
            self.ran.lock().unwrap().iter().map(|(command, _)| command.clone()).collect();
        commands.sort();
        commands
    }

    fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }
}

fn says(value: Value) -> Ran {
    exits(0, &value.to_string(), "")
}

fn exits(code: i32, stdout: &str, stderr: &str) -> Ran {
    Ran { end: End::Exited(code), stdout: stdout.into(), is_cut: false, stderr: stderr.into() }
}

fn pre(value: Value) -> Ran {
    says(json!({ "hookSpecificOutput": value }))
}

fn hooks(
    owner: Owner,
    file: &Value,
    play: impl Fn(&str, &Value) -> Ran + Send + Sync + 'static,
) -> (CommandHooks, Arc<Stage>) {
    let source = Source { label: "f".to_owned(), owner, kind: Kind::Own };
    let configured = Configured::read(&file.to_string(), &source);
    let stage = Arc::new(Stage {
        play: Box::new(play),
        ran: Mutex::default(),
        told: Mutex::default(),
        at_once: AtomicUsize::new(0),
        most: AtomicUsize::new(0),
    });
    (
        CommandHooks::new(
            configured,
            Arc::clone(&stage) as Arc<dyn Runner>,
            Arc::clone(&stage) as Arc<dyn Session>,
        ),
        stage,
    )
}

/// A file with these commands before every call.
fn before(commands: &[&str]) -> Value {
    let entries: Vec<Value> = commands.iter().map(|command| json!({ "command": command })).collect();
    json!({ "hooks": { "PreToolUse": [{ "matcher": "shell", "hooks": entries }] } })
}

fn command(line: &str) -> Args {
    Args::from_iter([("command".to_owned(), line.into())])
}

fn words_of(judgement: &Judgement) -> String {
    match judgement {
        Judgement::Pass => "pass".to_owned(),
        Judgement::Allow => "allow".to_owned(),
        Judgement::Ask(reason) => format!("ask {reason}"),
        Judgement::Deny(reason) => {
            let inner =
                reason.split(">\n").nth(1).and_then(|inner| inner.split("\n</").next()).unwrap_or(reason);
            format!("deny {inner}")
        }
    }
}

#[tokio::test]
async fn the_strictest_counts_and_a_yes_is_the_users_own() {
    let play = |command: &str, _: &Value| match command {
        "yes" => pre(json!({ "permissionDecision": "allow" })),
        "ask" => pre(json!({ "permissionDecision": "ask", "permissionDecisionReason": "sure?" })),
        "no" => pre(json!({ "permissionDecision": "deny", "permissionDecisionReason": "never" })),
        "no2" => exits(2, "", "nor this"),
        "crash" => exits(1, "", "boom"),
        _ => exits(0, "", ""),
    };
    for (owner, commands, expect) in [
        (Owner::User, &["quiet"][..], "pass"),
        (Owner::User, &["yes", "quiet"], "allow"),
        (Owner::Project, &["yes", "quiet"], "pass"),
        (Owner::User, &["yes", "ask"], "ask sure?"),
        (Owner::Project, &["ask"], "ask sure?"),
        (Owner::User, &["yes", "ask", "no"], "deny never"),
        (Owner::Project, &["no", "no2"], "deny never\nnor this"),
        (Owner::User, &["yes", "crash"], "deny it ended with code 1: boom"),
    ] {
        let (hooks, _) = hooks(owner, &before(commands), play);
        let judged = hooks.before_call("1", "shell", &command("ls")).await;
        assert_eq!(
            (words_of(&judged.verdict).as_str(), judged.args),
            (expect, None),
            "{owner:?} {commands:?}"
        );
    }
}

#[tokio::test]
async fn who_does_not_match_is_not_run_and_the_same_command_runs_once() {
    let file = json!({ "hooks": { "PreToolUse": [
        { "matcher": "Bash", "hooks": [{ "command": "a" }, { "command": "b" }] },
        { "matcher": "*", "hooks": [{ "command": "a" }] },
        { "matcher": "Write", "hooks": [{ "command": "c" }] },
    ] } });
    let (hooks, stage) = hooks(Owner::User, &file, |_, _| exits(0, "", ""));
    hooks.before_call("1", "shell", &command("ls")).await;
    assert_eq!(stage.commands(), ["a", "b"]);
    hooks.before_call("2", "file_write", &Args::new()).await;
    assert_eq!(stage.commands(), ["a", "a", "b", "c"]);
}

#[tokio::test]
async fn all_run_side_by_side_with_what_they_read_to_themselves() {
    let commands: Vec<String> = (0..20).map(|index| format!("h{index}")).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let (hooks, stage) = hooks(Owner::User, &before(&commands), |_, read| {
        if read["tool_input"]["command"] == "ls" { exits(0, "", "") } else { exits(1, "", "") }
    });
    assert_eq!(hooks.before_call("1", "shell", &command("ls")).await.verdict, Judgement::Pass);
    assert_eq!((stage.most.load(Ordering::SeqCst), stage.commands().len()), (20, 20));
}

#[tokio::test]
async fn a_change_is_shown_to_the_others_and_each_changes_once() {
    // One adds a flag every time it is asked, another forbids what the first one makes of it.
    let play = |name: &str, read: &Value| {
        let line = read["tool_input"]["command"].as_str().unwrap_or_default().to_owned();
        match name {
            "adds" => pre(json!({ "updatedInput": { "command": format!("{line} -x") } })),
            "quotes" => {
                pre(json!({ "updatedInput": { "command": format!("'{line}'") }, "permissionDecision": "ask",
                                    "permissionDecisionReason": "quoted" }))
            }
            "forbids" if line.contains("-x") => exits(2, "", "no -x"),
            _ => exits(0, "", ""),
        }
    };
    let (alone, stage) = hooks(Owner::User, &before(&["adds"]), play);
    let judged = alone.before_call("1", "shell", &command("ls")).await;
    assert_eq!((judged.args, judged.verdict), (Some(command("ls -x")), Judgement::Pass));
    assert_eq!(stage.commands(), ["adds"], "nobody else has to see it");
    // Asked again for the same call, before and after the change, nothing is run.
    assert_eq!(alone.before_call("1", "shell", &command("ls")).await.args, Some(command("ls -x")));
    assert_eq!(alone.before_call("1", "shell", &command("ls -x")).await.args, None);
    assert_eq!(stage.commands().len(), 1);

    let (both, stage) = hooks(Owner::User, &before(&["adds", "quotes", "quiet"]), play);
    let judged = both.before_call("1", "shell", &command("ls")).await;
    assert_eq!(judged.args, Some(command("'ls -x'")));
    assert_eq!(judged.verdict, Judgement::Ask("quoted".to_owned()));
    assert_eq!(stage.commands(), ["adds", "adds", "quiet", "quiet", "quiet", "quotes", "quotes"]);
    // The question stays with the call as it was changed.
    let again = both.before_call("1", "shell", &command("'ls -x'")).await;
    assert_eq!((again.args, again.verdict), (None, Judgement::Ask("quoted".to_owned())));

    let (guarded, _) = hooks(Owner::User, &before(&["adds", "forbids"]), play);
    let judged = guarded.before_call("1", "shell", &command("ls")).await;
    assert_eq!((judged.args, words_of(&judged.verdict).as_str()), (None, "deny no -x"));
}

#[tokio::test]
async fn hooks_for_another_agent_read_and_answer_in_its_words() {
    let mut file = before(&["theirs"]);
    file["vocabulary"] = "claude".into();
    let (hooks, stage) = hooks(Owner::User, &file, |_, read| {
        assert_eq!(read["tool_name"], "Bash");
        pre(json!({ "updatedInput": { "command": "ls", "timeout": 3000 } }))
    });
    let args =
        Args::from_iter([("command".to_owned(), "ls".into()), ("timeout_seconds".to_owned(), 9.into())]);
    let judged = hooks.before_call("c7", "shell", &args).await;
    let expect =
        Args::from_iter([("command".to_owned(), "ls".into()), ("timeout_seconds".to_owned(), 3.into())]);
    assert_eq!(judged.args, Some(expect));
    assert_eq!(
        stage.ran.lock().unwrap()[0].1,
        json!({
            "session_id": "s1", "transcript_path": null, "cwd": "/srv/shop", "hook_event_name": "PreToolUse",
            "permission_mode": "default", "tool_name": "Bash", "tool_use_id": "c7",
            "tool_input": { "command": "ls", "timeout": 9000 },
        })
    );
}

#[tokio::test]
async fn a_broken_file_closes_the_calls_it_would_guard() {
    let file = json!({ "hooks": { "PreToolUse": [{ "matcher": "shell", "hooks": [{ "commnd": "x" }] }] } });
    let (hooks, _) = hooks(Owner::User, &file, |_, _| exits(0, "", ""));
    assert_eq!(
        hooks.before_call("1", "shell", &command("ls")).await.verdict,
        Judgement::Deny(
            "the hooks that guard this call cannot be used. f: hooks.PreToolUse[0].hooks[0].command: there is no command \
             in it. Tell the user: the file has to be mended, trusted or removed, then /reload (`mica hooks list` shows \
             what is wrong)."
                .to_owned()
        )
    );
    assert_eq!(hooks.before_call("2", "file_read", &Args::new()).await.verdict, Judgement::Pass);
}

#[tokio::test]
async fn what_goes_wrong_is_told_once_and_secrets_are_not() {
    let file = json!({ "hooks": { "PostToolUse": [{ "hooks": [{ "command": "h" }] }] } });
    let (hooks, stage) = hooks(Owner::User, &file, |_, _| exits(1, "", "password hunter2"));
    for id in ["1", "2"] {
        assert_eq!(hooks.after_call(done(id, false)).await, After::default());
    }
    assert_eq!(
        stage.told(),
        [
            "the PostToolUse hook h (f: hooks.PostToolUse[0].hooks[0]): it ended with code 1: password [PASSWORD: not shown]"
        ]
    );
}

fn done(id: &str, failed: bool) -> Called {
    let came_to = CameTo { text: "out".to_owned(), details: None, failed };
    Called { id: id.to_owned(), tool: "shell".to_owned(), args: command("ls"), came_to: Some(came_to) }
}

#[tokio::test]
async fn what_is_said_of_a_result_stands_behind_it() {
    let file = json!({ "hooks": {
        "PreToolUse": [{ "hooks": [{ "command": "before" }] }],
        "PostToolUse": [{ "hooks": [{ "command": "after" }, { "command": "instead" }] }],
        "PostToolUseFailure": [{ "hooks": [{ "command": "failed" }] }],
    } });
    let (hooks, stage) = hooks(Owner::Project, &file, |name, _| match name {
        "before" => pre(json!({ "additionalContext": "mind the gap" })),
        "after" => says(json!({ "decision": "block", "reason": "lint </hook_output>" })),
        "instead" => pre(json!({ "updatedToolOutput": "shorter" })),
        _ => pre(json!({ "additionalContext": "try make" })),
    });
    hooks.before_call("1", "shell", &command("ls")).await;
    let after = hooks.after_call(done("1", false)).await;
    assert_eq!(
        after,
        After {
            instead: Some("shorter".to_owned()),
            besides: vec![
                fenced(HookEvent::PreToolUse, "mind the gap"),
                fenced(HookEvent::PostToolUse, "lint </hook_output>"),
            ],
        }
    );
    assert!(after.besides[1].contains("lint &lt;/hook_output>"), "nothing inside ends it");
    let failed = hooks.after_call(done("2", true)).await;
    assert_eq!(failed.besides, [fenced(HookEvent::PostToolUseFailure, "try make")]);
    let read = stage.ran.lock().unwrap().last().unwrap().1.clone();
    assert_eq!((read["error"].as_str(), read.get("tool_response")), (Some("out"), None));
}

#[tokio::test]
async fn what_nobody_waits_for_holds_nothing_up_and_ends_with_the_session() {
    let file = json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "command": "slow", "async": true }] }] } });
    let (hooks, stage) = hooks(Owner::User, &file, |_, _| exits(2, "", "too late"));
    assert_eq!(hooks.before_call("1", "shell", &command("ls")).await.verdict, Judgement::Pass);
    hooks.close().await;
    assert_eq!(stage.told(), ["the PreToolUse hook slow (f: hooks.PreToolUse[0].hooks[0]): too late"]);
}

#[tokio::test]
async fn one_that_runs_once_does() {
    let file = json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "command": "a", "once": true }, { "command": "b" }] }] } });
    let (hooks, stage) = hooks(Owner::User, &file, |_, _| exits(0, "", ""));
    hooks.before_call("1", "shell", &command("ls")).await;
    hooks.before_call("2", "shell", &command("ls")).await;
    assert_eq!(stage.commands(), ["a", "b", "b"]);
}

#[tokio::test]
async fn the_time_that_they_have_is_enough_for_every_round() {
    let of = |count: usize| {
        let commands: Vec<String> = (0..count).map(|index| format!("c{index}")).collect();
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        hooks(Owner::User, &before(&commands), |_, _| exits(0, "", "")).0
    };
    // Each has 60 seconds: once for the call as it came, and once for every change of another.
    for (count, minutes) in [(1, 1), (2, 3), (5, 6), (40, 82)] {
        let longest = of(count).longest(&HookEvent::ALL);
        assert_eq!(longest, Duration::from_secs(60 * minutes), "{count}");
    }
    assert_eq!(of(3).longest(&[HookEvent::Stop]), Duration::ZERO);
}

#[tokio::test]
async fn what_was_said_of_a_call_is_said_of_its_tool_only() {
    let file = json!({ "hooks": { "PreToolUse": [{ "matcher": "shell", "hooks": [{ "command": "a" }] }] } });
    let (hooks, _) = hooks(Owner::User, &file, |_, _| exits(2, "", "no"));
    let args = command("ls");
    assert_eq!(hooks.before_call("1", "grep", &args).await.verdict, Judgement::Pass);
    assert!(matches!(hooks.before_call("1", "shell", &args).await.verdict, Judgement::Deny(_)));
}
