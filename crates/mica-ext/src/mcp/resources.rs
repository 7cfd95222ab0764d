//! `list_mcp_resources` and `read_mcp_resource`: what servers have to read.

use std::fmt::Write as _;
use std::sync::Weak;
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::nearest::nearest;
use mica_agent::{Approval, Args, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use rmcp::model::{
    ClientRequest, ListResourceTemplatesRequest, ListResourcesRequest, PaginatedRequestParams,
    ReadResourceRequest, ReadResourceRequestParams, ServerResult,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::calls::{Asker, ask};
use super::output;
use super::server::Server;
use super::servers::Inner;
use super::words::{fenced, line};

/// The names models call them by.
pub(super) const LIST: &str = "list_mcp_resources";
pub(super) const READ: &str = "read_mcp_resource";

/// Resources that are listed at once.
const LISTED: usize = 200;
/// What ends a call is the server's deadline.
const DEADLINE: Duration = Duration::from_secs(1_200);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArgs {
    server: String,
    cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArgs {
    server: String,
    uri: String,
}

/// Lists what a server has to read.
pub(super) struct ListResources {
    servers: Weak<Inner>,
    spec: ToolSpec,
}

/// Reads it.
pub(super) struct ReadResource {
    servers: Weak<Inner>,
    spec: ToolSpec,
}

fn read_args<T: serde::de::DeserializeOwned>(args: Args) -> Result<T, ToolError> {
    mica_tools::arguments::read(args)
}

fn spec(name: &str, label: &str, description: &str, properties: &Value, required: &[&str]) -> ToolSpec {
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    let mut spec = ToolSpec::new(name, description, schema);
    spec.label = label.to_owned();
    spec.approval = Approval::Needed;
    spec.deadline = DEADLINE;
    spec
}

impl ListResources {
    pub(super) fn new(servers: Weak<Inner>) -> Self {
        let description =
            "Lists the resources that an MCP server has to read, and the patterns of those it makes.";
        let properties = json!({
            "server": { "type": "string", "description": "The name of the server." },
            "cursor": { "type": "string", "description": "Where a list before ended." },
        });
        Self { servers, spec: spec(LIST, "List resources", description, &properties, &["server"]) }
    }
}

impl ReadResource {
    pub(super) fn new(servers: Weak<Inner>) -> Self {
        let description = "Reads a resource of an MCP server.";
        let properties = json!({
            "server": { "type": "string", "description": "The name of the server." },
            "uri": { "type": "string", "description": "The address of the resource, as the server says it." },
        });
        Self { servers, spec: spec(READ, "Read resource", description, &properties, &["server", "uri"]) }
    }
}

fn server(servers: &Weak<Inner>, name: &str) -> Result<Server, ToolError> {
    let servers = servers.upgrade().ok_or_else(|| ToolError::new("The session is over."))?;
    if let Some(server) = servers.get(name) {
        return Ok(server.clone());
    }
    let names: Vec<&str> = servers.names().collect();
    let meant = match nearest(name, names.iter().copied()) {
        Some(meant) => format!("Did you mean {meant:?}?"),
        None => format!("There are: {}.", names.join(", ")),
    };
    Err(ToolError::new(format!("There is no MCP server {name:?}. {meant}")))
}

#[async_trait]
impl Tool for ListResources {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let ListArgs { server: name, cursor } = read_args(args)?;
        let server = server(&self.servers, &name)?;
        let page = |cursor: Option<String>| {
            let mut page = PaginatedRequestParams::default();
            page.cursor = cursor;
            page
        };
        let asker = Asker::call(cx);
        let asked = ask(&server, &asker, |_, _| {
            ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(page(cursor.clone())))
        });
        let ServerResult::ListResourcesResult(listed) = asked.await.map_err(|error| error.for_model())?
        else {
            return Err(server.strange("what it sent is no list of resources").for_model());
        };
        let mut text = String::new();
        for resource in listed.resources.iter().take(LISTED) {
            let about = resource.description.as_deref().or(resource.title.as_deref()).unwrap_or_default();
            let _ = writeln!(
                text,
                "- {} ({}) {}",
                line(&resource.uri, 500),
                line(&resource.name, 100),
                line(about, 160)
            );
        }
        if cursor.is_none() {
            let patterns = ask(&server, &asker, |_, _| {
                ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest::with_param(page(
                    None,
                )))
            });
            // Not every server has some.
            if let Ok(ServerResult::ListResourceTemplatesResult(patterns)) = patterns.await {
                for pattern in patterns.resource_templates.iter().take(LISTED) {
                    let about = pattern.description.as_deref().unwrap_or_default();
                    let _ = writeln!(
                        text,
                        "- pattern {} ({}) {}",
                        line(&pattern.uri_template, 500),
                        line(&pattern.name, 100),
                        line(about, 160)
                    );
                }
            }
        }
        if text.is_empty() {
            text.push_str("There are none.");
        }
        let mut told = fenced(&name, ("list", "resources"), &text);
        if let Some(next) = &listed.next_cursor {
            let _ = write!(
                told,
                "\nThere are more: call {LIST} again with the cursor {}.",
                json!(line(next, 500))
            );
        }
        Ok(ToolOutput::text(told))
    }
}

#[async_trait]
impl Tool for ReadResource {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let ReadArgs { server: name, uri } = read_args(args)?;
        let server = server(&self.servers, &name)?;
        let asker = Asker::call(cx);
        let asked = ask(&server, &asker, |answers, state| {
            let mut params = ReadResourceRequestParams::new(uri.clone());
            params.input_responses = answers;
            params.request_state = state;
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
        });
        match asked.await.map_err(|error| error.for_model())? {
            ServerResult::ReadResourceResult(result) => Ok(output::resource(&name, &uri, &result)),
            _ => Err(server.strange("what it sent is no resource").for_model()),
        }
    }
}
