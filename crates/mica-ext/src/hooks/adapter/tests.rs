//! Hooks as an extension, and among the hooks of a run.

#![allow(clippy::needless_pass_by_value, reason = "tables read better with values")]

use std::sync::Mutex;

use mica_ai::arguments::Arguments;
use mica_ai::id::CallId;

use super::super::config::{Configured, Kind, Source};
use super::super::runner::{End, Invocation, Ran, Runner, Session, Situation};
use super::*;
use crate::concern::CompactTrigger;
use crate::{Extension, Extensions, Origin};

/// Plays hooks: what they are asked is the command and the event; what they answer is the command's own text.
#[derive(Default)]
struct Stage {
    ran: Mutex<Vec<String>>,
    told: Mutex<Vec<String>>,
}

#[async_trait]
impl Runner for Stage {
    async fn run(&self, invocation: Invocation) -> Ran {
        let read: Value = serde_json::from_str(&invocation.stdin).unwrap();
        let word = ["source", "reason", "trigger", "agent_type", "notification_type", "stop_hook_active"]
            .iter()
            .find_map(|key| read.get(*key))
            .map_or_else(String::new, |word| format!(" {word}"));
        let event = read["hook_event_name"].as_str().unwrap();
        self.ran.lock().unwrap().push(format!("{event}{word}"));
        let line = invocation.exec.to_string();
        let (code, text) = line.split_once(' ').unwrap_or((&line, ""));
        let code = code.parse().unwrap();
        let (stdout, stderr) = if code == 0 { (text, "") } else { ("", text) };
        Ran { end: End::Exited(code), stdout: stdout.into(), is_cut: false, stderr: stderr.into() }
    }
}

impl Session for Stage {
    fn situation(&self) -> Situation {
        Situation { session: "s".into(), folder: "/p".into(), mode: "default", ..Situation::default() }
    }

    fn tell(&self, text: String) {
        self.told.lock().unwrap().push(text);
    }
}

fn hooks(owner: Owner, events: &[(&str, &str)]) -> (CommandHooks, Arc<Stage>) {
    let events: serde_json::Map<String, Value> = events
        .iter()
        .map(|(event, command)| ((*event).to_owned(), json!([{ "hooks": [{ "command": command }] }])))
        .collect();
    let file = json!({ "hooks": events }).to_string();
    let source = Source { label: "f".to_owned(), owner, kind: Kind::Own };
    let configured = Configured::read(&file, &source);
    assert_eq!(configured.problems, []);
    let stage = Arc::new(Stage::default());
    let (runner, session) = (Arc::clone(&stage) as Arc<dyn Runner>, Arc::clone(&stage) as Arc<dyn Session>);
    (CommandHooks::new(configured, runner, session), stage)
}

fn extensions(hooks: &CommandHooks) -> Extensions {
    Extensions::new(vec![Extension::new("hooks", Origin::Hook, hooks.registry())])
}

impl Stage {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.ran.lock().unwrap())
    }
}

fn ask(rule: Option<&str>) -> Ask {
    let call = ToolCall {
        id: CallId::from("c1"),
        name: "shell".to_owned(),
        arguments: Arguments::from_text("{\"command\":\"make\"}"),
    };
    Ask::new(call, json!({ "command": "make" }), "it is unknown".to_owned(), rule.map(ToOwned::to_owned))
}

#[test]
fn where_nothing_is_hooked_nobody_is_asked() {
    let (none, _) = hooks(Owner::User, &[]);
    let registry = none.registry();
    assert!(registry.guards.is_empty() && registry.inputs.is_empty() && registry.lifecycles.is_empty());
    assert!(none.hooks().is_none());
    let (stop, _) = hooks(Owner::User, &[("Stop", "0")]);
    let heard = |kind: &str| stop.registry().lifecycles[0].hears(kind);
    assert!(heard("message_end") && !heard("turn_start") && !heard("message_update") && !heard("notice"));
    assert!(stop.hooks().is_some_and(|hooks| hooks.says(Point::FollowUp) && !hooks.says(Point::Approve)));
}

fn shortening(reason: &str, trigger: CompactTrigger) -> Moment {
    Moment::BeforeCompact { reason: reason.to_owned(), trigger, focus: None }
}

fn shortened() -> Moment {
    Moment::Compacted { reason: "as asked".to_owned(), before: 9, after: 3 }
}

