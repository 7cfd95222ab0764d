//! Hooks as processes: how they are confined, how long they live, and what is left of them.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::*;

/// A time to sleep for that nobody else does: other suites may run on this machine at the same time.
fn nap(seconds: u32) -> String {
    format!("{seconds}.{:08}", std::process::id())
}

#[tokio::test]
async fn a_hook_that_takes_too_long_means_no_and_leaves_nothing() {
    let stage = Stage::new(writes()).await;
    let nap = nap(4817);
    let mut file = at("PreToolUse", "file_write", &format!("sleep {nap} & setsid sleep {nap} & sleep {nap}"));
    file["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] = json!(1);
    stage.hooks(&file);
    let began = Instant::now();
    let ran = stage.ask(&["--yes", "-p", "write it"]).await;
    assert_eq!((ran.code, stage.read("new.txt").as_str()), (Some(0), ""), "{}", ran.err);
    assert!(stage.last().contains("its time was up, and it was stopped"), "{}", stage.last());
    assert!(began.elapsed() < Duration::from_secs(110), "{:?}", began.elapsed());
    assert_eq!(processes(&nap), Vec::<String>::new());
}

#[tokio::test]
async fn what_is_no_clear_answer_means_no() {
    for (command, expect) in [
        ("exit 1", "it ended with code 1"),
        ("kill -SEGV $$", "it was ended by signal 11"),
        ("echo '{\"decision\": \"appr'", "it printed something that looks like JSON"),
        ("/nowhere/at/all", "it could not be started"),
        ("head -c 3000000 /dev/zero | tr '\\0' x; echo '{}'", "it printed more than is read"),
        ("printf '{\"decision\":\"approve\",\"reason\":\"\\xff\"}'", "its answer is no UTF-8"),
    ] {
        let stage = Stage::new(writes()).await;
        stage.hooks(&at("PreToolUse", "*", command));
        let ran = stage.ask(&["--yes", "-p", "write it"]).await;
        assert_eq!((ran.code, stage.read("new.txt").as_str()), (Some(0), ""), "{command}: {}", ran.err);
        assert!(stage.last().contains(expect), "{command}: {}", stage.last());
        assert!(ran.err.contains(expect), "people are told: {command}: {}", ran.err);
    }
}

#[tokio::test]
async fn twenty_hooks_run_side_by_side_with_what_they_read_to_themselves() {
    let stage = Stage::new(writes()).await;
    let entries: Vec<Value> = (0..20)
        .map(|index| json!({ "command": format!("cat > seen-{index}.json; sleep 0.2"), "timeout": 30 }))
        .collect();
    stage.hooks(&json!({ "hooks": { "PreToolUse": [{ "matcher": "file_write", "hooks": entries }] } }));
    let ran = stage.ask(&["--yes", "-p", "write it"]).await;
    assert_eq!((ran.code, stage.read("new.txt").as_str()), (Some(0), "made\n"), "{}", ran.err);
    for index in 0..20 {
        let seen: Value = serde_json::from_str(&stage.read(&format!("seen-{index}.json"))).unwrap();
        assert_eq!(seen["tool_input"], json!({ "path": "new.txt", "content": "made\n" }), "{index}");
        assert_eq!(seen["hook_event_name"], "PreToolUse");
    }
}

#[tokio::test]
async fn a_hook_is_confined_like_a_command() {
    let mut stage = Stage::new(writes()).await;
    stage.set("SERVICE_TOKEN", "do-not-tell");
    let config = stage.config();
    let script = format!(
        "env > env.txt; touch {config}/hooks.json.new 2>/dev/null && echo wrote > wrote.txt; \
         (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo reached > reached.txt; pwd > pwd.txt",
        config = config.display(),
        port = stage.server.address().port(),
    );
    stage.hooks(&at("PostToolUse", "*", &script));
    let ran = stage.ask(&["--yes", "-p", "write it"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let project = stage.project().display().to_string();
    let environment = stage.read("env.txt");
    assert!(environment.contains(&format!("MICA_PROJECT_DIR={project}\n")), "{environment}");
    assert!(environment.contains(&format!("CLAUDE_PROJECT_DIR={project}\n")), "{environment}");
    assert!(!environment.contains("do-not-tell"), "{environment}");
    assert_eq!(stage.read("pwd.txt"), format!("{project}\n"));
    assert_eq!((stage.read("wrote.txt").as_str(), stage.read("reached.txt").as_str()), ("", ""));
    assert!(!config.join("hooks.json.new").exists());
}

#[tokio::test]
async fn a_program_that_is_killed_takes_its_hooks_along() {
    let stage = Stage::new(writes()).await;
    let nap = nap(5923);
    stage.hooks(&at("PreToolUse", "*", &format!("touch began; sleep {nap}")));
    let url = stage.server.url("/v1");
    let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_mica"))
        .env_clear()
        .env("MICA_HOME", stage.folder.path().join("home"))
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .current_dir(stage.project())
        .args(["--yes", "-p", "write it", "--base-url", &url, "--model", "scripted"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    until("it runs", || stage.project().join("began").exists() && !processes(&nap).is_empty()).await;
    child.kill().await.unwrap();
    until("it is gone", || processes(&nap).is_empty()).await;
    assert_eq!(stage.read("new.txt"), "");
}

/// Waits for something to be so, longer than any machine needs.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(100), "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn what_nobody_waits_for_ends_with_the_program() {
    let stage = Stage::new(writes()).await;
    let nap = nap(6142);
    stage.hooks(&json!({ "hooks": { "PreToolUse": [{ "hooks": [
        { "command": format!("touch aside; sleep {nap}"), "async": true },
    ] }] } }));
    let began = Instant::now();
    let ran = stage.ask(&["--yes", "-p", "write it"]).await;
    assert_eq!((ran.code, stage.read("new.txt").as_str()), (Some(0), "made\n"), "{}", ran.err);
    assert!(began.elapsed() < Duration::from_secs(110), "{:?}", began.elapsed());
    until("it is gone", || processes(&nap).is_empty()).await;
}

#[tokio::test]
async fn sessions_tell_when_they_begin_and_end() {
    let stage = Stage::new(Scenario::new().otherwise(Turn::new().text("Hello."))).await;
    let keeps = "cat >> log.json; echo >> log.json";
    let entry = json!([{ "hooks": [{ "command": keeps }] }]);
    stage.hooks(&json!({ "hooks": { "SessionStart": entry, "SessionEnd": entry, "Stop": entry } }));
    assert_eq!(stage.ask(&["-p", "hi"]).await.code, Some(0));
    assert_eq!(stage.ask(&["--continue", "-p", "again"]).await.code, Some(0));
    let told: Vec<Value> =
        stage.read("log.json").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let events: Vec<(&str, &str)> = told
        .iter()
        .map(|one| {
            let word = one.get("source").or_else(|| one.get("reason")).and_then(Value::as_str);
            (one["hook_event_name"].as_str().unwrap(), word.unwrap_or_default())
        })
        .collect();
    assert_eq!(
        events,
        [
            ("SessionStart", "startup"),
            ("Stop", ""),
            ("SessionEnd", "other"),
            ("SessionStart", "resume"),
            ("Stop", ""),
            ("SessionEnd", "other"),
        ]
    );
    let transcript = told[0]["transcript_path"].as_str().unwrap();
    assert!(Path::new(transcript).is_file(), "{transcript}");
    assert_eq!(told[0]["session_id"], told[5]["session_id"]);
    assert_eq!(told[0]["permission_mode"], "default");
}
