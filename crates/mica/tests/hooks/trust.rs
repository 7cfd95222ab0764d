//! Whose hooks count: the user's own, a project's when it is trusted, and those of another agent when that is wanted.

use super::*;

const DENIES: &str = "#!/bin/sh\necho 'the project says no' >&2\nexit 2\n";

fn with_project_hooks(stage: &Stage) {
    let project = stage.project();
    write(&project.join(".mica/hooks.json"), &at("PreToolUse", "file_write", "scripts/check.sh").to_string());
    write(&project.join("scripts/check.sh"), DENIES);
}

#[tokio::test]
async fn a_projects_hooks_run_when_they_are_trusted_and_a_changed_script_takes_that_away() {
    let scenario = || {
        let call = |path: &str| Turn::new().call("file_write", json!({ "path": path, "content": "made\n" }));
        Scenario::new()
            .turn(call("1.txt"))
            .turn(Turn::new().text("Done."))
            .turn(call("2.txt"))
            .turn(Turn::new().text("Done."))
            .turn(call("3.txt"))
            .turn(Turn::new().text("Done."))
            .turn(call("4.txt"))
            .turn(Turn::new().text("Done."))
    };
    let stage = Stage::new(scenario()).await;
    with_project_hooks(&stage);
    let ran = stage.ask(&["--yes", "-p", "write it"]).await;
    assert_eq!((ran.code, stage.read("1.txt").as_str()), (Some(0), "made\n"), "not run: {}", ran.err);
    assert!(ran.err.contains("not used, because it is not trusted: hooks .mica/hooks.json"), "{}", ran.err);

    let shown = stage.does(&["trust"]).await;
    assert!(shown.contains("scripts/check.sh") && shown.contains("the project says no"), "{shown}");
    let ran = stage.ask(&["--yes", "-p", "write it"]).await;
    assert_eq!((ran.code, stage.read("2.txt").as_str()), (Some(0), ""), "run: {}", ran.err);
    assert!(stage.last().contains("the project says no"), "{}", stage.last());

    write(&stage.project().join("scripts/check.sh"), "#!/bin/sh\nexit 0\n");
    let ran = stage.ask(&["--yes", "-p", "write it"]).await;
    assert!(ran.err.contains("not used, because it is not trusted: hooks .mica/hooks.json"), "{}", ran.err);
    assert!(ran.err.contains(CHANGED), "people are told: {}", ran.err);
    assert_eq!(stage.read("3.txt"), "", "the guard is not off until somebody has looked");
    assert!(stage.last().contains(CHANGED), "{}", stage.last());
    let listed = stage.does(&["hooks", "list"]).await;
    assert!(listed.contains("not used, because it is not trusted"), "{listed}");
    assert!(listed.contains("calls of * are not run until this is mended: "), "{listed}");

    let said = stage.does(&["trust", "--revoke"]).await;
    assert_eq!(said, "hooks .mica/hooks.json was not trusted\n");
    let ran = stage.ask(&["--yes", "-p", "write it"]).await;
    assert_eq!((ran.code, stage.read("4.txt").as_str()), (Some(0), "made\n"), "{}", ran.err);
    assert!(!ran.err.contains(CHANGED), "{}", ran.err);
}

const CHANGED: &str = "it guarded calls when it was trusted, and it or a script that it runs has changed since; look at it \
                       with `mica trust --list`, then run `mica trust`";

#[tokio::test]
async fn a_file_that_cannot_be_read_closes_calls_where_it_was_trusted_to_guard_them() {
    for (trusted, expect) in [(false, "made\n"), (true, "")] {
        let stage = Stage::new(writes()).await;
        with_project_hooks(&stage);
        if trusted {
            stage.does(&["trust"]).await;
        }
        std::fs::write(stage.project().join(".mica/hooks.json"), b"{\"hooks\": \xff\xfe}").unwrap();
        let ran = stage.ask(&["--yes", "-p", "write it"]).await;
        assert_eq!((ran.code, stage.read("new.txt").as_str()), (Some(0), expect), "{}", ran.err);
        assert!(
            ran.err.contains("hooks.json cannot be read: stream did not contain valid UTF-8"),
            "{}",
            ran.err
        );
        assert_eq!(stage.last().contains("the hooks that guard this call cannot be used"), trusted);
    }
}

