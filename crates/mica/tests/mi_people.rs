//! Jobs in Micro Integrator projects that a person takes part in, over the pipe: plans, modes, stops.

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
use stage::pipe::Pipe;

const API: &str = "src/main/wso2mi/artifacts/apis/PingAPI.xml";

fn ping(answer: &str) -> String {
    format!(
        "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"PingAPI\" context=\"/ping\">\n    <resource \
         methods=\"GET\" uri-template=\"/\">\n        <inSequence>\n            <payloadFactory media-type=\"json\">\n                \
         <format>{{\"answer\": \"pong\"}}</format>\n            </payloadFactory>\n            {answer}\n        \
         </inSequence>\n    </resource>\n</api>\n"
    )
}

fn calls(name: &str, args: Value) -> Turn {
    Turn::new().call(name, args)
}

fn script<const N: usize>(turns: [Turn; N]) -> Scenario {
    turns.into_iter().fold(Scenario::new(), Scenario::turn)
}

async fn stage(scenario: Scenario) -> Stage {
    let stage = Stage::new(scenario).await;
    let project = stage.project();
    std::fs::create_dir_all(project.join("src/main/wso2mi/artifacts/apis")).unwrap();
    let pom = "<project><properties><project.runtime.version>4.4.0</project.runtime.version></properties></project>";
    std::fs::write(project.join("pom.xml"), pom).unwrap();
    stage
}

/// The last message of a request, as text.
fn last(stage: &Stage, request: usize) -> String {
    let captured = stage.server.captured();
    captured[request].json["messages"].as_array().unwrap().last().unwrap().to_string()
}

#[tokio::test]
async fn a_plan_is_rejected_changed_approved_and_implemented_in_the_same_run() {
    let write = json!({ "path": API, "content": ping("<respond/>") });
    let stage = stage(script([
        calls("enter_plan_mode", json!({ "title": "Ping" })),
        calls("file_write", write.clone()),
        calls("exit_plan_mode", json!({ "plan": "# Ping\n\n1. A proxy service.\n" })),
        calls("exit_plan_mode", json!({ "plan": "# Ping\n\n1. An API.\n" })),
        calls("file_write", write),
        Turn::new().text("Done."),
    ]))
    .await;
    let mut pipe = Pipe::open(&stage, &[]);
    pipe.begin("Add a ping.").await;
    pipe.decide(json!({ "answer": "allow" })).await;
    let presented = pipe.decide(json!({ "answer": "deny", "reason": "An API, not a proxy." })).await;
    assert_eq!(presented["call"]["name"], "exit_plan_mode");
    assert!(!stage.project().join(API).exists(), "nothing is written while it is planned");
    let again = pipe.decide(json!({ "answer": "allow" })).await;
    assert_eq!(again["preview"]["text"], "# Ping\n\n1. An API.\n");
    assert_eq!(pipe.decide(json!({ "answer": "allow" })).await["call"]["name"], "file_write");
    assert_eq!(pipe.outcome().await, "completed");
    assert!(last(&stage, 2).contains("not available in plan mode"), "{}", last(&stage, 2));
    assert!(last(&stage, 3).contains("An API, not a proxy."), "{}", last(&stage, 3));
    assert!(last(&stage, 5).contains("(MI 4.4.0): nothing wrong."), "{}", last(&stage, 5));
    assert_eq!(pipe.state("mode").await, "edit");
    assert!(stage.project().join(API).exists());
}

#[tokio::test]
async fn a_mode_that_is_switched_holds_from_the_next_call_on() {
    let write = json!({ "path": API, "content": ping("<respond/>") });
    let stage = stage(script([
        calls("file_write", write.clone()),
        Turn::new().text("It cannot be changed now."),
        calls("file_write", write),
        Turn::new().text("Written."),
    ]))
    .await;
    let mut pipe = Pipe::open(&stage, &["--mode", "ask", "--allow", "file_write"]);
    pipe.begin("Add a ping.").await;
    assert_eq!(pipe.outcome().await, "completed");
    assert!(!stage.project().join(API).exists());
    let switched = pipe.ask(json!({ "method": "mode", "mode": "edit" })).await;
    assert!(switched.get("error").is_none(), "{switched}");
    pipe.begin("Now you may.").await;
    assert_eq!(pipe.outcome().await, "completed");
    assert!(stage.project().join(API).exists());
}

#[tokio::test]
async fn what_the_check_found_is_told_to_the_client_as_data() {
    let stage = stage(script([
        calls("file_write", json!({ "path": API, "content": ping("<send/>") })),
        Turn::new().text("Written."),
    ]))
    .await;
    let mut pipe = Pipe::open(&stage, &["--allow", "file_write"]);
    pipe.begin("Add a ping.").await;
    assert_eq!(pipe.outcome().await, "completed");
    let end = pipe.events.iter().find(|event| event["type"] == "call_end").unwrap();
    let checks = &end["details"]["checks"][0];
    assert_eq!((&checks["path"], &checks["warnings"]), (&json!(API), &json!(1)));
    assert_eq!(checks["findings"][0]["code"], "SYN0502");
    assert_eq!(checks["findings"][0]["line"], 7);
    assert_eq!(checks["findings"][0]["fixes"][0]["title"], "Answer with <respond/>");
}

#[tokio::test]
async fn a_subagent_explores_in_the_background_while_files_are_edited() {
    // The subagent has the same script's turns by what its user says.
    let explorer = Turn::new()
        .text("There is one API, in apis/.")
        .when(mica_testkit::When { user_contains: Some("Which APIs".to_owned()), ..Default::default() });
    let send = json!({
        "profile": "explore", "description": "Find APIs", "prompt": "Which APIs are there?", "background": true,
    });
    let stage = stage(
        Scenario::new()
            .turn(explorer)
            .turn(calls("create_subagent", send))
            .turn(calls("file_write", json!({ "path": API, "content": ping("<respond/>") })))
            .otherwise(Turn::new().text("Both are done.")),
    )
    .await;
    let mut pipe = Pipe::open(&stage, &["--allow", "*"]);
    pipe.begin("Look around and add a ping.").await;
    assert_eq!(pipe.outcome().await, "completed");
    assert!(stage.project().join(API).exists());
    let asked = stage.server.captured();
    let explored = asked
        .iter()
        .find(|request| request.json["messages"].to_string().contains("You are a subagent"))
        .unwrap();
    let tools: Vec<&str> = explored.json["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    assert!(tools.contains(&"grep") && !tools.contains(&"file_write"), "{tools:?}");
    assert!(!tools.contains(&"apply_code_action"), "{tools:?}");
}
