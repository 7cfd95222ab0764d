//! What files come to, and what is told of mistakes in them.

#![allow(clippy::needless_pass_by_value, reason = "tables read better with values")]

use serde_json::json;

use super::*;

fn source(owner: Owner, kind: Kind) -> Source {
    Source { label: "hooks.json".to_owned(), owner, kind }
}

fn read(file: &Value) -> Configured {
    Configured::read(&file.to_string(), &source(Owner::User, Kind::Own))
}

fn problems(configured: &Configured) -> Vec<String> {
    configured.problems.iter().map(ToString::to_string).collect()
}

fn closed(configured: &Configured) -> Vec<String> {
    configured.closed.iter().map(|closed| closed.matcher.to_string()).collect()
}

/// A file with one entry at an event.
fn with(event: &str, entry: Value) -> Value {
    json!({ "hooks": { event: [{ "matcher": "shell|file_.*", "hooks": [entry] }] } })
}

#[test]
fn the_common_shape_is_read() {
    let read = read(&json!({
        "$schema": "x",
        "vocabulary": "claude",
        "hooks": {
            "PreToolUse": [
                { "matcher": "Bash|Edit", "hooks": [
                    { "type": "command", "command": "./a.sh", "timeout": 5, "statusMessage": "checking" },
                    { "command": "b", "args": ["c d"], "async": true, "once": true, "cwd": "sub",
                      "env": { "A": "1" }, "network": ["example.org"] },
                ] },
            ],
            "stop": [{ "hooks": [{ "type": "command", "command": "make test", "onFailure": "block" }] }],
            "SessionStart": [{ "command": "echo hi", "linux": "echo linux", "timeoutSec": 0.5 }],
        }
    }));
    assert_eq!(read.problems, []);
    let place = |path: &str| format!("hooks.json: hooks.{path}");
    let usual = |path: &str, event, matcher: &str, exec| Hook {
        place: place(path),
        owner: Owner::User,
        vocabulary: Vocabulary::Claude,
        event,
        matcher: Matcher::read(matcher).unwrap(),
        exec,
        timeout: TIMEOUT,
        is_async: false,
        once: false,
        network: Vec::new(),
        env: BTreeMap::new(),
        cwd: None,
        blocks_on_failure: false,
    };
    let line = |text: &str| Exec::Shell(text.to_owned());
    let pre = HookEvent::PreToolUse;
    assert_eq!(
        read.hooks,
        [
            Hook {
                timeout: Duration::from_secs(5),
                blocks_on_failure: true,
                ..usual("PreToolUse[0].hooks[0]", pre, "Bash|Edit", line("./a.sh"))
            },
            Hook {
                is_async: true,
                once: true,
                cwd: Some("sub".to_owned()),
                env: [("A".to_owned(), "1".to_owned())].into(),
                network: vec!["example.org".to_owned()],
                blocks_on_failure: true,
                ..usual(
                    "PreToolUse[0].hooks[1]",
                    pre,
                    "Bash|Edit",
                    Exec::Program(vec!["b".to_owned(), "c d".to_owned()])
                )
            },
            Hook {
                blocks_on_failure: true,
                ..usual("stop[0].hooks[0]", HookEvent::Stop, "*", line("make test"))
            },
            Hook {
                timeout: Duration::from_millis(500),
                ..usual("SessionStart[0]", HookEvent::SessionStart, "*", line("echo linux"))
            },
        ]
    );
}

