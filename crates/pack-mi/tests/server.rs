//! A server is started, deployed to, asked and stopped, with a stand-in for the Micro Integrator.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "helpers of tests are tests"
)]

mod stage;

use std::time::Duration;

use mica_tools::TaskState;
use pack_mi::runtime::Login;
use serde_json::json;
use stage::{Stage, args, call, cx, put, tool};
use tokio_util::sync::CancellationToken;

const SERVER: &str = "server_management";
const API: &str = "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Orders\" context=\"/orders\">\n<resource methods=\"GET\">\n<inSequence>\n<event topic=\"a\"/>\n<respond/>\n</inSequence></resource></api>";

#[tokio::test(flavor = "multi_thread")]
async fn a_server_lives_from_start_to_stop() {
    let stage = Stage::new();
    if !stage.is_confined().await {
        return;
    }
    stage.install_server("");
    stage.put(".env", "STAND_IN_SECRET=hunter2\nOTHER=x\n");
    stage.put("deployment/libs/driver.jar", "jar");
    stage.put("target/orders_1.0.0.car", "fine");
    stage.put("src/main/wso2mi/artifacts/apis/Orders.xml", API);
    let runtime = stage.runtime(stage.settings());
    let asked = async |value| call(&runtime, SERVER, value).await;

    assert_eq!(
        asked(json!({"action": "status"})).await.unwrap().lines().next(),
        Some("The server does not run.")
    );
    let started = asked(json!({"action": "start"})).await.unwrap();
    assert!(started.starts_with("The server is ready after "), "{started}");
    assert!(started.contains("as server-1, until it is stopped"), "{started}");
    assert!(started.contains("2 variables of .env: OTHER, STAND_IN_SECRET"), "{started}");
    assert!(started.contains("lib: driver.jar"), "{started}");
    assert!(!started.contains("hunter2"), "{started}");
    // The program got the value, and the settings of the project.
    let home = stage.home();
    assert_eq!(std::fs::read_to_string(home.join("repository/seen-secret")).unwrap(), "hunter2");
    assert!(
        std::fs::read_to_string(home.join("conf/deployment.toml.before-mica")).unwrap().contains("theirs")
    );

    // An older archive of the same project goes; another project's stays.
    let archives = home.join("repository/deployment/server/carbonapps");
    put(&archives.join("orders_0.9.0.car"), "old");
    put(&archives.join("billing_1.0.0.car"), "theirs");
    let log = home.join("repository/logs/wso2carbon.log");
    while !std::fs::read_to_string(&log).unwrap().contains("Deployed Carbon Application : orders_0.9.0") {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let deployed = asked(json!({"action": "deploy"})).await.unwrap();
    assert_eq!(
        deployed,
        "orders_1.0.0.car (4 B) was copied to the server.\nOlder archives of the project were removed: orders_0.9.0.car.\n\
         orders_1.0.0 is deployed."
    );
    let mut names: Vec<String> = std::fs::read_dir(&archives)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["billing_1.0.0.car", "orders_1.0.0.car"]);

    let status = asked(json!({"action": "status"})).await.unwrap();
    let ports = format!(
        "Ports: HTTP {} listens, HTTPS {} closed, readiness {} listens, management {} listens.",
        8280 + stage.offset,
        8243 + stage.offset,
        9191 + stage.offset,
        9154 + stage.offset
    );
    let lines: Vec<&str> = status.lines().collect();
    assert!(lines[0].starts_with("The server is ready, started by this session as server-1 "), "{status}");
    assert_eq!(
        lines[1..4],
        [&ports, "APIs: Orders.", "Applications: billing 1.0.0, orders 1.0.0."],
        "{status}"
    );

    assert_eq!(
        asked(json!({"action": "query", "artifact_type": "apis", "artifact_name": "Orders"})).await.unwrap(),
        "{\n  \"name\": \"Orders\",\n  \"tracing\": \"disabled\"\n}"
    );
    assert_eq!(
        asked(json!({"action": "query", "artifact_type": "tasks", "artifact_name": "Nobody"}))
            .await
            .unwrap_err(),
        "The server has no tasks \"Nobody\". {\n  \"Error\": \"unknown\"\n}"
    );
    assert_eq!(
        asked(json!({"action": "control", "artifact_type": "apis", "artifact_name": "Orders", "control_action": "enableTracing"}))
            .await
            .unwrap(),
        "{\n  \"message\": \"done\",\n  \"got\": {\n    \"name\": \"Orders\",\n    \"trace\": \"enable\"\n  }\n}"
    );

    // What does not deploy is told with its innermost cause and its place.
    std::fs::remove_file(stage.project().join("target/orders_1.0.0.car")).unwrap();
    stage.put("target/orders_1.1.0.car", "broken");
    let failed = asked(json!({"action": "deploy"})).await.unwrap_err();
    assert_eq!(
        failed,
        "orders_1.1.0.car (6 B) was copied to the server.\nOlder archives of the project were removed: orders_1.0.0.car.\n\
         orders_1.1.0 could NOT be deployed: Unknown mediator referenced by configuration element : \
         {http://ws.apache.org/ns/synapse}event\n  place: src/main/wso2mi/artifacts/apis/Orders.xml:4 (event)"
    );
    assert_eq!(
        asked(json!({"action": "undeploy"})).await.unwrap(),
        "Removed from the server: orders_1.1.0.car. The server has undeployed them."
    );
    let logs = call(&runtime, "read_server_logs", json!({"log_file": "main"})).await.unwrap();
    let told: Vec<&str> = logs.lines().take(5).collect();
    assert_eq!(
        told,
        [
            "Deployments:",
            "  billing_1.0.0: deployed at 10:20:30",
            "  orders_0.9.0: undeployed at 10:20:30",
            "  orders_1.0.0: undeployed at 10:20:30",
            "  orders_1.1.0: undeployed at 10:20:30",
        ],
        "{logs}"
    );

    assert_eq!(asked(json!({"action": "start"})).await.unwrap(), "The server runs already, as server-1.");
    assert_eq!(asked(json!({"action": "stop"})).await.unwrap(), "The server was stopped.");
    assert_eq!(asked(json!({"action": "stop"})).await.unwrap(), "The server does not run.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_is_told_at_once_with_its_cause() {
    let stage = Stage::new();
    if !stage.is_confined().await {
        return;
    }
    stage.install_server("crash");
    let runtime = stage.runtime(stage.settings());
    let error = call(&runtime, SERVER, json!({"action": "start"})).await.unwrap_err();
    assert_eq!(
        error.lines().take(5).collect::<Vec<_>>(),
        [
            "The server ended with code 3 before it was ready.",
            "Its last error: StartupFinalizer: The transport could not be started",
            "Caused by: java.net.BindException: Address already in use",
            "→ Another program has one of its ports: stop it, or set [server] offset in deployment.toml.",
            "Its last lines:",
        ],
        "{error}"
    );
    // What was put into the server is told all the same.
    assert!(error.ends_with("conf/deployment.toml.before-mica]"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_does_not_write_the_code_that_its_user_runs() {
    let stage = Stage::new();
    if !stage.is_confined().await {
        return;
    }
    stage.install_server("");
    let home = stage.home();
    let script = format!(
        "#!/bin/sh\nfor file in bin/a.sh lib/a.jar wso2/a.jar a repository/a conf/a tmp/a; do echo x > $file; done\n\
         exec {} server\n",
        stage::stand_in().display()
    );
    put(&home.join("bin/micro-integrator.sh"), &script);
    for name in ["lib", "wso2"] {
        std::fs::create_dir_all(home.join(name)).unwrap();
    }
    let runtime = stage.runtime(stage.settings());
    let started = call(&runtime, SERVER, json!({"action": "start"})).await.unwrap();
    assert!(started.starts_with("The server is ready after "), "{started}");
    for (path, expected) in [
        ("bin/a.sh", false),
        ("lib/a.jar", false),
        ("wso2/a.jar", false),
        ("a", false),
        ("repository/a", true),
        ("conf/a", true),
        ("tmp/a", true),
    ] {
        assert_eq!(home.join(path).exists(), expected, "{path}");
    }
    assert_eq!(call(&runtime, SERVER, json!({"action": "stop"})).await.unwrap(), "The server was stopped.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_of_the_project_brings_nothing_to_the_server() {
    let stage = Stage::new();
    if !stage.is_confined().await {
        return;
    }
    stage.install_server("");
    put(&stage.beside("credentials"), "STAND_IN_SECRET=hunter2");
    std::os::unix::fs::symlink(stage.beside("credentials"), stage.project().join(".env")).unwrap();
    let error = call(&stage.runtime(stage.settings()), SERVER, json!({"action": "start"})).await.unwrap_err();
    assert_eq!(
        error.lines().next(),
        Some(
            ".env could not be read: it is a link, or a link is on the way to it, and links are not followed. The server was \
             not started."
        )
    );
    assert!(!stage.home().join("repository/seen-secret").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_does_not_choose_who_is_given_the_password() {
    let stage = Stage::new();
    stage.install_server("");
    // The server would be elsewhere; somebody waits where the project says.
    put(&stage.home().join("conf/deployment.toml"), &format!("[server]\noffset = {}\n", stage.offset + 1));
    let waits = std::net::TcpListener::bind(("127.0.0.1", 9154 + stage.offset)).unwrap();
    waits.set_nonblocking(true).unwrap();
    let runtime = stage.runtime(stage.settings());
    let error =
        call(&runtime, SERVER, json!({"action": "query", "artifact_type": "apis"})).await.unwrap_err();
    assert!(error.contains("nobody listens there"), "{error}");
    call(&runtime, SERVER, json!({"action": "status"})).await.unwrap();
    assert_eq!(waits.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn deploying_leaves_the_archives_of_similar_projects() {
    let stage = Stage::new();
    stage.install_server("");
    stage.put("target/my_orders_2_1.0.0.car", "new");
    let archives = stage.home().join("repository/deployment/server/carbonapps");
    put(&archives.join("my_orders_1.0.0.car"), "theirs");
    put(&archives.join("my_orders_2_0.9.0.car"), "old");
    let text = call(&stage.runtime(stage.settings()), SERVER, json!({"action": "deploy"})).await.unwrap();
    assert!(text.contains("were removed: my_orders_2_0.9.0.car.\n"), "{text}");
    assert!(archives.join("my_orders_1.0.0.car").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_start_is_waited_for_and_its_log_is_heard() {
    let stage = Stage::new();
    if !stage.is_confined().await {
        return;
    }
    stage.install_server("slow");
    let hold = put(&stage.home().join("hold"), "");
    let runtime = stage.runtime(stage.settings());
    let (cx, heard) = cx(&CancellationToken::new());
    let start = tool(&runtime, SERVER);
    let starting = tokio::spawn(async move { start.call(args(json!({"action": "start"})), &cx).await });
    while !heard.text().contains("Starting WSO2 Micro Integrator") {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!starting.is_finished());
    std::fs::remove_file(hold).unwrap();
    let text = stage::text(&starting.await.unwrap().unwrap());
    assert!(text.starts_with("The server is ready after "), "{text}");
    // The session ends, and the server with it.
    assert_eq!(stage.tasks.close(Duration::from_secs(10)).await, []);
    let status = call(&runtime, SERVER, json!({"action": "status"})).await.unwrap();
    assert!(status.starts_with("The server does not run."), "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_takes_too_long_goes_on_and_one_that_is_cut_does_not() {
    let stage = Stage::new();
    if !stage.is_confined().await {
        return;
    }
    stage.install_server("never-ready");
    let mut settings = stage.settings();
    settings.server_timeout = Duration::from_secs(2);
    let runtime = stage.runtime(settings);
    let late = call(&runtime, SERVER, json!({"action": "start"})).await.unwrap();
    assert!(
        late.starts_with("The server was started and is not ready after 2 s. It goes on starting"),
        "{late}"
    );
    let status = call(&runtime, SERVER, json!({"action": "status"})).await.unwrap();
    assert!(
        status.starts_with("The server runs and is not ready, started by this session as server-1"),
        "{status}"
    );
    assert_eq!(call(&runtime, SERVER, json!({"action": "stop"})).await.unwrap(), "The server was stopped.");

    let cancel = CancellationToken::new();
    let (cx, heard) = cx(&cancel);
    let runtime = stage.runtime(stage.settings());
    let start = tool(&runtime, SERVER);
    let starting = tokio::spawn(async move { start.call(args(json!({"action": "start"})), &cx).await });
    while !heard.text().contains("Starting WSO2 Micro Integrator") {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    cancel.cancel();
    let error = starting.await.unwrap().unwrap_err();
    assert_eq!(error.message.lines().next(), Some("The start was stopped, and the server with it."));
    assert!(stage.tasks.list().iter().all(|task| task.state != TaskState::Running));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_somebody_else_is_left_alone_and_stopped_by_its_own_api() {
    let stage = Stage::new();
    if !stage.is_confined().await {
        return;
    }
    stage.install_server("");
    let somebody = stage.runtime(stage.settings());
    call(&somebody, SERVER, json!({"action": "start"})).await.unwrap();
    let runtime = stage.runtime(stage.settings());
    let text = call(&runtime, SERVER, json!({"action": "start"})).await.unwrap();
    assert!(text.starts_with("A server listens at the ports of this one already"), "{text}");
    let mut wrong = stage.settings();
    wrong.login = Login { user: "admin".to_owned(), password: "guess".to_owned() };
    let refused =
        call(&stage.runtime(wrong), SERVER, json!({"action": "query", "artifact_type": "apis"})).await;
    assert_eq!(
        refused.unwrap_err(),
        "The management API cannot be used: the server refuses the login of \"admin\"; the user sets mi.management_user and \
         mi.management_password_env."
    );
    assert_eq!(
        call(&runtime, SERVER, json!({"action": "stop"})).await.unwrap(),
        "The server was not started by this session; its management API stopped it."
    );
}

#[tokio::test]
async fn what_is_not_configured_is_told() {
    let stage = Stage::new();
    let runtime = stage.runtime(stage.settings());
    for (tool, value) in [
        (SERVER, json!({"action": "start"})),
        (SERVER, json!({"action": "status"})),
        (SERVER, json!({"action": "deploy"})),
        ("read_server_logs", json!({})),
    ] {
        let error = call(&runtime, tool, value.clone()).await.unwrap_err();
        assert!(error.starts_with("No Micro Integrator is configured."), "{tool} {value}: {error}");
    }
    let mut settings = stage.settings();
    settings.runtime = Some(stage.beside("nothing"));
    let error = call(&stage.runtime(settings), SERVER, json!({"action": "start"})).await.unwrap_err();
    assert!(error.contains("which is no folder"), "{error}");
    std::fs::create_dir_all(stage.home()).unwrap();
    let runtime = stage.runtime(stage.settings());
    let error = call(&runtime, SERVER, json!({"action": "start"})).await.unwrap_err();
    assert!(error.starts_with("There is no bin/micro-integrator.sh in "), "{error}");
    assert_eq!(
        call(&runtime, SERVER, json!({"action": "deploy"})).await.unwrap_err(),
        "There is no archive in target/. Build the project first. Nothing was deployed."
    );
    stage.put("target/orders_1.0.0.car", "x");
    assert!(
        call(&runtime, SERVER, json!({"action": "deploy"}))
            .await
            .unwrap()
            .ends_with("they are deployed when it starts.")
    );
}
