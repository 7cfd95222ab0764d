//! Servers over standard streams, in both eras, well and badly behaved.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

mod stage;

use std::sync::Arc;
use std::time::{Duration, Instant};

use mica_agent::hooks::Gated;
use mica_agent::{Args, Context, Hooks as _, Tool, Verdict};
use mica_ai::message::ToolCall;
use mica_ai::{Dialect, Model};
use mica_ext::mcp::{McpGate, Servers, Settings, Standing};
use mica_policy::Approvals;
use mica_testkit::{Scenario, ScriptedModel};
use serde_json::json;
use stage::{Somebody, Stage, call, call_with, cx, processes, tool};

const WAIT: Duration = Duration::from_secs(5);

#[tokio::test]
async fn both_eras_are_spoken() {
    for (era, protocol) in [("first", "2025-11-25"), ("second", "2026-07-28")] {
        let stage = Stage::new();
        let servers = stage.one(&[era]);
        let server = servers.get("s").unwrap();
        assert_eq!((server.standing(), server.known()), (Standing::Idle, None));
        servers.ready().await;
        let known = server.known().unwrap();
        assert_eq!(known.protocol, protocol);
        assert_eq!(known.instructions.as_deref(), Some("Say please."));
        assert_eq!(call(&servers, "mcp__s__echo", json!({ "text": "hello" })).await, Ok("hello".to_owned()));
        assert_eq!(
            call(&servers, "list_mcp_resources", json!({ "server": "s" })).await,
            Ok("- note://one (one) The first.".to_owned())
        );
        assert_eq!(
            call(&servers, "read_mcp_resource", json!({ "server": "s", "uri": "note://one" })).await,
            Ok("[The resource note://one]\na note".to_owned())
        );
        assert_eq!(
            call(&servers, "read_mcp_resource", json!({ "server": "t", "uri": "x" })).await,
            Err("There is no MCP server \"t\". Did you mean \"s\"?".to_owned())
        );
        assert!(servers.close(WAIT).await.is_empty());
    }
}

#[tokio::test]
async fn what_was_seen_once_is_known_without_a_start() {
    let stage = Stage::new();
    let started = stage.folder.path().join("started");
    let words = ["first", &format!("started={}", started.display())];
    let first = stage.one(&words);
    first.ready().await;
    first.close(WAIT).await;
    let starts = || std::fs::read_to_string(&started).unwrap().lines().count();
    assert_eq!(starts(), 1);
    // Another session of the same configuration.
    let second = stage.one(&words);
    second.ready().await;
    assert!(second.now().iter().any(|tool| tool.spec().name == "mcp__s__echo"));
    assert_eq!((starts(), second.get("s").unwrap().standing()), (1, Standing::Idle));
    // It is started when one of its tools is needed.
    assert_eq!(call(&second, "mcp__s__echo", json!({ "text": "x" })).await, Ok("x".to_owned()));
    assert_eq!(starts(), 2);
    second.close(WAIT).await;
    // Another configuration is another server.
    let other = stage.one(&["first"]);
    assert_eq!(other.get("s").unwrap().known(), None);
}

#[tokio::test]
async fn a_server_that_dies_ends_its_calls_at_once_and_is_started_again() {
    let stage = Stage::new();
    let servers = stage.one(&["first"]);
    servers.ready().await;
    let waiting = call(&servers, "mcp__s__never", json!({}));
    let dying = call(&servers, "mcp__s__die", json!({}));
    let (waited, died) = tokio::join!(waiting, dying);
    let told = "The MCP server \"s\" ended before it answered: it ended with code 7; what it did until then is unknown. Look at \
                what is there before you try it again.";
    assert_eq!((waited, died), (Err(told.to_owned()), Err(told.to_owned())));
    assert_eq!(call(&servers, "mcp__s__echo", json!({ "text": "again" })).await, Ok("again".to_owned()));
    let log = servers.get("s").unwrap().log().read().unwrap();
    assert!(log.contains("cannot go on\n") && log.contains("— it is gone: it ended with code 7\n"), "{log}");
    servers.close(WAIT).await;
}

