//! A tool of a server, as a tool of the agent.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::{Access, Approval, Args, Effect, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use rmcp::model::{CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ServerResult};

use super::calls::{Asker, ask};
use super::config::{ServerConfig, Source};
use super::error::McpError;
use super::known::KnownTool;
use super::output;
use super::server::Server;
use super::servers::SentTool;
use super::words::line;

/// Above the longest call and its grace: what ends a call is the server's own deadline, which says more.
const SLACK: Duration = Duration::from_secs(120);

/// A tool of a server. What it is stays the same for as long as it lives; when the server describes it otherwise, there is
/// another one.
pub(super) struct McpTool {
    server: Server,
    own_name: String,
    spec: ToolSpec,
    /// What it was when the session began, when it is sent with every request whatever becomes of it.
    sent: Option<SentTool>,
}

impl McpTool {
    pub(super) fn new(server: &Server, known: &KnownTool, name: &str) -> Self {
        let (server, spec) = (server.clone(), spec(server, known, name));
        Self { server, own_name: known.name.clone(), spec, sent: None }
    }
}

fn spec(server: &Server, known: &KnownTool, name: &str) -> ToolSpec {
    let config = server.config();
    let mut spec = described(&config.name, known, name);
    // What a server says of itself opens no door; but one that the user chose, and that says it only looks, may be asked in
    // every mode. A person is asked all the same.
    if only_looks(config, known) {
        (spec.access, spec.effect) = (Access::Read, Effect::Pure);
    } else {
        (spec.access, spec.effect) = (Access::Write, Effect::Unsafe);
    }
    spec.approval = Approval::Needed;
    spec.deadline = server.given().patience.longest_call + config.startup + SLACK;
    spec
}

/// What a model reads of it.
fn described(server: &str, known: &KnownTool, name: &str) -> ToolSpec {
    let description = format!("[{server}] {}", known.description);
    let mut spec = ToolSpec::new(name, description, known.schema.clone());
    spec.label = format!("{server}: {}", known.title.as_deref().unwrap_or(&known.name));
    spec
}

/// Whether a tool counts as one that only looks.
pub(super) fn only_looks(config: &ServerConfig, known: &KnownTool) -> bool {
    known.read_only && config.source == Source::User
}

#[async_trait]
impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        if let Some(sent) = &self.sent
            && self.server.known().is_some_and(|known| known.tool(&self.own_name).is_none())
        {
            return Err(ToolError::new(is_gone(sent)));
        }
        let result = call(&self.server, &self.own_name, args, &Asker::call(cx)).await;
        let result = result.map_err(|error| error.for_model())?;
        output::result(&self.server.config().name, &self.own_name, &result)
    }
}

/// Calls a tool of a server by its own name.
pub(super) async fn call(
    server: &Server,
    tool: &str,
    args: Args,
    asker: &Asker<'_>,
) -> Result<CallToolResult, McpError> {
    let request = |answers, state| {
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = Some(args.clone());
        params.input_responses = answers;
        params.request_state = state;
        ClientRequest::CallToolRequest(CallToolRequest::new(params))
    };
    match ask(server, asker, request).await? {
        ServerResult::CallToolResult(result) => Ok(result),
        ServerResult::CreateTaskResult(_) => {
            Err(server.strange("it began a task, which it was not asked to"))
        }
        _ => Err(server.strange("what it sent is no result of a call")),
    }
}

impl Server {
    /// Calls a tool by its own name, for a person and not for a model.
    ///
    /// # Errors
    /// [`McpError`].
    pub async fn call(&self, tool: &str, args: Args) -> Result<CallToolResult, McpError> {
        call(self, tool, args, &Asker::person()).await
    }
}

/// A tool of a server that is not there any more. It stays listed, because the list of a session stays the same.
struct GoneTool {
    spec: ToolSpec,
    told: String,
}

#[async_trait]
impl Tool for GoneTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        Err(ToolError::new(self.told.clone()))
    }
}

/// What is answered for a tool that is sent and not there.
pub(super) fn is_gone(sent: &SentTool) -> String {
    let (tool, server) = (line(&sent.tool.name, 80), line(&sent.server, 60));
    format!("The MCP server {server:?} has no tool {tool:?} any more. Nothing was done.")
}

/// As it was when the session began.
pub(super) fn sent(server: &Server, sent: &SentTool) -> Arc<dyn Tool> {
    Arc::new(McpTool { sent: Some(sent.clone()), ..McpTool::new(server, &sent.tool, &sent.name) })
}

/// The same, of a server that is not there.
pub(super) fn gone(sent: &SentTool) -> Arc<dyn Tool> {
    Arc::new(GoneTool { spec: described(&sent.server, &sent.tool, &sent.name), told: is_gone(sent) })
}

/// As the agent holds it.
pub(super) fn boxed(server: &Server, known: &KnownTool, name: &str) -> Arc<dyn Tool> {
    Arc::new(McpTool::new(server, known, name))
}
