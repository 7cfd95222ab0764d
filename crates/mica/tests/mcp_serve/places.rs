//! What the server reads and writes, and what it does not.

use serde_json::json;

use super::stage::{FILE, ORDERS, Stage};

#[test]
fn nothing_outside_of_the_roots_is_read() {
    let stage = Stage::new();
    std::os::unix::fs::symlink(stage.path().join("beside"), stage.path().join("project/link")).unwrap();
    let mut talk = stage.talk(&[]);
    let outside = stage.path().join("beside/secret.xml");
    for path in ["../beside/secret.xml", "link/secret.xml", outside.to_str().unwrap(), "/etc/passwd"] {
        let text = talk.refused("check", json!({ "paths": [path] }));
        assert!(text.contains("is outside of the workspace, so it was not touched"), "{path}: {text}");
        let text = talk.refused("outline", json!({ "path": path }));
        assert!(text.contains("is outside of the workspace"), "{path}: {text}");
    }
    let text = talk.refused("check", json!({ "text": "<a/>", "file_name": "../beside/new.xml" }));
    assert!(text.contains("is outside of the workspace"), "{text}");
    let error = talk.ask(
        "prompts/get",
        json!({ "name": "explain-artifact", "arguments": { "file": "../beside/secret.xml" } }),
    );
    assert_eq!(error["code"], -32602);
    // With another root, it may be.
    let beside = stage.path().join("beside");
    let mut talk = stage.talk(&["--root", ".", "--root", beside.to_str().unwrap()]);
    let checked = talk.call("check", json!({ "paths": [outside.to_str().unwrap()] }));
    assert_eq!(checked["structuredContent"]["summary"]["files"], 1, "{checked}");
}

#[test]
fn secrets_are_not_read() {
    let stage = Stage::new();
    stage.write("project/src/main/wso2mi/artifacts/settings-security.xml", "<master>hidden words</master>");
    let mut talk = stage.talk(&[]);
    for path in [".env", "src/main/wso2mi/artifacts/settings-security.xml"] {
        let text = talk.refused("check", json!({ "paths": [path] }));
        assert!(text.contains("secret") && !text.contains("of-nobody") && !text.contains("hidden"), "{text}");
    }
    let checked = talk.call("check", json!({ "paths": ["src"] }));
    assert!(!checked.to_string().contains("hidden words"), "{checked}");
    assert_eq!(checked["structuredContent"]["unreadable"].as_array().unwrap().len(), 1);
}

#[test]
fn a_project_that_begins_above_the_root_is_not_read() {
    let stage = Stage::new();
    let mut talk = stage.talk(&["--root", "src/main/wso2mi/artifacts"]);
    let checked = talk.call("check", json!({ "paths": ["apis/Orders.xml"] }));
    let codes: Vec<&str> = checked["structuredContent"]["files"][0]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["SYN0101"], "that a sequence is missing can only be said with the project in view");
    let text = talk.refused("project_facts", json!({}));
    assert!(text.starts_with("There is no Micro Integrator project there"), "{text}");
}

#[test]
fn files_are_written_only_when_the_server_may_and_the_call_says_so() {
    let stage = Stage::new();
    let mut talk = stage.talk(&[]);
    let tools = talk.ask("tools/list", json!({}));
    let fix = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "fix").unwrap().clone();
    assert_eq!(fix["inputSchema"]["properties"]["write"], json!(null));
    assert_eq!(fix["annotations"]["readOnlyHint"], true);
    let text = talk.refused("fix", json!({ "path": FILE, "all": true, "write": true }));
    assert!(text.starts_with("This server only looks: it was started without --write."), "{text}");

    let mut talk = stage.talk(&["--write"]);
    let tools = talk.ask("tools/list", json!({}));
    let fix = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "fix").unwrap().clone();
    assert_eq!(fix["inputSchema"]["properties"]["write"]["type"], "boolean");
    assert_eq!(fix["annotations"]["readOnlyHint"], false);
    let looked = talk.call("fix", json!({ "path": FILE, "all": true }));
    assert_eq!(looked["structuredContent"]["written"], false);
    assert_eq!(stage.read(&format!("project/{FILE}")), ORDERS);
    let wrote = talk.call("fix", json!({ "path": FILE, "all": true, "write": true }));
    assert_eq!(wrote["structuredContent"]["written"], true, "{wrote}");
    assert_eq!(stage.read(&format!("project/{FILE}")), ORDERS.replace("<lag level", "<log level"));
    assert_eq!(
        wrote["structuredContent"]["diff"],
        format!(
            "--- a/{FILE}\n+++ b/{FILE}\n@@ -2,7 +2,7 @@\n <api context=\"/orders\" name=\"Orders\" \
             xmlns=\"http://ws.apache.org/ns/synapse\">\n <resource methods=\"GET\" uri-template=\"/\">\n <inSequence>\n-<lag \
             level=\"full\"/>\n+<log level=\"full\"/>\n <sequence key=\"Missing\"/>\n <respond/>\n </inSequence>\n"
        )
    );
    let text = talk.refused("fix", json!({ "text": ORDERS, "write": true }));
    assert_eq!(text, "Only a file can be written: give its path.");
    let text = talk.refused("fix", json!({ "path": "src", "write": true }));
    assert_eq!(text, "src is a folder: repair one file at a time; `check` lists those with findings.");
}

#[test]
fn a_root_that_is_not_there_is_an_error_at_once() {
    let stage = Stage::new();
    for (arguments, expect) in [
        (&["--root", "nope"][..], "there is no such folder"),
        (&["--root", "pom.xml"][..], "that is no folder"),
    ] {
        let ran = stage.command(arguments).output().unwrap();
        assert_eq!(ran.status.code(), Some(2));
        assert!(ran.stdout.is_empty());
        let told = String::from_utf8(ran.stderr).unwrap();
        assert!(told.starts_with("mica: --root ") && told.contains(expect), "{told}");
    }
}
