use mica_agent::hooks::Gated;
use mica_ai::message::ToolResult;
use mica_ai::{Content, Dialect, Model};
use mica_testkit::{Scenario, ScriptedModel};
use serde_json::json;
use std::sync::Arc;

use super::*;
use crate::store::tests::{loose, store};
use crate::store::{Binding, Bindings, Given, Reference};

fn call(tool: &str, id: &str) -> ToolCall {
    serde_json::from_value(json!({ "id": id, "name": tool, "arguments": "{}" })).unwrap()
}

async fn ran(store: &Store, tool: &str, id: &str, mut output: ToolOutput) {
    store.after_tool(&call(tool, id), &ToolSpec::new(tool, "", json!({})), &mut output).await;
}

async fn recorded(store: &Store, tool: &str, id: &str, status: ResultStatus) {
    let result: ToolResult = call(tool, id).result(vec![Content::text("x")], status);
    store.record(Record::Message(&result.into())).await.unwrap();
}

fn context(turns: u32) -> Context {
    let model = Arc::new(Model::assumed("scripted", Dialect::Responses));
    let mut context = Context::new(Arc::new(ScriptedModel::new(Scenario::new())), model);
    context.tally.turns = turns;
    context
}

/// Calls that run side by side end in any order; they can be referred to in the order they were made.
#[tokio::test]
async fn results_are_in_the_order_of_the_calls() {
    let store = store(&loose(), Given::default());
    ran(&store, "get", "c2", ToolOutput::text("2")).await;
    ran(&store, "get", "c3", ToolOutput::text("not JSON")).await;
    ran(&store, "get", "c1", ToolOutput::text("ignored").with_details(json!({ "n": 1 }))).await;
    ran(&store, "get", "c4", ToolOutput::text("4")).await;
    ran(
        &store,
        "get",
        "c5",
        ToolOutput::text("5").with_details(json!({ "captured": { "action": "temp_1" } })),
    )
    .await;
    assert!(store.look("tool:get").is_err(), "nothing is there before it is on record");
    for id in ["c1", "c2", "c3"] {
        recorded(&store, "get", id, ResultStatus::Ok).await;
    }
    recorded(&store, "get", "c4", ResultStatus::Failed).await;
    recorded(&store, "get", "c5", ResultStatus::Ok).await;
    assert_eq!(store.look("tool:get[]").unwrap(), json!([{ "n": 1 }, 2, "not JSON"]));
    assert_eq!(store.look("call:c1.n").unwrap(), json!(1));
    assert!(store.look("call:c4").is_err() && store.look("call:c5").is_err());
    assert_eq!(store.list(), ["tool:get[] (3)", "sys:now"]);
}

#[tokio::test]
async fn what_tools_gave_is_kept_while_a_run_waits_only() {
    let side = loose();
    let first = store(&side, Given::default());
    first.before_turn(&mut context(1)).await.unwrap();
    ran(&first, "get", "c1", ToolOutput::text("1")).await;
    recorded(&first, "get", "c1", ResultStatus::Ok).await;
    first.before_turn(&mut context(2)).await.unwrap();
    assert_eq!(first.look("tool:get").unwrap(), json!(1), "another turn of the run");
    assert_eq!(side.all("store").unwrap().len(), 0, "nothing is written for what is soon forgotten");
    first.record(Record::Asked(&[])).await.unwrap();
    first.record(Record::Asked(&[])).await.unwrap();
    assert_eq!(side.all("store").unwrap().len(), 1);

    let second = store(&side, Given::default());
    assert_eq!(second.look("tool:get").unwrap(), json!(1));
    ran(&second, "get", "c2", ToolOutput::text("2")).await;
    recorded(&second, "get", "c2", ResultStatus::Ok).await;
    second.record(Record::Asked(&[])).await.unwrap();
    assert_eq!(store(&side, Given::default()).look("tool:get[]").unwrap(), json!([1, 2]));
    second.before_turn(&mut context(1)).await.unwrap();
    assert!(second.look("tool:get").is_err());
    assert!(store(&side, Given::default()).look("tool:get").is_err(), "also after the process ended");
}

#[tokio::test]
async fn what_is_bound_is_put_in_at_the_gate() {
    let bindings = Bindings::default().over([Binding::reference(
        "reply",
        "thread",
        Reference::parse("tool:find.id").unwrap(),
    )]);
    let store = store(&loose(), Given { bindings, ..Given::default() });
    let schema =
        json!({ "type": "object", "required": ["thread"], "properties": { "thread": { "type": "string" } } });
    let (spec, made) = (ToolSpec::new("reply", "", schema), call("reply", "c2"));
    let mut gated = Gated { call: &made, spec: &spec, args: mica_agent::Args::new() };
    assert!(matches!(store.gate(&mut gated, &context(1)).await, Verdict::Deny { .. }));
    ran(&store, "find", "c1", ToolOutput::text("{\"id\":\"t1\"}")).await;
    recorded(&store, "find", "c1", ResultStatus::Ok).await;
    assert_eq!(store.gate(&mut gated, &context(1)).await, Verdict::Pass);
    assert_eq!(Value::Object(gated.args), json!({ "thread": "t1" }));
}