#[tokio::test]
async fn a_server_that_cannot_begin_is_told_with_its_reason_and_left_alone_for_longer_and_longer() {
    let stage = Stage::new();
    let servers = stage.one(&["dies"]);
    let server = servers.get("s").unwrap();
    let reason = "the MCP server \"s\" cannot be used: it ended with code 3 before it could be used: no configuration found";
    assert_eq!(server.look().await.map_err(|error| error.to_string()), Err(reason.to_owned()));
    // Pauses of 20, 40, 80 … ms are waited for, until they are too long.
    let mut told = String::new();
    for _ in 0..10 {
        told = server.look().await.unwrap_err().to_string();
    }
    assert!(
        told.starts_with("the MCP server \"s\" broke 9 times in a row; it is started again in 5 s"),
        "{told}"
    );
    // The model is told that it is not there, and so is whoever can mend it, once.
    let (tell, told) = std::sync::mpsc::channel();
    servers.tell_to(move |text| tell.send(text).unwrap());
    let sections = servers.sections();
    assert_eq!(sections[0].text, Some(reason.replacen("the", "The", 1)));
    servers.sections();
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [reason]);
    let missing = stage.servers(json!({ "m": { "command": "/no/such/program" } }));
    let error = missing.get("m").unwrap().look().await.unwrap_err().to_string();
    assert_eq!(
        error,
        "the MCP server \"m\" cannot be used: /no/such/program is not installed here, or not on the path."
    );
}

#[tokio::test]
async fn garbage_floods_and_endless_lines_are_survived() {
    let stage = Stage::new();
    let servers = stage.one(&["first", "banner"]);
    servers.ready().await;
    assert_eq!(call(&servers, "mcp__s__garbage", json!({})).await, Ok("after garbage".to_owned()));
    assert_eq!(call(&servers, "mcp__s__flood", json!({})).await, Ok("after the flood".to_owned()));
    let log = servers.get("s").unwrap().log().read().unwrap();
    assert!(log.len() < 300 * 1024, "{}", log.len());
    let huge = call(&servers, "mcp__s__huge", json!({})).await.unwrap_err();
    assert!(huge.starts_with("The MCP server \"s\" ended before it answered"), "{huge}");
    assert_eq!(call(&servers, "mcp__s__echo", json!({ "text": "still" })).await, Ok("still".to_owned()));
    let log = servers.get("s").unwrap().log().read().unwrap();
    assert!(log.contains("— it was ended: it printed a line of more than 16 MiB\n"), "{log}");
    servers.close(WAIT).await;
}

#[tokio::test]
async fn a_call_has_a_deadline_that_progress_moves() {
    let stage = Stage::new();
    let servers = stage.servers(json!({ "s": Stage::entry(&["first"], json!({ "timeout": 0.3 })) }));
    servers.ready().await;
    // 800 ms of work, with news every 100 ms.
    assert_eq!(call(&servers, "mcp__s__progress", json!({})).await, Ok("done at last".to_owned()));
    let late = call(&servers, "mcp__s__never", json!({})).await;
    assert!(late.unwrap_err().starts_with("The MCP server \"s\" did not answer within 0 s"));
    // It was told that nobody waits, and is still there.
    assert_eq!(call(&servers, "mcp__s__echo", json!({ "text": "x" })).await, Ok("x".to_owned()));
    servers.close(WAIT).await;
    let log = servers.get("s").unwrap().log().read().unwrap();
    assert!(log.contains("cancelled \"it took too long\"\n"), "{log}");
}

