//! Logs are read as the server leaves them: folded, filtered, raw, large, missing.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "helpers of tests are tests"
)]

mod stage;

use serde_json::json;
use stage::{Stage, call, put};

const LOGS: &str = "read_server_logs";

const ERRORS: &str = "\
[2026-05-12 10:20:30,456] ERROR {CallMediator} - {api:Orders GET /orders/7} Couldn't find the endpoint with the key : Stock
[2026-05-12 10:20:31,456] ERROR {CallMediator} - {api:Orders GET /orders/8} Couldn't find the endpoint with the key : Stock
[2026-05-12 10:21:00,000] ERROR {Axis2SynapseEnvironment} - {proxy:Bill} Unexpected error during sending message out java.lang.IllegalStateException: closed
\tat org.apache.http.Pool.lease(Pool.java:1)
";

fn staged() -> Stage {
    let stage = Stage::new();
    stage.put("pom.xml", "<project/>");
    stage.put(
        "src/main/wso2mi/artifacts/apis/Orders.xml",
        "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Orders\" context=\"/orders\">\n<resource methods=\"GET\" uri-template=\"/{id}\">\n<inSequence>\n<call><endpoint key=\"Stock\"/></call>\n</inSequence></resource></api>",
    );
    std::fs::create_dir_all(stage.home()).unwrap();
    stage
}

#[tokio::test]
async fn errors_are_told_with_their_places() {
    let stage = staged();
    let path = put(&stage.home().join("repository/logs/wso2error.log"), ERRORS);
    let runtime = stage.runtime(stage.settings());
    assert_eq!(
        call(&runtime, LOGS, json!({})).await.unwrap(),
        format!(
            "3 errors, 2 different:\napi Orders:\n  ×2 10:20:30–10:20:31 CallMediator Couldn't find the endpoint with the key : \
             Stock\n    place: src/main/wso2mi/artifacts/apis/Orders.xml:4 (names endpoint Stock)\nproxy Bill:\n  10:21:00 \
             Axis2SynapseEnvironment Unexpected error during sending message out\n    cause: java.lang.IllegalStateException: \
             closed\n3 entries from 2026-05-12 10:20:30,456 to 2026-05-12 10:21:00,000, 0 of them only inform.\n[{}: all of \
             its 4 lines]",
            path.display()
        )
    );
    for (value, expected) in [
        (json!({"artifact_name": "Bill"}), "1 error:\nproxy Bill:"),
        (json!({"grep_pattern": "Stock"}), "2 errors, 1 different:\napi Orders:"),
        (json!({"grep_pattern": "/ORDERS\\/8/i"}), "1 error:\napi Orders:"),
        (json!({"grep_pattern": "/Stock/", "artifact_name": "Bill"}), "[nothing that was asked for]"),
        (
            json!({"grep_pattern": "Pool.lease", "parse_mode": "raw"}),
            "\tat org.apache.http.Pool.lease(Pool.java:1)\n[",
        ),
        (json!({"tail_lines": 1, "parse_mode": "raw"}), "\tat org.apache.http.Pool.lease(Pool.java:1)\n["),
    ] {
        let text = call(&runtime, LOGS, value.clone()).await.unwrap();
        assert!(text.starts_with(expected), "{value}: {text}");
    }
    // A pattern that would take for ever elsewhere, and one that is none.
    let text = call(&runtime, LOGS, json!({"grep_pattern": "/(a+)+$/"})).await.unwrap();
    assert!(text.starts_with("[nothing that was asked for]"), "{text}");
    let error = call(&runtime, LOGS, json!({"grep_pattern": "/(/"})).await.unwrap_err();
    assert!(error.starts_with("grep_pattern cannot be read: "), "{error}");
}

#[tokio::test]
async fn what_is_missing_is_told() {
    let stage = staged();
    let runtime = stage.runtime(stage.settings());
    let error = call(&runtime, LOGS, json!({})).await.unwrap_err();
    assert!(
        error.ends_with("repository/logs: the server has not run yet, or mi.runtime names another folder."),
        "{error}"
    );
    put(&stage.home().join("repository/logs/wso2carbon.log"), "");
    let error = call(&runtime, LOGS, json!({"log_file": "http"})).await.unwrap_err();
    assert!(
        error.starts_with("There is no http_access.log in ") && error.ends_with("There are: wso2carbon.log"),
        "{error}"
    );
    let text = call(&runtime, LOGS, json!({"log_file": "main"})).await.unwrap();
    assert!(text.starts_with("[nothing that was asked for]\n["), "{text}");
}

#[tokio::test]
async fn a_link_is_no_log() {
    let stage = staged();
    let runtime = stage.runtime(stage.settings());
    let secret = put(&stage.beside("secret/wso2carbon.log"), "hunter2");
    let logs = stage.home().join("repository/logs");
    put(&logs.join("http_access.log"), "");
    std::os::unix::fs::symlink(&secret, logs.join("wso2carbon.log")).unwrap();
    let ask = json!({"log_file": "main", "parse_mode": "raw"});
    let error = call(&runtime, LOGS, ask.clone()).await.unwrap_err();
    assert!(error.ends_with(
        "cannot be read: it is a link, or a link is on the way to it, and links are not followed."
    ));
    // The whole folder is one.
    std::fs::remove_dir_all(&logs).unwrap();
    std::os::unix::fs::symlink(secret.parent().unwrap(), &logs).unwrap();
    let error = call(&runtime, LOGS, ask).await.unwrap_err();
    assert!(error.ends_with("links are not followed."), "{error}");
}