#[tokio::test]
async fn moments_are_told_in_the_words_of_the_convention() {
    let events = [
        ("SessionStart", "0"),
        ("SessionEnd", "0"),
        ("PreCompact", "0"),
        ("PostCompact", "0"),
        ("SubagentStart", "0"),
        ("SubagentStop", "0"),
        ("Notification", "0"),
    ];
    let (hooks, stage) = hooks(Owner::User, &events);
    let extensions = extensions(&hooks);
    for (moment, expect) in [
        (Moment::SessionStart { reason: "startup" }, &["SessionStart \"startup\""][..]),
        (Moment::SessionStart { reason: "resume" }, &["SessionStart \"resume\""]),
        (Moment::SessionStart { reason: "reload" }, &["SessionStart \"resume\""]),
        // What is said in words of it is nobody's to read.
        (shortening("full, as asked for", CompactTrigger::Auto), &["PreCompact \"auto\""]),
        (shortened(), &["PostCompact \"auto\"", "SessionStart \"compact\""]),
        (shortening("somebody wants it", CompactTrigger::Manual), &["PreCompact \"manual\""]),
        (shortened(), &["PostCompact \"manual\"", "SessionStart \"compact\""]),
        (Moment::SubagentStart { agent: "explore-7f".into() }, &["SubagentStart \"explore\""]),
        (
            Moment::SubagentEnd { agent: "explore-7f".into(), outcome: Outcome::Completed },
            &["SubagentStop \"explore\""],
        ),
        (Moment::Notice { text: "x".into() }, &["Notification \"notice\""]),
        (Moment::AgentStart, &[]),
        (Moment::SessionShutdown { reason: "quit" }, &["SessionEnd \"other\""]),
    ] {
        extensions.tell(&moment).await;
        assert_eq!(stage.take(), expect, "{moment:?}");
    }
}

#[tokio::test]
async fn what_is_told_at_the_beginning_stands_and_what_is_told_with_a_prompt_does_not() {
    let (hooks, _) =
        hooks(Owner::User, &[("SessionStart", "0 on main"), ("UserPromptSubmit", "0 on Monday")]);
    let extensions = extensions(&hooks);
    extensions.tell(&Moment::SessionStart { reason: "startup" }).await;
    let added =
        |said: Vec<crate::extensions::Said>| said.into_iter().map(|said| said.text).collect::<String>();
    let start = fenced(HookEvent::SessionStart, "on main");
    let monday = fenced(HookEvent::UserPromptSubmit, "on Monday");
    assert_eq!(extensions.typed("hi").await, Typed::Go);
    assert_eq!(added(extensions.before_run("hi").await), format!("{start}\n\n{monday}"));
    assert_eq!(added(extensions.before_run("hi").await), start);
}

#[tokio::test]
async fn a_prompt_is_refused_with_the_reason() {
    let (hooks, _) = hooks(Owner::User, &[("UserPromptSubmit", "2 no keys")]);
    let refused = "a UserPromptSubmit hook does not let this be said: no keys".to_owned();
    assert_eq!(extensions(&hooks).typed("sk-1").await, Typed::Refused(refused));
}

#[tokio::test]
async fn the_end_of_a_run_is_held_up_three_times_in_a_row() {
    let (hooks, stage) = hooks(Owner::User, &[("Stop", "2 test it")]);
    let of_run = hooks.hooks().unwrap();
    for expect in [1, 1, 1, 0] {
        assert_eq!(of_run.follow_up().await.len(), expect);
    }
    assert_eq!(stage.take(), ["Stop false", "Stop true", "Stop true"]);
    assert_eq!(
        *stage.told.lock().unwrap(),
        ["Stop hooks held the end of the run up 3 times in a row; it ends now, whatever they say"]
    );
    // The next run counts anew.
    hooks.moment(&Moment::AgentStart).await.unwrap();
    assert_eq!(of_run.follow_up().await.len(), 1);
}

#[tokio::test]
async fn a_permission_is_the_users_hooks_to_give_and_never_for_what_nothing_confines() {
    let answer = |wish: &str| {
        format!(
            "0 {{\"hookSpecificOutput\":{{\"hookEventName\":\"PermissionRequest\",\"decision\":{{\"behavior\":\"{wish}\"}}}}}}"
        )
    };
    for (owner, wish, rule, expect) in [
        (Owner::User, "allow", None, Some(vec![Decision::Allow])),
        (Owner::Project, "allow", None, None),
        (Owner::User, "allow", Some("sandbox"), None),
        (Owner::User, "allow", Some("memory"), None),
        (
            Owner::Project,
            "deny",
            None,
            Some(vec![Decision::Refuse {
                reason: fenced(HookEvent::PermissionRequest, "it gave no reason"),
            }]),
        ),
    ] {
        let (hooks, stage) = hooks(owner, &[("PermissionRequest", &answer(wish)), ("Notification", "0")]);
        let of_run = hooks.hooks().unwrap();
        assert_eq!(of_run.approve(&[ask(rule)]).await, expect, "{owner:?} {wish} {rule:?}");
        hooks.close().await;
        let told = stage.take().contains(&"Notification \"permission_prompt\"".to_owned());
        assert_eq!(told, expect.is_none(), "a person is told when it is theirs");
        // What is left to a person is not asked again.
        assert_eq!((of_run.approve(&[ask(rule)]).await, stage.take()), (None, Vec::new()));
    }
}

#[tokio::test]
async fn a_hook_that_says_so_ends_the_run() {
    let (hooks, _) =
        hooks(Owner::Project, &[("PostToolUse", "0 {\"continue\":false,\"stopReason\":\"enough\"}")]);
    let came_to = CameTo { text: String::new(), details: None, failed: false };
    let called = Called { id: "1".into(), tool: "shell".into(), args: Args::new(), came_to: Some(came_to) };
    hooks.after_call(called).await;
    assert!(hooks.hooks().unwrap().says(Point::BeforeTurn));
    assert_eq!(hooks.state().halt.as_deref(), Some("enough"));
}