#[test]
fn mistakes_are_told_with_their_place_and_close_what_they_would_guard() {
    let entry = json!({ "type": "command", "command": "x" });
    let bad = |key: &str, value: Value| {
        let mut entry = entry.clone();
        entry[key] = value;
        entry
    };
    let at = "hooks.json: hooks.PreToolUse[0].hooks[0]";
    for (entry, message) in [
        (json!("x"), ": it is no object; it looks like {\"type\": \"command\", \"command\": \"…\"}"),
        (json!({ "type": "command" }), ".command: there is no command in it"),
        (bad("command", json!("  ")), ".command: there is no command in it"),
        (bad("command", json!(["a"])), ".command: it is a text"),
        (bad("type", json!("comand")), ".type: it is no type of hooks; it can be \"command\""),
        (
            bad("type", json!("prompt")),
            ": hooks of the type \"prompt\" are not run by mica; it runs commands only",
        ),
        (
            bad("if", json!("Bash(git *)")),
            ": the condition \"Bash(git *)\" cannot be judged here; let the command look itself",
        ),
        (bad("timeout", json!("5")), ".timeout: it is a number of seconds, more than 0"),
        (bad("timeout", json!(-1)), ".timeout: it is a number of seconds, more than 0"),
        (bad("async", json!("yes")), ".async: it is true or false"),
        (bad("network", json!("all")), ".network: it is a list of hosts, for example [\"example.org\"]"),
        (bad("env", json!({ "A": 1 })), ".env.A: it is a text"),
        (bad("args", json!("a")), ".args: it is a list of texts"),
        (bad("onFailure", json!("explode")), ".onFailure: it can be \"block\", or is left out"),
        (bad("timeuot", json!(5)), ".timeuot: there is no such setting of a command; was \"timeout\" meant?"),
        (bad("shell", json!("powershell")), ": commands are run by bash here, and by no other shell"),
    ] {
        let read = read(&with("PreToolUse", entry.clone()));
        assert_eq!(problems(&read), [format!("{at}{message}")], "{entry}");
        assert_eq!(closed(&read), ["shell|file_.*"], "{entry}");
        assert_eq!(read.hooks, []);
        // Elsewhere nothing is guarded, and nothing closed.
        let elsewhere = super::Configured::read(
            &with("PostToolUse", entry.clone()).to_string(),
            &source(Owner::User, Kind::Own),
        );
        assert_eq!((elsewhere.problems.len(), elsewhere.closed.len()), (1, 0), "{entry}");
    }
}

#[test]
fn what_is_wrong_around_entries_closes_everything_it_may_have_guarded() {
    let all = ["*"].as_slice();
    let none = [].as_slice();
    for (file, message, closes) in [
        (json!([]), "hooks.json: it is no JSON object; it looks like {\"hooks\": {…}}", none),
        (
            json!({ "hooks": [] }),
            "hooks.json: hooks: it is no object of events; it looks like {\"PreToolUse\": [{…}]}",
            all,
        ),
        (
            json!({ "PreToolUse": [] }),
            "hooks.json: the events stand alone; put them into {\"hooks\": {…}}",
            all,
        ),
        (
            json!({ "vocabulary": "klingon" }),
            "hooks.json: vocabulary: \"klingon\" is no vocabulary; it can be \"mica\" or \"claude\"",
            all,
        ),
        (
            json!({ "hook": {} }),
            "hooks.json: hook: there is no such setting; there are hooks and vocabulary",
            none,
        ),
        (
            json!({ "hooks": { "PreTolUse": [] } }),
            "hooks.json: hooks.PreTolUse: there is no event \"PreTolUse\"; was PreToolUse meant?",
            all,
        ),
        (
            json!({ "hooks": { "SesionStart": [] } }),
            "hooks.json: hooks.SesionStart: there is no event \"SesionStart\"; was SessionStart meant?",
            none,
        ),
        (
            json!({ "hooks": { "WorktreeCreate": [] } }),
            "hooks.json: hooks.WorktreeCreate: mica has no such event, so this is not run",
            none,
        ),
        (
            json!({ "hooks": { "Whatever": [] } }),
            "hooks.json: hooks.Whatever: there is no event \"Whatever\"; the events are PreToolUse, PermissionRequest, \
             PostToolUse, PostToolUseFailure, UserPromptSubmit, SessionStart, SessionEnd, Stop, SubagentStart, \
             SubagentStop, PreCompact, PostCompact, Notification",
            none,
        ),
        (
            json!({ "hooks": { "PreToolUse": {} } }),
            "hooks.json: hooks.PreToolUse: it is no list; it looks like [{\"matcher\": \"…\", \"hooks\": [{…}]}]",
            all,
        ),
        (
            json!({ "hooks": { "PreToolUse": ["x"] } }),
            "hooks.json: hooks.PreToolUse[0]: it is no object; it looks like {\"matcher\": \"…\", \"hooks\": [{…}]}",
            all,
        ),
        (
            json!({ "hooks": { "PreToolUse": [{ "matcher": 5, "hooks": [] }] } }),
            "hooks.json: hooks.PreToolUse[0].matcher: 5 is no text; a matcher looks like \"shell|file_.*\"",
            all,
        ),
        (
            json!({ "hooks": { "PreToolUse": [{ "matcher": "shell" }] } }),
            "hooks.json: hooks.PreToolUse[0]: it has no list `hooks` of commands",
            ["shell"].as_slice(),
        ),
    ] {
        let read = read(&file);
        assert_eq!(problems(&read), [message], "{file}");
        assert_eq!(closed(&read), closes, "{file}");
    }
}