#[tokio::test]
async fn a_call_that_is_stopped_is_withdrawn() {
    let stage = Stage::new();
    let servers = stage.one(&["second"]);
    servers.ready().await;
    let cx = cx();
    let stopping = async {
        let (log, until) = (servers.get("s").unwrap().log(), Instant::now() + Duration::from_secs(60));
        while !log.read().unwrap().contains("it was asked for what never comes") {
            assert!(Instant::now() < until, "the server was never asked");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cx.cancel.cancel();
    };
    let (stopped, ()) = tokio::join!(call_with(&servers, "mcp__s__never", json!({}), &cx), stopping);
    assert_eq!(stopped, Err("It was stopped. What it did until then is unknown.".to_owned()));
    assert_eq!(call(&servers, "mcp__s__echo", json!({ "text": "x" })).await, Ok("x".to_owned()));
    servers.close(WAIT).await;
    let log = servers.get("s").unwrap().log().read().unwrap();
    assert!(log.contains("cancelled \"nobody waits for it any more\"\n"), "{log}");
}

#[tokio::test]
async fn the_person_is_asked_in_both_eras_and_nobody_declines() {
    for era in ["first", "second"] {
        let stage = Stage::with(Somebody { name: Some("Ann".to_owned()), ..Somebody::default() });
        let servers = stage.one(&[era]);
        servers.ready().await;
        let answer = call(&servers, "mcp__s__ask", json!({})).await.unwrap();
        let told: serde_json::Value =
            serde_json::from_str(answer.strip_prefix("the person: ").unwrap()).unwrap();
        assert_eq!(told, json!({ "action": "accept", "content": { "name": "Ann" } }), "{era}");
        assert_eq!(stage.person.asked.lock().unwrap().len(), 1);
        servers.close(WAIT).await;

        let stage = Stage::new();
        let servers = stage.one(&[era]);
        servers.ready().await;
        let answer = call(&servers, "mcp__s__ask", json!({})).await;
        assert_eq!(answer, Ok("the person: {\"action\":\"decline\"}".to_owned()), "{era}");
        servers.close(WAIT).await;
    }
}

#[tokio::test]
async fn the_time_of_a_person_is_not_the_servers() {
    for era in ["first", "second"] {
        let takes = Duration::from_secs(6);
        let mut stage = Stage::with(Somebody { name: Some("Ann".to_owned()), takes, ..Somebody::default() });
        stage.given.patience.longest_call = Duration::from_secs(5);
        let servers = stage.one(&[era]);
        servers.ready().await;
        let answer = call(&servers, "mcp__s__ask", json!({})).await.unwrap();
        assert!(answer.contains("Ann"), "{era}: {answer}");
        servers.close(WAIT).await;
    }
}

/// What the gate says of a call.
async fn judged(servers: &Servers, name: &str) -> Verdict {
    let model = ScriptedModel::new(Scenario::new());
    let cx = Context::new(Arc::new(model), Arc::new(Model::assumed("scripted", Dialect::Responses)));
    let tool = tool(servers, name);
    let arguments = mica_ai::arguments::Arguments::from_text("{}");
    let call = ToolCall { id: "c".into(), name: name.to_owned(), arguments };
    let mut gated = Gated { call: &call, spec: tool.spec(), args: Args::new() };
    McpGate::new(servers.clone(), Approvals::default()).gate(&mut gated, &cx).await
}

#[tokio::test]
async fn what_runs_unasked_is_asked_about_when_it_is_described_otherwise() {
    let stage = Stage::new();
    let entry = || json!({ "s": Stage::entry(&["first"], json!({ "autoApprove": ["echo", "change"] })) });
    let servers = stage.servers(entry());
    servers.ready().await;
    assert_eq!(judged(&servers, "mcp__s__echo").await, Verdict::Allow);
    assert_eq!(call(&servers, "mcp__s__change", json!({})).await, Ok("changed".to_owned()));
    let until = Instant::now() + Duration::from_secs(60);
    while !servers.now().iter().any(|tool| tool.spec().name == "mcp__s__late") {
        assert!(Instant::now() < until, "the new list never came");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let asks = |verdict: Verdict| matches!(verdict, Verdict::Offer { .. });
    assert!(asks(judged(&servers, "mcp__s__echo").await), "it reads mail now");
    assert_eq!(judged(&servers, "mcp__s__change").await, Verdict::Allow, "it is as it was");
    servers.close(WAIT).await;
    // What it was at first is known to the next session, too.
    let next = stage.servers(entry());
    assert!(asks(judged(&next, "mcp__s__echo").await));
}

#[tokio::test]
async fn a_session_that_goes_on_is_sent_what_it_was_sent() {
    let stage = Stage::new();
    let words = ["first", "few"];
    let servers = stage.one(&words);
    servers.ready().await;
    servers.close(WAIT).await;
    let specs = |servers: &Servers| {
        let spec = |tool: &Arc<dyn Tool>| {
            let spec = tool.spec();
            (spec.name.clone(), spec.description.clone(), spec.schema.to_string())
        };
        servers.sent().iter().map(spec).collect::<Vec<_>>()
    };
    let going_on = |entry, kept| {
        let read = stage.read(entry).servers;
        Servers::going_on(read, &stage.given, Settings::default(), kept)
    };
    let entry = || json!({ "s": Stage::entry(&words, json!({})) });
    // It began when nothing was known: nothing was sent, and nothing is, though it is few.
    let later = going_on(entry(), Vec::new());
    assert_eq!((specs(&later).len(), later.shelf().tools().len()), (0, 3));
    assert!(later.sections()[0].text.as_deref().unwrap().contains("- mcp__s__echo: Says it again"));
    // It began with one that is described otherwise by now.
    let second = stage.one(&words);
    let mut kept = second.kept();
    assert_eq!((kept.len(), specs(&second).len()), (1, 1));
    (kept[0].tool.description, kept[0].tool.digest) = ("Says it once.".to_owned(), "other".to_owned());
    let sent = going_on(entry(), kept.clone());
    assert_eq!(specs(&sent)[0].1, "[s] Says it once.");
    assert!(
        sent.sections()[0]
            .text
            .as_deref()
            .unwrap()
            .contains("\nmcp__s__echo is described otherwise now than in the list of tools: Says it again."),
    );
    // It began with one that is gone, of a server that is there and of one that is not.
    kept[0].tool.name = "gone".to_owned();
    kept[0].name = "mcp__s__gone".to_owned();
    let sent = going_on(entry(), kept.clone());
    let told = "The MCP server \"s\" has no tool \"gone\" any more. Nothing was done.";
    assert_eq!(call(&sent, "mcp__s__gone", json!({})).await, Err(told.to_owned()));
    assert_eq!(judged(&sent, "mcp__s__gone").await, Verdict::Deny { reason: told.to_owned(), rule: None });
    let nothing = going_on(json!({}), kept);
    assert_eq!(call(&nothing, "mcp__s__gone", json!({})).await, Err(told.to_owned()));
    assert_eq!(
        nothing.sections()[0].text.as_deref(),
        Some("The MCP server s is not used any more: its tools are listed and cannot be called.")
    );
}

#[tokio::test]
async fn a_program_of_the_project_that_changes_is_not_started() {
    let stage = Stage::new();
    let script = stage.given.root.join("server.sh");
    std::fs::write(&script, format!("exec '{}' first\n", stage::stand_in().display())).unwrap();
    let entry = |more| {
        let mut entry = json!({ "command": "/bin/sh", "args": ["server.sh"] });
        entry["sandbox"] = more;
        json!({ "s": entry })
    };
    let servers = stage.servers(entry(json!(false)));
    std::fs::write(&script, "touch owned\n").unwrap();
    let refused = servers.get("s").unwrap().look().await.unwrap_err().to_string();
    assert!(
        refused.starts_with(
            "the MCP server \"s\" cannot be used: server.sh has changed since this session began"
        ),
        "{refused}"
    );
    assert!(!stage.given.root.join("owned").exists());
    servers.close(WAIT).await;
    // As it is now, it may be started by a session that begins now.
    std::fs::write(&script, format!("exec '{}' first\n", stage::stand_in().display())).unwrap();
    let servers = stage.servers(entry(json!(false)));
    assert!(servers.get("s").unwrap().look().await.is_ok());
    servers.close(WAIT).await;
}

#[tokio::test]
async fn a_server_is_told_where_the_project_is_and_given_what_was_written() {
    let stage = Stage::new();
    let servers =
        stage.servers(json!({ "s": Stage::entry(&["first"], json!({ "env": { "KEY": "value" } })) }));
    servers.ready().await;
    let root = reqwest::Url::from_directory_path(&stage.given.root).unwrap();
    assert_eq!(
        call(&servers, "mcp__s__roots", json!({})).await,
        Ok(format!("the person: {}", json!({ "roots": [{ "uri": root.as_str() }] })))
    );
    assert_eq!(call(&servers, "mcp__s__env", json!({ "name": "KEY" })).await, Ok("value".to_owned()));
    // Nothing of this process's own environment but what is handed over.
    assert_eq!(
        call(&servers, "mcp__s__env", json!({ "name": "CARGO_MANIFEST_DIR" })).await,
        Ok("(unset)".to_owned())
    );
    let failed = call(&servers, "mcp__s__fail", json!({})).await.unwrap_err();
    assert!(failed.starts_with("The tool failed.\n<mcp_result server=\"s\" tool=\"fail\""), "{failed}");
    servers.close(WAIT).await;
}

#[tokio::test]
async fn what_changes_is_told_and_never_silently() {
    for era in ["first", "second"] {
        let stage = Stage::new();
        let servers = stage.one(&[era]);
        servers.ready().await;
        let sent: Vec<String> = servers.sent().iter().map(|tool| tool.spec().name.clone()).collect();
        assert_eq!(sent, Vec::<String>::new(), "thirteen are not few");
        let before = servers.sections()[0].text.clone().unwrap();
        assert!(before.contains("\n- mcp__s__echo: Says it again\n"), "{before}");
        assert!(!before.contains("mcp__s__late"));
        let gate = McpGate::new(servers.clone(), Approvals::default());
        assert_eq!(gate.asides().await.len(), 0, "nothing is other than it was told");
        let mut shelf = tokio::time::interval(Duration::from_millis(20));
        assert_eq!(call(&servers, "mcp__s__change", json!({})).await, Ok("changed".to_owned()), "{era}");
        let until = Instant::now() + Duration::from_secs(60);
        while !servers.now().iter().any(|tool| tool.spec().name == "mcp__s__late") {
            assert!(Instant::now() < until, "{era}: the new tool never came");
            shelf.tick().await;
        }
        // It goes with results that are sent anyway, and asks for no answer of its own, however often it changes.
        assert_eq!((gate.steering().await.len(), gate.follow_up().await.len()), (0, 0), "{era}");
        assert_eq!(gate.asides().await.len(), 1, "{era}");
        let after = servers.sections()[0].text.clone().unwrap();
        assert!(
            after.ends_with(
                "Since this session began: new: late; described otherwise: echo. What was loaded before does not count for \
                 those."
            ),
            "{after}"
        );
        assert_eq!(gate.asides().await.len(), 0, "told once");
        assert_eq!(servers.sent().len(), 0, "what is sent stays the same");
        servers.close(WAIT).await;
    }
}

#[tokio::test]
async fn few_and_small_tools_are_sent_and_many_are_not() {
    let stage = Stage::new();
    let names = |words: &'static [&'static str]| {
        let stage = &stage;
        async move {
            let first = stage.one(words);
            first.ready().await;
            first.close(WAIT).await;
            let second = stage.one(words);
            let sent: Vec<String> = second.sent().iter().map(|tool| tool.spec().name.clone()).collect();
            (sent, second.shelf().tools().len(), second.sections()[0].text.clone().unwrap_or_default())
        }
    };
    let (sent, shelf, _) = names(&["first", "few"]).await;
    assert_eq!((sent, shelf), (vec!["mcp__s__echo".to_owned()], 2), "the two for resources are on the shelf");
    let (sent, shelf, section) = names(&["first", "many"]).await;
    assert_eq!((sent.len(), shelf), (0, 75));
    assert!(section.contains("- mcp__s__many_59: One of many"), "{section}");
}

#[tokio::test]
async fn touchy_servers_of_the_first_era_are_spoken_to_anew() {
    // One that ends when it is asked in the second era's way is started again and greeted in the first's.
    let stage = Stage::new();
    let servers = stage.one(&["first", "touchy"]);
    let known = servers.get("s").unwrap().look().await.unwrap();
    assert_eq!(known.protocol, "2025-11-25");
    servers.close(WAIT).await;
    // The next session knows, and does not ask.
    let again = stage.one(&["first", "touchy"]);
    assert_eq!(call(&again, "mcp__s__echo", json!({ "text": "x" })).await, Ok("x".to_owned()));
    let log = again.get("s").unwrap().log().read().unwrap();
    assert_eq!(log.matches("it is spoken to in the other way").count(), 1, "{log}");
    again.close(WAIT).await;
}

#[tokio::test]
async fn a_slow_start_belongs_to_the_session() {
    let mut stage = Stage::new();
    stage.given.patience.first = Duration::from_millis(100);
    let (started, ready) = (stage.folder.path().join("started"), stage.folder.path().join("ready"));
    let words = [format!("until={}", ready.display()), format!("started={}", started.display())];
    let servers = stage.one(&["first", &words[0], &words[1]]);
    // Nobody waits so long, or this would never end; it goes on, and is not begun again.
    servers.ready().await;
    assert_eq!(servers.get("s").unwrap().known(), None);
    std::fs::write(&ready, "").unwrap();
    assert!(servers.get("s").unwrap().look().await.is_ok());
    assert_eq!(std::fs::read_to_string(&started).unwrap().lines().count(), 1);
    servers.close(WAIT).await;
}

#[tokio::test]
async fn nothing_is_left_of_a_server_or_of_what_it_started() {
    let stage = Stage::new();
    let mark = format!("started={}", stage.folder.path().join("pids").display());
    let servers = stage.one(&["first", "child", &mark]);
    servers.ready().await;
    assert_eq!(processes(&mark).len(), 1);
    assert!(servers.close(WAIT).await.is_empty());
    assert_eq!(processes(&mark), Vec::<i32>::new());
    let pid = std::fs::read_to_string(stage.folder.path().join("pids")).unwrap();
    assert!(!std::path::Path::new(&format!("/proc/{}", pid.trim())).exists());
    assert_eq!(
        call(&servers, "mcp__s__echo", json!({ "text": "x" })).await.unwrap_err(),
        "It was stopped. What it did until then is unknown."
    );
}