#[tokio::test]
async fn what_only_looked_on_closes_nothing_when_it_changes_and_a_guard_that_is_gone_is_told_of() {
    let stage = Stage::new(
        Scenario::new()
            .turn(Turn::new().call("file_write", json!({ "path": "new.txt", "content": "made\n" })))
            .turn(Turn::new().text("Done."))
            .otherwise(Turn::new().text("Hello.")),
    )
    .await;
    let file = stage.project().join(".mica/hooks.json");
    write(&file, &at("PostToolUse", "*", "exit 0").to_string());
    stage.does(&["trust"]).await;
    write(&file, &at("PostToolUse", "*", "exit  0").to_string());
    let ran = stage.ask(&["--yes", "-p", "write it"]).await;
    assert_eq!((ran.code, stage.read("new.txt").as_str()), (Some(0), "made\n"), "{}", ran.err);
    assert!(ran.err.contains("has changed since it was trusted, so its hooks are not run"), "{}", ran.err);

    with_project_hooks(&stage);
    stage.does(&["trust"]).await;
    write(&file, "{}");
    let listed = stage.does(&["hooks", "list"]).await;
    assert!(listed.contains("calls of * are not run until this is mended: "), "{listed}");
    std::fs::remove_file(&file).unwrap();
    let listed = stage.does(&["hooks", "list"]).await;
    assert!(!listed.contains("are not run until"), "{listed}");
    let gone = "it guarded calls when it was trusted, and now it is gone or has no hooks";
    let ran = stage.ask(&["-p", "hi"]).await;
    assert!(ran.err.contains(gone), "{}", ran.err);
    stage.does(&["trust", "--revoke"]).await;
    let ran = stage.ask(&["-p", "hi"]).await;
    assert!(!ran.err.contains(gone), "{}", ran.err);
}

#[tokio::test]
async fn an_agent_that_changes_the_guards_script_is_not_let_through() {
    let stage = Stage::new(
        Scenario::new()
            .turn(
                Turn::new()
                    .call("shell", json!({ "command": "printf '#!/bin/sh\\nexit 0\\n' > scripts/check.sh" })),
            )
            .turn(Turn::new().call("file_write", json!({ "path": "new.txt", "content": "made\n" })))
            .turn(Turn::new().text("Done.")),
    )
    .await;
    with_project_hooks(&stage);
    stage.does(&["trust"]).await;
    let ran = stage.ask(&["--yes", "-p", "write it"]).await;
    assert_eq!((ran.code, stage.read("new.txt").as_str()), (Some(0), ""), "{}", ran.err);
    assert_eq!(stage.read("scripts/check.sh"), "#!/bin/sh\nexit 0\n", "it did change it");
    assert!(stage.last().contains("scripts/check.sh has changed since it was trusted"), "{}", stage.last());
}

#[tokio::test]
async fn a_yes_of_a_project_counts_for_nothing() {
    let stage = Stage::new(writes()).await;
    let yes = r#"echo '{"decision":"approve"}'"#;
    write(&stage.project().join(".mica/hooks.json"), &at("PreToolUse", "file_write", yes).to_string());
    stage.does(&["trust"]).await;
    let ran = stage.ask(&["-p", "write it"]).await;
    assert_eq!((ran.code, stage.read("new.txt").as_str()), (Some(4), ""), "{}", ran.err);
}

