//! What mica offers to other agents.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Implementation, Prompt, ReadResourceRequestParams,
    ReadResourceResponse, Resource, ResourceTemplate, ServerCapabilities, ServerConfig, Tool,
};
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use super::answer::{Offered, refused};
use super::plumbing::desk::caught;
use super::plumbing::{Asked, Offer};
use super::site::Site;
use super::{completion, prompts, resources, tools};

/// Calls that are worked on at the same time. A call whose client gave up counts until its thread has ended.
const WORKERS: usize = 8;
/// Artifacts and expressions of garbage nest deeply, and are read by recursion. The main thread has as much.
const STACK: usize = 8 << 20;

/// What a model is told when it meets the server.
const INSTRUCTIONS: &str = "\
Knowledge and tools for WSO2 Micro Integrator and its language Synapse. Use `check` on every Synapse artifact that you write or
change, and `fix` for what it can repair; `evaluate_expression` instead of guessing what ${...} gives; `search_references` before
writing an element, a function or a property from memory, and `load_references` for a whole topic. `project_facts` and
`project_graph` say what is in the project. Paths are relative to the folder that the server was started for.";

/// What mica offers.
pub struct MicaOffer {
    site: Site,
    offered: Arc<[Offered]>,
    tools: Vec<Tool>,
    /// Made when somebody asks: all references are read for it.
    resources: OnceLock<Vec<Resource>>,
    templates: Vec<ResourceTemplate>,
    prompts: Vec<Prompt>,
    workers: Arc<Semaphore>,
}

impl MicaOffer {
    /// For what may be looked at.
    pub fn new(site: Site) -> Self {
        let offered: Arc<[Offered]> = tools::all(site.may_write()).into();
        Self {
            tools: offered.iter().map(|one| one.tool.clone()).collect(),
            offered,
            resources: OnceLock::new(),
            templates: resources::templates(),
            prompts: prompts::all(),
            workers: Arc::new(Semaphore::new(WORKERS)),
            site,
        }
    }

    /// Does work on a thread of its own, as one of a few.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Site) -> T + Send + 'static,
    ) -> Result<T, String> {
        let Ok(place) = Arc::clone(&self.workers).acquire_owned().await else {
            return Err("the server is ending".to_owned());
        };
        // Dropped with this future: a thread cannot be ended, but it can be told to leave files alone.
        let given_up = CancellationToken::new();
        let site = self.site.until(given_up.clone());
        let _waits = given_up.drop_guard();
        let handle = tokio::runtime::Handle::current();
        let (done, ending) = oneshot::channel();
        let thread = std::thread::Builder::new().name("mcp call".to_owned()).stack_size(STACK);
        let spawned = thread.spawn(move || {
            // Tools of the agent wait for others.
            let _runtime = handle.enter();
            let worked = caught(|| work(&site));
            drop(place);
            // Nobody waits any more for a call that was cancelled.
            let _ = done.send(worked);
        });
        spawned.map_err(|error| format!("no thread can be started: {error}"))?;
        match ending.await {
            Ok(Ok(worked)) => Ok(worked),
            Ok(Err(panic)) => Err(format!("it broke: {panic}. That is a bug of this server; others go on")),
            Err(_) => Err("its thread went away".to_owned()),
        }
    }
}

#[async_trait]
impl Offer for MicaOffer {
    fn about(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_tools()
            .build();
        let mut server = Implementation::new("mica", env!("CARGO_PKG_VERSION"));
        server.title = Some("mica: Synapse and Micro Integrator".to_owned());
        server.description = Some("Checks, repairs, evaluates and explains Synapse".to_owned());
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(INSTRUCTIONS)
    }

    fn tools(&self) -> &[Tool] {
        &self.tools
    }

    fn resources(&self) -> &[Resource] {
        self.resources.get_or_init(resources::all)
    }

    fn templates(&self) -> &[ResourceTemplate] {
        &self.templates
    }

    fn prompts(&self) -> &[Prompt] {
        &self.prompts
    }

    async fn call(&self, request: CallToolRequestParams, _: Asked) -> Result<CallToolResponse, ErrorData> {
        let offered = Arc::clone(&self.offered);
        let name = request.name.clone();
        let arguments = request.arguments.unwrap_or_default();
        let called = self.work(move |site| {
            offered.iter().find(|one| one.tool.name == request.name).map(|one| one.call(site, arguments))
        });
        let result: CallToolResult = match called.await {
            Ok(Some(result)) => result,
            Ok(None) => return Err(ErrorData::invalid_params(format!("Unknown tool: {name}"), None)),
            Err(why) => refused(&format!("{name}: {why}.")),
        };
        Ok(result.into())
    }

    async fn read(
        &self,
        request: ReadResourceRequestParams,
        _: Asked,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let reading = self.work(move |_| resources::read(&request.uri));
        reading.await.map_err(|why| ErrorData::internal_error(why, None))?.map(Into::into)
    }

    async fn prompt(
        &self,
        request: GetPromptRequestParams,
        _: Asked,
    ) -> Result<GetPromptResponse, ErrorData> {
        let making =
            self.work(move |site| prompts::get(site, &request.name, &request.arguments.unwrap_or_default()));
        making.await.map_err(|why| ErrorData::internal_error(why, None))?.map(Into::into)
    }

    async fn complete(&self, request: CompleteRequestParams) -> Vec<String> {
        self.work(move |site| completion::complete(site, &request)).await.unwrap_or_default()
    }
}
