//! Cases have a world of their own, which goes with them.

use super::*;

/// A case of a project, with other lines in it.
fn project_case(setup: &str, end: &str) -> String {
    format!(
        "about = \"It stays where it belongs.\"\nproduct = \"mi\"\n{setup}\n[[step]]\nsay = \"Hi\"\nturn = [{{ says = \"Ho\" }}]\n{end}\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_case_reads_and_writes_nothing_but_its_own() {
    let stage = Stage::new(Scenario::new()).await;
    let outside = stage.folder.path().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("secret.txt"), "sesame").unwrap();
    let out = outside.display().to_string();
    put(&stage, "cases/sample/pom.xml", "<project/>");
    std::os::unix::fs::symlink(outside.join("secret.txt"), stage.project().join("cases/sample/stolen.txt"))
        .unwrap();
    std::os::unix::fs::symlink(&outside, stage.project().join("cases/linked")).unwrap();
    let link = "[[step]]\nevent = \"command\"\nargs = { args = [\"-C\", \"/\", \"check\"] }";
    let cases = [
        (
            "files_up",
            project_case("setup.files.\"../../up.txt\" = \"x\"", ""),
            "setup.files: \"../../up.txt\" has `..` in it: name something below the project",
        ),
        (
            "files_abs",
            project_case(&format!("setup.files.\"{out}/abs.txt\" = \"x\""), ""),
            "setup.files: \"OUT/abs.txt\" is an absolute path: name something below the project",
        ),
        (
            "look_abs",
            project_case("", &format!("[after.\"{out}/secret.txt\"]\ngone = true")),
            "\"OUT/secret.txt\" is an absolute path",
        ),
        ("look_up", project_case("", "[after.\"../../../x\"]\ngone = true"), "\"../../../x\" has `..` in it"),
        (
            "sample_up",
            project_case("setup.sample = \"../../outside\"", ""),
            "setup.sample: \"../../outside\" has `..` in it",
        ),
        (
            "sample_link",
            project_case("setup.sample = \"linked\"", ""),
            "setup.sample: linked leads out of the folder of the case",
        ),
        (
            "sample_stolen",
            project_case("setup.sample = \"sample\"", ""),
            "is a link that leads out of the sample, or to a folder",
        ),
        ("command", project_case("", link), "args.args: \"-C\" leads elsewhere: a case stays in its project"),
        (
            "flag",
            project_case("", "")
                .replace("turn =", &format!("with = {{ args = [\"--extension={out}/x.rhai\"] }}\nturn =")),
            "with.args: \"--extension=OUT/x.rhai\" leads out of the project",
        ),
    ];
    for (name, text, _) in &cases {
        put(&stage, &format!("cases/{name}.toml"), text);
    }
    let ran = stage.mica(&["eval", "cases", "--report", "report.json"]).await;
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let report = report(&stage, "report.json");
    for (name, _, problem) in &cases {
        let case = report["cases"].as_array().unwrap().iter().find(|case| case["name"] == *name).unwrap();
        let said = case["problem"].as_str().unwrap_or_default().replace(&out, "OUT");
        assert_eq!(case["status"], "error", "{name}: {case}");
        assert!(said.contains(problem), "{name}: {said}");
    }
    let left: Vec<_> = std::fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["secret.txt"]);

    // Recordings and scripts: what leads out by its words is no case, and what leads out over a link is not played.
    let taped = |file: &str| {
        format!(
            "about = \"x\"\nproduct = \"desk\"\n[model]\nkind = \"scenario\"\nfile = \"{file}\"\n[[step]]\nsay = \"Hi\"\nexpect.text = {{ has = \"x\" }}\n"
        )
    };
    put(&stage, "tape/up.toml", &taped("../up.json"));
    let ran = stage.mica(&["eval", "tape/up.toml"]).await;
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("up.toml:5:8: `model.file`: \"../up.json\" has `..` in it"), "{}", ran.err);
    std::os::unix::fs::symlink(&outside, stage.project().join("tape/linked")).unwrap();
    put(&stage, "tape/linked.toml", &taped("linked/secret.txt"));
    let ran = stage.mica(&["eval", "tape/linked.toml"]).await;
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("linked/secret.txt leads out of the folder of the case"), "{}", ran.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_stops_it_reads_what_was_played() {
    let stage = Stage::new(Scenario::new()).await;
    let desk = "about = \"x\"\nproduct = \"desk\"\n[[step]]\nsay = \"Hi\"\n";
    put(
        &stage,
        "cases/a_quick.toml",
        &format!("{desk}turn = [{{ says = \"Ho\" }}]\nexpect.text.has = \"Ho\"\n"),
    );
    let stalls = format!("{desk}turn = [{{ says = \"Ho\", fault = {{ stall = {{ at = \"middle\" }} }} }}]\n");
    put(&stage, "cases/b_stalls.toml", &stalls);
    put(&stage, "cases/c_waits.toml", &stalls);
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_mica"));
    command
        .env_clear()
        .env("MICA_HOME", stage.folder.path().join("home"))
        .current_dir(stage.project())
        .args([
            "eval",
            "cases",
            "--jobs",
            "1",
            "--report",
            "out.json",
            "--junit",
            "out.xml",
            "--journal",
            "told",
        ])
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true);
    let child = command.spawn().unwrap();
    // The first is over when its journal is there.
    let told = stage.project().join("told/a_quick.jsonl");
    let wait = async {
        while !told.exists() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(110), wait).await.unwrap();
    let id = child.id().unwrap().to_string();
    let sent = tokio::process::Command::new("kill").args(["-INT", &id]).status().await.unwrap();
    assert!(sent.success());
    let ended = tokio::time::timeout(std::time::Duration::from_secs(110), child.wait_with_output()).await;
    let ended = ended.unwrap().unwrap();
    let out = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{out}");
    assert!(out.contains("1 passed, 0 failed, 2 left out in "), "{out}");
    let report = report(&stage, "out.json");
    let statuses: Vec<&Value> =
        report["cases"].as_array().unwrap().iter().map(|case| &case["status"]).collect();
    assert_eq!(statuses, ["passed", "skipped", "skipped"]);
    assert_eq!(report["cases"][1]["problem"], "it was not played to its end: playing was stopped");
    assert_eq!(read(&stage, "out.xml").matches("<skipped ").count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asks_twice_leaves_nothing_behind() {
    let stage = Stage::new(Scenario::new()).await;
    let temporary = tempfile::tempdir().unwrap();
    // More than a pipe takes: nobody reads it, so that after the first signal it waits for the second.
    let words = "x".repeat(1 << 20);
    let desk = format!("about = \"{words}\"\nproduct = \"desk\"\n[[step]]\nsay = \"Hi\"\n");
    let stalls = format!("{desk}turn = [{{ says = \"Ho\", fault = {{ stall = {{ at = \"middle\" }} }} }}]\n");
    put(&stage, "cases/stalls.toml", &stalls);
    // One that was killed, long ago.
    std::fs::create_dir_all(temporary.path().join("mica-eval-1-dead/0/home")).unwrap();
    std::fs::write(temporary.path().join("mica-eval-1-dead/lock"), "").unwrap();
    let names = || -> Vec<String> {
        let entries = std::fs::read_dir(temporary.path()).unwrap().flatten();
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
    };
    let start = || {
        tokio::process::Command::new(env!("CARGO_BIN_EXE_mica"))
            .env_clear()
            .env("MICA_HOME", stage.folder.path().join("home"))
            .env("TMPDIR", temporary.path())
            .current_dir(stage.project())
            .args(["eval", "cases", "--format", "json"])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap()
    };
    let plays = |name: &str| {
        let world = temporary.path().join(name).join("0/desk.db");
        name.starts_with("mica-eval-") && world.exists()
    };
    let wait = async |other: &str| -> String {
        loop {
            if let Some(name) = names().into_iter().find(|name| plays(name) && name != other) {
                return name;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let mut killed = start();
    let left = wait("").await;
    assert_eq!(names(), [left.as_str()], "what was left behind is gone");
    // It lives, so another one leaves it alone.
    let mut twice = start();
    let own = wait(&left).await;
    assert!(names().contains(&left));
    killed.kill().await.unwrap();
    let id = twice.id().unwrap().to_string();
    let tell = async || {
        tokio::process::Command::new("kill").args(["-INT", &id]).status().await.unwrap();
    };
    // How often it was asked decides, not how fast: it is asked until it is gone.
    let ended = async {
        loop {
            tell().await;
            let again = std::time::Duration::from_millis(50);
            if let Ok(ended) = tokio::time::timeout(again, twice.wait()).await {
                return ended.unwrap();
            }
        }
    };
    assert_eq!(ended.await.code(), Some(130));
    assert!(!names().contains(&own), "{:?}", names());
    // The next one takes away what the one that was killed left.
    put(&stage, "cases/stalls.toml", FINE);
    let done = start().wait_with_output().await.unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert_eq!(names(), Vec::<String>::new());
}
