//! What calls mean: directly, through another tool, and where they mean nothing.

use async_trait::async_trait;
use mica_ai::id::CallId;
use serde_json::json;

use super::*;
use crate::cx::ToolCx;
use crate::tool::{ToolOutput, ToolSpec};

/// A tool that may stand before others.
struct Door {
    spec: ToolSpec,
    behind: Arc<[Arc<dyn Tool>]>,
}

#[async_trait]
impl Tool for Door {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn behind(&self) -> Arc<[Arc<dyn Tool>]> {
        Arc::clone(&self.behind)
    }

    fn stands_for(&self, args: &Args) -> Option<Result<(String, Args), ToolError>> {
        if self.behind.is_empty() {
            return None;
        }
        assert!(!args.contains_key("panic"), "no idea");
        let name = args.get("name").and_then(Value::as_str).map(str::to_owned);
        let inner = args.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default();
        Some(name.map(|name| (name, inner)).ok_or_else(|| ToolError::new("Name a tool.")))
    }

    async fn call(&self, _: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("done"))
    }
}

fn door(name: &str, behind: Vec<Arc<dyn Tool>>) -> Arc<dyn Tool> {
    Arc::new(Door {
        spec: ToolSpec::new(name, "A tool.", json!({ "type": "object" })),
        behind: behind.into(),
    })
}

fn set() -> ToolSet {
    let mut tools = ToolSet::default();
    tools.add(door("look", Vec::new()));
    tools.add(door("through", vec![door("ship", Vec::new()), door("store", Vec::new())]));
    tools
}

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: CallId::from("c1"), name: name.to_owned(), arguments: Arguments::from_text(arguments) }
}

/// The tool and the arguments that a call means, or why it means none, and what it is shown as.
fn check(name: &str, arguments: &str, expect: Result<&str, &str>, shown: &str) {
    let (tools, call) = (set(), call(name, arguments));
    let meant = tools.meant(&call);
    let found = meant.as_ref().map(|meant| {
        assert_eq!(meant.tool.spec().name, meant.call.name, "{name} {arguments}");
        assert_eq!(meant.call.arguments.parse().ok().as_ref(), Some(&meant.args), "{name} {arguments}");
        format!("{} {}", meant.call.name, Value::Object(meant.args.clone()))
    });
    assert_eq!(found.as_deref().map_err(|no| no.reason.as_str()), expect, "{name} {arguments}");
    let as_meant = tools.as_meant(&call);
    assert_eq!((as_meant.name.as_str(), as_meant.id.as_str()), (shown, "c1"), "{name} {arguments}");
}

#[test]
fn calls_and_what_they_mean() {
    check("look", r#"{"a":1}"#, Ok(r#"look {"a":1}"#), "look");
    check("through", r#"{"name":"ship","arguments":{"a":1}}"#, Ok(r#"ship {"a":1}"#), "ship");
    check("through", r#"{"name":"look"}"#, Ok("look {}"), "look");
    // Models remember a name, and call it.
    check("ship", r#"{"a":1}"#, Ok(r#"ship {"a":1}"#), "ship");
    check(
        "through",
        r#"{"name":"through","arguments":{"name":"ship"}}"#,
        Err("through cannot call through: name the tool that does the work. Nothing was done."),
        "through",
    );
    check("through", "{}", Err("Name a tool."), "through");
    check(
        "through",
        r#"{"name":"shop"}"#,
        Err("There is no tool \"shop\". Did you mean \"ship\"? Nothing was done."),
        "shop",
    );
    check("stor", "{}", Err("There is no tool \"stor\". Did you mean \"store\"? Nothing was done."), "stor");
    check(
        "deploy",
        "{}",
        Err("There is no tool \"deploy\". The tools are: look, through, ship, store. Nothing was done."),
        "deploy",
    );
    check(
        "through",
        r#"{"panic":1}"#,
        Err("What this call stands for could not be found out, so it was not run."),
        "through",
    );
}

#[test]
fn what_is_behind_is_not_sent() {
    let tools = set();
    let sent: Vec<&str> = tools.definitions().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(sent, ["look", "through"]);
    assert_eq!(tools.callable(), ["look", "through", "ship", "store"]);
}
