//! Builds, tests, logs and the server of a Micro Integrator project, through the real binary.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "helpers of tests are tests"
)]

mod stage;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use mica_testkit::{Call, Scenario, Turn};
use serde_json::{Value, json};
use stage::Stage;

fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn call(tool: &str, args: Value) -> mica_testkit::Step {
    mica_testkit::Step::Call(Call::new(tool, args))
}

/// What calls came to, in the order of the calls.
fn results(stage: &Stage) -> Vec<String> {
    let captured = stage.server.captured();
    let request = &captured.last().unwrap().json;
    let items = request["input"].as_array().or(request["messages"].as_array()).unwrap();
    let is_result = |item: &&Value| item["type"] == "function_call_output" || item["role"] == "tool";
    let text = |item: &Value| {
        let said = if item["output"].is_null() { &item["content"] } else { &item["output"] };
        said.as_str().map_or_else(|| said.to_string(), ToOwned::to_owned)
    };
    items.iter().filter(is_result).map(text).collect()
}

/// A project with a wrapper that packs an archive and complains of a file, and a server that has run.
async fn staged(turn: Turn) -> Stage {
    let stage = Stage::new(Scenario::new().turn(turn).turn(Turn::new().text("Done."))).await;
    let project = stage.project();
    put(&project.join("pom.xml"), "<project/>");
    put(
        &project.join("src/main/wso2mi/artifacts/apis/Orders.xml"),
        "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Orders\" context=\"/o\">\n<resource methods=\"GET\">\n<inSequence>\n<respond/>\n</inSequence></resource></api>",
    );
    put(
        &project.join("src/test/wso2mi/T.xml"),
        "<unit-test><artifacts><test-artifact><artifact>src/main/wso2mi/artifacts/apis/Order.xml</artifact></test-artifact></artifacts><test-cases><test-case name=\"a\"><input/><assertions><assertNotNull><actual>$body</actual><message>m</message></assertNotNull></assertions></test-case></test-cases></unit-test>",
    );
    let wrapper = project.join("mvnw");
    put(
        &wrapper,
        "#!/bin/sh\necho \"[ERROR] $PWD/src/main/java/A.java:[3,7] ';' expected\"\necho '[INFO] BUILD FAILURE'\nexit 1\n",
    );
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let home = stage.folder.path().canonicalize().unwrap().join("mi");
    put(
        &home.join("repository/logs/wso2error.log"),
        "[2026-05-12 10:20:30,456] ERROR {RespondMediator} - {api:Orders} The response is gone\n",
    );
    // Ports that nothing else has, so that nobody's server answers here.
    put(&home.join("conf/deployment.toml"), "[server]\noffset = 43210\n");
    stage.settings(&format!("[mi]\nruntime = {:?}\n", home.display().to_string()));
    stage
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_is_built_tested_and_its_logs_are_read() {
    let turn = Turn::new()
        .step(call("build_project", json!({})))
        .step(call("run_unit_tests", json!({"check_only": true})))
        .step(call("read_server_logs", json!({})))
        .step(call("server_management", json!({"action": "status"})));
    let stage = staged(turn).await;
    let ran = stage.ask(&["--yes", "-p", "Build it."]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let told = results(&stage);
    assert!(told[0].contains("1 error:\nsrc/main/java/A.java:3:7: ';' expected"), "{}", told[0]);
    assert!(told[1].contains("There is no file src/main/wso2mi/artifacts/apis/Order.xml"), "{}", told[1]);
    assert!(told[2].contains("place: src/main/wso2mi/artifacts/apis/Orders.xml:4 (respond)"), "{}", told[2]);
    assert!(told[3].contains("The server does not run."), "{}", told[3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn ask_mode_looks_at_the_server_and_changes_nothing() {
    let turn = Turn::new()
        .step(call("server_management", json!({"action": "status"})))
        .step(call("server_management", json!({"action": "start"})))
        .step(call("build_project", json!({})))
        .step(call("read_server_logs", json!({})));
    let stage = staged(turn).await;
    let ran = stage.ask(&["--mode", "ask", "--yes", "-p", "How is it?"]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let told = results(&stage);
    assert!(told[0].contains("The server does not run."), "{}", told[0]);
    assert!(
        told[1].contains("server_management is not available for the action \"start\" in ask mode"),
        "{}",
        told[1]
    );
    assert!(told[2].contains("build_project is not available in ask mode"), "{}", told[2]);
    assert!(told[3].contains("The response is gone"), "{}", told[3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_is_asked_about_and_a_look_is_not() {
    let turn = Turn::new()
        .step(call("build_project", json!({})))
        .step(call("server_management", json!({"action": "status"})))
        .step(call("server_management", json!({"action": "start"})));
    let stage = staged(turn).await;
    let ran = stage.ask(&["-p", "Build it."]).await;
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    let asked: Vec<&str> = ran.err.lines().filter(|line| line.contains("needs an approval")).collect();
    assert_eq!(
        asked,
        [
            "mica: build_project needs an approval: Build project asks before it runs",
            "mica: server_management action=start needs an approval: Micro Integrator asks before it runs",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_do_not_fit_are_told_and_a_project_cannot_name_a_server() {
    let stage = staged(Turn::new().text("Hello.")).await;
    for (settings, expected) in [
        ("[mi]\nmaven = \"gradle\"\n", "mi.maven is \"gradle\"; it can be auto, mvn or wrapper"),
        ("[mi]\nserver_timeout = 0\n", "mi.server_timeout is a number of seconds, 1 or more"),
        ("[mi]\nnetwork = [\"a b\"]\n", "mi.network"),
        ("[mi.language_server]\ncommand = []\n", "mi.language_server.command is a list"),
        ("[mi]\nnothing = 1\n", "nothing"),
    ] {
        stage.settings(settings);
        let ran = stage.ask(&["-p", "Hello."]).await;
        assert_ne!(ran.code, Some(0), "{settings}");
        assert!(ran.err.contains(expected), "{settings}: {}", ran.err);
    }
    stage.settings("");
    put(&stage.project().join(".mica/config.toml"), "[mi]\nruntime = \"/somewhere\"\nserver_timeout = 30\n");
    stage.does(&["trust"]).await;
    let ran = stage.ask(&["-p", "Hello."]).await;
    assert!(
        ran.err.contains("[mi] in ") && ran.err.contains("says runtime, which is not used"),
        "{}",
        ran.err
    );
}

/// The stand-in for the Micro Integrator, when it is built: it is an example of the pack.
fn stand_in() -> Option<std::path::PathBuf> {
    let own = std::env::current_exe().unwrap();
    let path = own.ancestors().nth(2).unwrap().join("examples/stand_in");
    if !path.is_file() {
        println!("SKIP: {} is not built: cargo build -p pack-mi --example stand_in", path.display());
        return None;
    }
    Some(path)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_a_run_starts_ends_with_it() {
    let Some(stand_in) = stand_in() else { return };
    let server = |action: &str| call("server_management", json!({ "action": action }));
    let turn = Turn::new().step(server("start")).step(server("deploy")).step(server("status"));
    let stage = staged(turn).await;
    let home = stage.folder.path().canonicalize().unwrap().join("mi");
    let script = home.join("bin/micro-integrator.sh");
    put(&script, &format!("#!/bin/sh\nexec {} server\n", stand_in.display()));
    let free = |offset: &u16| {
        [8280, 8243, 9191, 9154]
            .iter()
            .all(|base| std::net::TcpListener::bind(("127.0.0.1", base + offset)).is_ok())
    };
    let offset = (42_000..44_000).step_by(37).find(free).unwrap();
    put(&home.join("conf/deployment.toml"), "[server]\n");
    put(&stage.project().join("deployment/deployment.toml"), &format!("[server]\noffset = {offset}\n"));
    put(&stage.project().join("target/orders_1.0.0.car"), "fine");
    let ran = stage.ask(&["--yes", "-p", "Run it."]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let told = results(&stage);
    assert!(told[0].contains("The server is ready after "), "{}", told[0]);
    assert!(told[1].contains("orders_1.0.0 is deployed."), "{}", told[1]);
    assert!(told[2].contains("Applications: orders 1.0.0."), "{}", told[2]);
    assert!(free(&offset), "the server still listens");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_language_server_is_asked_about_what_is_written() {
    let Some(stand_in) = stand_in() else { return };
    let text = "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"S\">\n<log><message>TODO</message></log>\n</sequence>\n";
    let write =
        call("file_write", json!({"path": "src/main/wso2mi/artifacts/sequences/S.xml", "content": text}));
    let stage = staged(Turn::new().step(write)).await;
    stage.settings(&format!(
        "[mi.language_server]\ncommand = [{:?}, \"language-server\", \"good\"]\nname = \"other\"\ntimeout = 30\n",
        stand_in.display().to_string()
    ));
    let ran = stage.ask(&["--yes", "-p", "Write it."]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let told = results(&stage);
    let expected = "nothing wrong.\nother also says:\n  src/main/wso2mi/artifacts/sequences/S.xml:2:15: warning: Something is \
                    left to do [other todo]";
    assert!(told[0].contains(expected), "{}", told[0]);
}

/// Whether a program with this word on its command line runs on this machine.
fn runs(word: &str) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    processes
        .flatten()
        .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).contains(word))
}

/// Waits until something is so.
async fn until(what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let waited = tokio::time::timeout(std::time::Duration::from_secs(100), waiting).await;
    assert!(waited.is_ok(), "{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_in_the_middle_of_a_build_leaves_nothing_running() {
    let stage = staged(Turn::new().step(call("build_project", json!({})))).await;
    // A number that nobody else sleeps for.
    let nap = format!("6{:08}", std::process::id());
    let wrapper = stage.project().join("mvnw");
    put(
        &wrapper,
        &format!("#!/bin/sh\necho '[INFO] Building orders'\ntouch began\nsleep {nap} & sleep {nap}\n"),
    );
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut pipe = stage::pipe::Pipe::open(&stage, &["--allow", "build_project"]);
    pipe.begin("Build it.").await;
    until("the build begins", || stage.project().join("began").exists() && runs(&nap)).await;
    pipe.ask(json!({ "method": "abort" })).await;
    assert_eq!(pipe.outcome().await, "aborted");
    until("all of it ends", || !runs(&nap)).await;
    // The project is there to be built again.
    assert!(stage.project().join("pom.xml").exists());
}
