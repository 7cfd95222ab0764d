//! `get_connector_definitions`: the tool of the agent, with the facts that come along and the archives of the project.

use mica_agent::Tool as _;
use mica_ai::Content;
use pack_mi::connectors::GetConnectorDefinitions;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::commands::mcp::serve::answer::{Answer, Offered, Refusal};
use crate::commands::mcp::serve::site::{Site, context};

/// What to look up. The agent's tool reads it; here it only has a form.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Connectors by prefix, artifact id or title: http, mi-connector-http, salesforce; inbound endpoints as kafka inbound.
    #[serde(default)]
    names: Vec<String>,
    /// summary: operations by name. details: parameters, with an example. catalogue: everything there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    /// For details: operations, without the prefix. Left out: all of them, when they are few.
    #[serde(default)]
    operations: Vec<String>,
    /// For details: kinds of connections.
    #[serde(default)]
    connections: Vec<String>,
    /// For details: only these parameters.
    #[serde(default)]
    parameters: Vec<String>,
    /// The module of the project, relative to the root, when there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
}

/// What is known.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// What the connectors can do, as text.
    definitions: String,
    /// The connectors that it is about.
    found: Vec<String>,
    notes: Vec<String>,
}

/// The tool.
pub fn tool() -> Offered {
    Offered::new(
        "get_connector_definitions",
        "Look up connectors",
        "Tells what connectors and inbound endpoints there are and what they can do: operations, parameters, kinds of connections, \
         Maven coordinates and an example that checks. The archives in the project count first. Ask before writing a connector's \
         operation; never guess a parameter.",
        run,
    )
}

fn run(site: &Site, input: &Input) -> Result<Answer<Output>, Refusal> {
    let arguments: JsonObject = match serde_json::to_value(input) {
        Ok(Value::Object(arguments)) => arguments,
        _ => return Err(Refusal::new("The arguments cannot be read.")),
    };
    let tool = GetConnectorDefinitions::new(site.workspace(), None);
    let output = tokio::runtime::Handle::current().block_on(tool.call(arguments, &context()))?;
    let texts = output.content.iter().filter_map(|one| match one {
        Content::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let definitions = texts.collect::<Vec<_>>().join("\n");
    let list = |name: &str| {
        let all = output.details.as_ref().and_then(|details| details.get(name)).and_then(Value::as_array);
        all.into_iter().flatten().filter_map(|one| one.as_str().map(str::to_owned)).collect()
    };
    let data = Output { found: list("found"), notes: list("notes"), definitions: definitions.clone() };
    Ok(Answer { text: definitions, data })
}
