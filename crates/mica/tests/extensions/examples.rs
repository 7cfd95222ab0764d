//! The examples, each in a run.

use super::*;

#[tokio::test]
async fn guardrails_refuse_where_nobody_can_be_asked_and_log_what_ran() {
    let scenario = Scenario::new()
        .turn(writes("drop.sql", "DROP DATABASE orders;"))
        .turn(writes("b.txt", "x"))
        .turn(done());
    let stage = Stage::new(scenario).await;
    example(&stage, "guardrails");
    runs(&stage, &["-p", "write", "--yes"]).await;
    assert!(!stage.project().join("drop.sql").exists() && stage.project().join("b.txt").exists());
    let told = results(&stage);
    assert!(told[1].contains("nobody agreed to it, and it throws data away"), "{told:?}");
    let log = stage.does(&["ext", "log", "guardrails"]).await;
    let lines: Vec<&str> = log.lines().map(|line| line.splitn(3, ' ').nth(2).unwrap()).collect();
    assert_eq!(lines, ["file_write worked"]);
}

#[tokio::test]
async fn the_audit_log_is_kept_in_the_session_and_beyond_it() {
    let reads = |path: &str| Turn::new().call("file_read", json!({ "path": path }));
    let scenario = Scenario::new()
        .turn(reads("a.txt"))
        .turn(reads("gone.txt"))
        .turn(done())
        .turn(reads("a.txt"))
        .turn(done());
    let stage = Stage::new(scenario).await;
    example(&stage, "audit-log");
    stage.does(&["ext", "allow", "audit-log"]).await;
    runs(&stage, &["-p", "read"]).await;
    let shown = runs(&stage, &["-p", "/audit", "--continue"]).await;
    assert_eq!(shown.out, "1. file_read: ok\n2. file_read: failed\nin all sessions: file_read 2\n");
    runs(&stage, &["-p", "read again"]).await;
    let shown = runs(&stage, &["-p", "/audit", "--continue"]).await;
    assert_eq!(shown.out, "1. file_read: ok\nin all sessions: file_read 3\n");
    assert_eq!(stage.server.captured().len(), 5, "a command asks no model");
}

#[tokio::test]
async fn protected_paths_are_refused_or_asked_about_also_when_all_is_allowed() {
    let scenario = Scenario::new()
        .turn(writes("./dist/app.js", "x"))
        .turn(writes("src/app.js", "x"))
        .turn(writes("migrations/1.sql", "x"))
        .turn(done());
    let stage = Stage::new(scenario).await;
    example(&stage, "protected-paths");
    let ran = stage.ask(&["-p", "write", "--yes"]).await;
    assert_eq!(ran.code, Some(4), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("a person looks at every change of it"), "{}", ran.err);
    let told = results(&stage);
    assert!(told[1].contains("dist/app.js is protected: it is generated"), "{told:?}");
    let there = |path: &str| stage.project().join(path).exists();
    assert_eq!((there("dist/app.js"), there("src/app.js"), there("migrations/1.sql")), (false, true, false));
}

#[tokio::test]
async fn git_keeps_the_tree_before_the_first_change_of_a_run() {
    let scenario = Scenario::new().turn(writes("b.txt", "x")).turn(writes("c.txt", "x")).turn(done());
    let stage = Stage::new(scenario).await;
    let git = |arguments: &[&str]| {
        let ran =
            std::process::Command::new("git").args(arguments).current_dir(stage.project()).output().unwrap();
        assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    };
    git(&["init", "-q"]);
    git(&["config", "user.name", "somebody"]);
    git(&["config", "user.email", "somebody@example.org"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "begin"]);
    std::fs::write(stage.project().join("a.txt"), "changed by hand\n").unwrap();
    example(&stage, "git-checkpoint");
    stage.does(&["ext", "allow", "git-checkpoint"]).await;
    let ran = runs(&stage, &["-p", "write", "--yes"]).await;
    assert!(stage.project().join("c.txt").exists(), "{:?}", results(&stage));
    assert!(ran.err.contains("git-checkpoint: kept as mica/checkpoint-1"), "{}", ran.err);
    assert_eq!(git(&["tag", "--list"]), "mica/checkpoint-1\n");
    assert_eq!(git(&["show", "mica/checkpoint-1:a.txt"]), "changed by hand\n");
}

#[tokio::test]
async fn a_tool_of_an_extension_is_among_the_tools_and_works() {
    let counts = json!({ "text": "three small words", "longest": 2 });
    let scenario = Scenario::new()
        .turn(Turn::new().call("count_words", counts))
        .turn(Turn::new().call("count_words", json!({ "longest": 2 })))
        .turn(done());
    let stage = Stage::new(scenario).await;
    example(&stage, "custom-tool");
    runs(&stage, &["-p", "count"]).await;
    assert!(tools(&stage, 0).contains(&"count_words".to_owned()));
    let told = results(&stage);
    assert_eq!(told[1], "3 words, 17 characters, 1 lines\nlongest: small, three");
    assert!(told[0].contains("text"), "what does not fit the schema never reaches it: {told:?}");
}

#[tokio::test]
async fn what_is_typed_is_expanded() {
    let stage = Stage::new(Scenario::new().turn(done()).turn(done())).await;
    example(&stage, "input-alias");
    runs(&stage, &["-p", "/t the parser"]).await;
    runs(&stage, &["-p", "/etc is a folder"]).await;
    let said = |request: usize| {
        let captured = stage.server.captured();
        let messages = captured[request].json["messages"].as_array().unwrap().clone();
        text(&messages.last().unwrap()["content"])
    };
    assert!(
        said(0).starts_with("Write tests for the parser. Run them, and repair what they find."),
        "{}",
        said(0)
    );
    assert!(said(1).starts_with("/etc is a folder"), "{}", said(1));
}
