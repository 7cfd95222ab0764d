use mica_agent::{RunId, ToolSet};
use mica_ai::id::CallId;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::store::tests::{loose, store};
use crate::store::{Given, LIMIT, equipped};

async fn set(tools: &ToolSet, args: Value) -> Result<ToolOutput, String> {
    let cx = ToolCx::new(RunId::from("r1"), CallId::from("c1"), CancellationToken::new(), |_| {});
    let args = args.as_object().unwrap().clone();
    tools.get(SET_VARIABLE).unwrap().call(args, &cx).await.map_err(|error| error.message)
}

#[tokio::test]
async fn what_is_kept() {
    let mut bare = ToolSet::default();
    bare.add(set_variable());
    let args = json!({ "name": "a", "value": [1] });
    assert_eq!(set(&bare, args.clone()).await.unwrap_err(), NO_STORE);

    let store = store(&loose(), Given::default());
    let tools = equipped(&bare, &store);
    assert_eq!(tools.definitions(), bare.definitions(), "a model sees the same");
    let output = set(&tools, args).await.unwrap();
    assert_eq!(output.details, Some(json!({ "variable": { "name": "a", "value": [1] } })));
    set(&tools, json!({ "name": "var:b", "value": null })).await.unwrap();
    assert_eq!(store.list(), ["var:a", "var:b", "sys:now"]);
    for (name, expected) in [
        ("plan", "var:plan belongs to the plan: it changes with the tools for plans only."),
        ("1", "\"1\" is no name for a variable: use a letter or _, then letters, digits, _ and -."),
        ("a.b", "\"a.b\" is no name for a variable: use a letter or _, then letters, digits, _ and -."),
        ("", "\"\" is no name for a variable: use a letter or _, then letters, digits, _ and -."),
    ] {
        assert_eq!(set(&tools, json!({ "name": name, "value": 1 })).await.unwrap_err(), expected);
    }
    let large = set(&tools, json!({ "name": "c", "value": "x".repeat(LIMIT) })).await.unwrap_err();
    assert_eq!(large, format!("var:c would be 12 bytes too large: all variables together may have {LIMIT}."));
}
