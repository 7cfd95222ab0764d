//! What the check of a change found, as each way to run shows it: rows of text, details of events.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

mod stage;

use mica_testkit::{Scenario, Turn};
use serde_json::{Value, json};
use stage::Stage;

const PATH: &str = "src/main/wso2mi/artifacts/sequences/Total.xml";

/// A sequence with an error that can be repaired.
fn wrong() -> Value {
    let text = "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Total\">\n    <variable name=\"total\" \
                expression=\"payload.price\"/>\n</sequence>\n";
    json!({ "path": PATH, "content": text })
}

async fn stage() -> Stage {
    let scenario = Scenario::new()
        .turn(Turn::new().thinking("A sequence,\nthen.").text("I write it.").call("file_write", wrong()))
        .turn(Turn::new().call("apply_code_action", json!({ "path": PATH })))
        .turn(Turn::new().text("Done."));
    let stage = Stage::new(scenario).await;
    std::fs::create_dir_all(stage.project().join("src/main/wso2mi/artifacts")).unwrap();
    stage
}

#[tokio::test]
async fn a_person_reads_rows_and_the_answer_stays_alone() {
    // A repair is a change like any other, so rules about paths hold for it.
    let allowed = ["--allow", "file_write(src/**)", "--allow", "apply_code_action(src/main/**)"];
    let ran = stage().await.ask(&[&["-p", "Write it."], &allowed[..]].concat()).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "I write it.\nDone.\n"), "{ran:?}");
    let rows: Vec<&str> = ran.err.lines().filter(|row| !row.starts_with('…')).collect();
    assert_eq!(
        rows,
        [
            "● Write file path=src/main/wso2mi/artifacts/sequences/Total.xml …",
            "✗ line 2 SYN0201: \"payload.price\" is read as XPath here, looks for an element…",
            "● Repair path=src/main/wso2mi/artifacts/sequences/Total.xml",
            "✓ checked, nothing wrong",
        ]
    );
}

#[tokio::test]
async fn thoughts_are_shown_when_asked_for_and_are_no_part_of_the_answer() {
    let ran = stage().await.ask(&["-p", "Write it.", "--yes", "--show-thinking"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "I write it.\nDone.\n"), "{ran:?}");
    assert!(ran.err.starts_with("~ A sequence,\n~ then.\n● Write file "), "{}", ran.err);
}

#[tokio::test]
async fn a_program_reads_details() {
    let ran = stage().await.ask(&["-p", "Write it.", "--yes", "--output", "stream-json"]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let events = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let checks: Vec<Value> = events
        .filter(|event| event["type"] == "call_end")
        .map(|event| event["details"]["checks"].clone())
        .collect();
    let fix = json!({ "title": "Wrap it in ${}", "safe": true });
    let finding = &checks[0][0]["findings"][0];
    assert_eq!(
        (&finding["code"], &finding["severity"], &finding["line"], &finding["fixes"][0]),
        (&json!("SYN0201"), &json!("error"), &json!(2), &fix),
        "{checks:?}"
    );
    assert_eq!((&checks[0][0]["path"], &checks[0][0]["errors"]), (&json!(PATH), &json!(1)));
    let clean =
        json!([{ "path": PATH, "errors": 0, "warnings": 0, "hints": 0, "findings": [], "broken": [] }]);
    assert_eq!((checks.len(), &checks[1]), (2, &clean));
}