#[test]
fn one_mistake_takes_nothing_else_with_it() {
    let read = read(&json!({ "hooks": {
        "PreToolUse": [
            { "matcher": "shell", "hooks": [{ "command": "a" }, { "commnd": "b" }] },
            { "matcher": "file_(", "hooks": [{ "command": "c" }] },
        ],
        "Stop": [{ "hooks": [{ "command": "d" }] }],
    } }));
    let run: Vec<String> = read.hooks.iter().map(|hook| hook.exec.to_string()).collect();
    assert_eq!(run, ["a", "d"]);
    assert_eq!(closed(&read), ["shell", "*"]);
    assert_eq!(read.problems.len(), 2);
}

#[test]
fn a_file_that_is_no_json_closes_everything() {
    let own = source(Owner::User, Kind::Own);
    let cut = Configured::read("{\"hooks\": {\n  \"PreToolUse\": [", &own);
    assert_eq!(
        problems(&cut),
        ["hooks.json:2:17: it is no JSON: EOF while parsing a list at line 2 column 17"]
    );
    assert_eq!(closed(&cut), ["*"]);
    for text in ["{bad", "{\"hooks\": {\"Stop\": ["] {
        assert_eq!(closed(&Configured::read(text, &own)), ["*"], "{text}");
    }
    // Settings of another agent are there for many things.
    let borrowed = Configured::read("{\"model\": ", &source(Owner::Project, Kind::Borrowed));
    assert_eq!((borrowed.problems.len(), borrowed.closed.len()), (1, 0));
    for nothing in ["", " \n", "\u{feff}", "{}", "{\"hooks\": {}}"] {
        assert_eq!(Configured::read(nothing, &own), Configured::default(), "{nothing:?}");
    }
    let gone = Configured::unreadable(&own, "permission denied");
    assert_eq!(problems(&gone), ["hooks.json: it cannot be read: permission denied"]);
    assert_eq!(closed(&gone), ["*"]);
}

#[test]
fn settings_of_another_agent_give_what_can_be_honoured() {
    let borrowed = source(Owner::Project, Kind::Borrowed);
    let settings = json!({
        "model": "opus", "permissions": { "allow": [] },
        "hooks": {
            "PreToolUse": [{ "matcher": "Bash", "hooks": [
                { "type": "command", "command": "check" },
                { "type": "prompt", "prompt": "is this safe?" },
                { "type": "command", "command": "x", "if": "Bash(rm *)" },
            ] }],
            "Setup": [{ "hooks": [{ "type": "command", "command": "y" }] }],
        }
    });
    let read = Configured::read(&settings.to_string(), &borrowed);
    let run: Vec<(String, Vocabulary)> =
        read.hooks.iter().map(|hook| (hook.exec.to_string(), hook.vocabulary)).collect();
    assert_eq!(run, [("check".to_owned(), Vocabulary::Claude)]);
    assert_eq!((read.problems.len(), closed(&read)), (3, Vec::new()));
    // A mistake is one there, too.
    let broken = json!({ "hooks": { "PreToolUse": [{ "matcher": "(", "hooks": [] }] } });
    assert_eq!(closed(&Configured::read(&broken.to_string(), &borrowed)), ["*"]);
    let off = json!({ "disableAllHooks": true, "hooks": settings["hooks"] });
    assert_eq!(Configured::read(&off.to_string(), &borrowed), Configured::default());
}

#[test]
fn hosts_are_the_users_to_grant_and_time_has_an_end() {
    let file = with("PreToolUse", json!({ "command": "x", "network": ["example.org"] }));
    let project = Configured::read(&file.to_string(), &source(Owner::Project, Kind::Own));
    assert_eq!(
        problems(&project),
        [
            "hooks.json: hooks.PreToolUse[0].hooks[0].network: hosts are the user's to grant: move the entry to hooks.json \
          in your own settings folder"
        ]
    );
    assert_eq!(closed(&project), ["shell|file_.*"]);
    let long = read(&with("Stop", json!({ "command": "x", "timeout": 60_000 })));
    assert_eq!(long.hooks[0].timeout, LONGEST);
    assert_eq!(
        problems(&long),
        [
            "hooks.json: hooks.Stop[0].hooks[0].timeout: 60000 seconds are more than the most, which is 600; it is cut to \
          that (the number is seconds, not milliseconds)"
        ]
    );
}

#[test]
fn a_file_without_end_is_cut_and_what_is_not_read_is_closed() {
    let entries: Vec<Value> = (0..=MOST).map(|index| json!({ "command": format!("c{index}") })).collect();
    let read = read(&json!({ "hooks": { "PreToolUse": [{ "matcher": "shell", "hooks": entries }] } }));
    assert_eq!((read.hooks.len(), closed(&read)), (MOST, vec!["shell".to_owned()]));
}
