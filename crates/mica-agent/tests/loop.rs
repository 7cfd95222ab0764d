//! The loop against the scripted model: exact orders of events.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::sync::Arc;

use mica_agent::{Agent, Context, EventKind, Outcome, ToolOutput, TypedTool};
use mica_ai::{Dialect, Model};
use mica_testkit::{Scenario, ScriptedModel, Turn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Read {
    /// Which file.
    path: String,
}

fn agent(scenario: Scenario) -> Agent {
    let model = Arc::new(Model::assumed("scripted", Dialect::Responses));
    let mut context = Context::new(Arc::new(ScriptedModel::new(scenario)), model);
    context.tools.add(Arc::new(TypedTool::new("read", "Reads a file.", |args: Read, _| async move {
        Ok(ToolOutput::text(format!("contents of {}", args.path)))
    })));
    Agent::new(context, Vec::new())
}

fn told(kind: &EventKind) -> String {
    serde_json::to_value(kind).unwrap()["type"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_call_and_an_answer() {
    let scenario = Scenario::new()
        .turn(Turn::new().text("Looking.").call("read", json!({ "path": "a" })))
        .turn(Turn::new().text("Done."));
    let agent = agent(scenario);
    let mut events = agent.subscribe();
    let outcome = agent.prompt("Read a.").await.unwrap();
    assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
    let mut order = Vec::new();
    let mut seq = Vec::new();
    while let Ok(event) = events.try_recv() {
        seq.push(event.seq);
        if !matches!(event.kind, EventKind::Answer { .. }) {
            order.push(told(&event.kind));
        }
    }
    assert_eq!(seq, (0..seq.len() as u64).collect::<Vec<_>>(), "numbers without gaps");
    assert_eq!(
        order,
        [
            "run_start",
            "turn_start",
            "message",
            "answer_start",
            "answer_end",
            "usage",
            "call_start",
            "call_end",
            "message",
            "turn_end",
            "turn_start",
            "answer_start",
            "answer_end",
            "usage",
            "turn_end",
            "run_end",
        ]
    );
    let messages = agent.with(|cx| cx.messages.len()).await.unwrap();
    assert_eq!(messages, 4);
}