#[tokio::test]
async fn settings_of_another_agent_count_when_the_user_wants_them() {
    let stage = Stage::new(Scenario::new().otherwise(Turn::new().text("Hello."))).await;
    let settings = json!({ "model": "opus", "hooks": {
        "SessionStart": [{ "hooks": [{ "type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/start.sh" }] }],
        "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "prompt", "prompt": "safe?" }] }],
    } });
    write(&stage.project().join(".claude/settings.json"), &settings.to_string());
    write(&stage.project().join(".claude/hooks/start.sh"), "#!/bin/sh\necho started by claude settings\n");
    // Not wanted: not used, and nobody is bothered with it, as it guards nothing.
    let ran = stage.ask(&["-p", "hi"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(!ran.err.contains("hooks"), "{}", ran.err);
    assert!(!stage.sent().contains("started by claude settings"));
    // Wanted, and not trusted.
    stage.settings("[hooks]\nclaude = true\n");
    let ran = stage.ask(&["-p", "hi"]).await;
    assert!(ran.err.contains("hooks .claude/settings.json"), "{}", ran.err);
    assert!(!stage.sent().contains("started by claude settings"));
    stage.does(&["trust"]).await;
    let ran = stage.ask(&["-p", "hi"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(stage.sent().contains("started by claude settings"), "{}", stage.sent());
    assert!(ran.err.contains("hooks of the type \"prompt\" are not run by mica"), "{}", ran.err);
}

#[tokio::test]
async fn a_guard_that_is_for_another_agent_is_not_passed_over_in_silence() {
    let stage = Stage::new(Scenario::new().otherwise(Turn::new().text("Hello."))).await;
    let mut settings = at("PreToolUse", "Bash", "exit 2");
    settings["permissions"] = json!({ "deny": ["Read(.env)"] });
    write(&stage.project().join(".claude/settings.json"), &settings.to_string());
    let told = ".claude/settings.json has 1 PreToolUse hook that is not used: put `claude = true` under `[hooks]` into your \
                settings to use them, `false` to hear no more of it; and `permissions.deny`, which mica does not read";
    let ran = stage.ask(&["-p", "hi"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.err.matches(told).count(), 1, "{}", ran.err);
    assert!(stage.does(&["hooks", "list"]).await.contains(told));
    stage.settings("[hooks]\nclaude = false\n");
    let ran = stage.ask(&["-p", "hi"]).await;
    assert!(!ran.err.contains(".claude"), "{}", ran.err);
}

#[tokio::test]
async fn a_project_cannot_turn_the_users_hooks_off() {
    let stage = Stage::new(writes()).await;
    stage.hooks(&at("PreToolUse", "*", "exit 2"));
    write(&stage.project().join(".mica/config.toml"), "[hooks]\nenabled = false\n");
    stage.does(&["trust"]).await;
    let ran = stage.ask(&["--yes", "-p", "write it"]).await;
    assert_eq!((ran.code, stage.read("new.txt").as_str()), (Some(0), ""), "{}", ran.err);
    stage.settings("[hooks]\nenabled = false\n");
    let stage_again = stage.ask(&["--yes", "-p", "write it"]).await;
    assert_eq!(stage_again.code, Some(1), "the script is used up: {}", stage_again.err);
}

#[tokio::test]
async fn a_broken_file_closes_what_it_would_guard_and_says_how_to_mend_it() {
    let stage = Stage::new(writes()).await;
    write(&stage.config().join("hooks.json"), "{\"hooks\": {\"PreToolUse\": [");
    let ran = stage.ask(&["--yes", "-p", "write it"]).await;
    assert_eq!((ran.code, stage.read("new.txt").as_str()), (Some(0), ""), "{}", ran.err);
    assert!(ran.err.contains("hooks.json:1:26: it is no JSON"), "{}", ran.err);
    assert!(stage.last().contains("the hooks that guard this call cannot be used"), "{}", stage.last());
    assert!(stage.last().contains("`mica hooks list` shows what is wrong"), "{}", stage.last());
}

#[tokio::test]
async fn hooks_can_be_listed_and_tried() {
    let stage = Stage::new(Scenario::new()).await;
    let none = stage.does(&["hooks", "list"]).await;
    assert!(none.starts_with("nothing is hooked to anything; hooks are in "), "{none}");
    stage.hooks(&json!({ "hooks": {
        "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "command": "echo checked; echo no >&2; exit 2", "timeout": 5 }] }],
        "Stopp": [],
    } }));
    let file = stage.config().join("hooks.json").display().to_string();
    assert_eq!(
        stage.does(&["hooks", "list"]).await,
        format!(
            "PreToolUse\n  Bash  echo checked; echo no >&2; exit 2  (yours, 5 s)\n      \
             {file}: hooks.PreToolUse[0].hooks[0]\n\
             wrong: {file}: hooks.Stopp: there is no event \"Stopp\"; was Stop meant?\n"
        )
    );
    let json: Value =
        serde_json::from_str(&stage.does(&["hooks", "list", "--format", "json"]).await).unwrap();
    assert_eq!(json["hooks"][0]["event"], "PreToolUse");
    let tried = stage
        .does(&["hooks", "test", "pretooluse", "--tool", "Bash", "--input", "{\"command\": \"ls\"}"])
        .await;
    for part in [
        "\"tool_name\": \"shell\"",
        "\"command\": \"ls\"",
        "prints\n    checked",
        "complains\n    no",
        "ends: with code 2",
        "means: no; because: no",
    ] {
        assert!(tried.contains(part), "{part}: {tried}");
    }
    let nothing = stage.does(&["hooks", "test", "PreToolUse", "--tool", "file_read"]).await;
    assert!(
        nothing.ends_with("no hook of PreToolUse matches; `mica hooks list` shows those that there are\n"),
        "{nothing}"
    );
    assert!(stage.fails(&["hooks", "test", "Nonsense"]).await.contains("there is no event \"Nonsense\""));
}
