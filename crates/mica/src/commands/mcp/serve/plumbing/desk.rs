//! Answers requests from an [`Offer`]: pages, cache hints, unknown names, panics and deadlines are dealt with here, once.

#![allow(deprecated, reason = "clients of the older era are served, too")]

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
    CompleteResult, CompletionInfo, ContentBlock, CustomRequest, CustomResult, DiscoverResult, ErrorData,
    GetPromptRequestParams, GetPromptResponse, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter,
    Tool, UnsubscribeRequestParams,
};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::task::AbortOnDropHandle;

use super::offer::{Asked, Offer, no_method};
use super::pages::{PAGE, page};

/// How long lists stay true. They change with the program only.
const FRESH: Duration = Duration::from_secs(60 * 60);
/// How long anything but a tool may take.
const SOON: Duration = Duration::from_secs(30);

/// Answers requests from an offer. Clones share it.
pub struct Desk<O> {
    offer: Arc<O>,
    deadline: Duration,
}

impl<O> Clone for Desk<O> {
    fn clone(&self) -> Self {
        Self { offer: Arc::clone(&self.offer), deadline: self.deadline }
    }
}

impl<O: Offer> Desk<O> {
    /// For an offer, whose tools may take so long.
    pub fn new(offer: O, deadline: Duration) -> Self {
        Self { offer: Arc::new(offer), deadline }
    }
}

/// Why there is no answer.
enum Broken {
    /// Its time was up.
    Late(Duration),
    /// It panicked, with these words.
    Panic(String),
    /// Whoever asked gave up.
    Cancelled,
}

impl Broken {
    fn words(&self) -> String {
        match self {
            Self::Late(after) => format!(
                "it took longer than {} s. What it did until then is unknown; it writes nothing any more",
                after.as_secs()
            ),
            Self::Panic(words) => format!("it broke: {words}. That is a bug of this server; others go on"),
            Self::Cancelled => "it was cancelled".to_owned(),
        }
    }

    fn error(&self) -> ErrorData {
        ErrorData::internal_error(self.words(), None)
    }
}

/// Does some work in a task of its own: a panic stays in it, and it ends with its deadline or whoever waits for it. What the
/// task began on a thread goes on there; it is told that nobody waits when the task is dropped.
async fn bounded<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
    asked: &Asked,
    deadline: Duration,
) -> Result<T, Broken> {
    let task: JoinHandle<T> = tokio::spawn(work);
    let task = AbortOnDropHandle::new(task);
    tokio::select! {
        biased;
        done = task => done.map_err(|error| match error.try_into_panic() {
            Ok(panic) => Broken::Panic(panic_words(&*panic)),
            Err(_) => Broken::Cancelled,
        }),
        () = asked.ct.cancelled() => Err(Broken::Cancelled),
        () = tokio::time::sleep(deadline) => Err(Broken::Late(deadline)),
    }
}

/// What a panic said.
pub fn panic_words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

/// Does some work on this thread; a panic in it is returned in words.
///
/// # Errors
/// The words of the panic.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panic_words(&*panic))
}

fn fresh() -> u64 {
    u64::try_from(FRESH.as_millis()).unwrap_or(u64::MAX)
}

fn unknown(what: &str, name: &str, known: impl Iterator<Item = impl AsRef<str>>) -> ErrorData {
    let known: Vec<String> = known.map(|one| one.as_ref().to_owned()).collect();
    let message = format!("Unknown {what}: {name}. There are: {}", known.join(", "));
    ErrorData::invalid_params(message, Some(json!({ "name": name })))
}

macro_rules! listed {
    ($result:ident, $field:ident, $all:expr, $request:expr) => {{
        let ($field, next) = page($all, $request.as_ref(), PAGE)?;
        let mut result = $result::with_all_items($field);
        result.next_cursor = next;
        Ok(result.with_ttl_ms(fresh()).with_cache_scope(CacheScope::Public))
    }};
}

impl<O: Offer> ServerHandler for Desk<O> {
    fn get_info(&self) -> ServerConfig {
        self.offer.about()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.offer.tools().iter().find(|tool| tool.name == name).cloned()
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.offer.tells(requested)
    }

    async fn discover(&self, _: Asked) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let found = DiscoverResult::from_server_info(versions, self.get_info());
        Ok(found.with_ttl_ms(fresh()).with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Asked,
    ) -> Result<ListToolsResult, ErrorData> {
        listed!(ListToolsResult, tools, self.offer.tools(), request)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Asked,
    ) -> Result<ListResourcesResult, ErrorData> {
        listed!(ListResourcesResult, resources, self.offer.resources(), request)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Asked,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        listed!(ListResourceTemplatesResult, resource_templates, self.offer.templates(), request)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Asked,
    ) -> Result<ListPromptsResult, ErrorData> {
        listed!(ListPromptsResult, prompts, self.offer.prompts(), request)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        asked: Asked,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.get_tool(&request.name).is_none() {
            let known = self.offer.tools().iter().map(|tool| &tool.name);
            return Err(unknown("tool", &request.name, known));
        }
        let (offer, inner) = (Arc::clone(&self.offer), asked.clone());
        let name = request.name.clone();
        let work = async move { offer.call(request, inner).await };
        match bounded(work, &asked, self.deadline).await {
            Ok(answer) => answer,
            Err(broken) => {
                let text = format!("{name}: {}.", broken.words());
                Ok(CallToolResult::error(vec![ContentBlock::text(text)]).into())
            }
        }
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        asked: Asked,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (offer, inner) = (Arc::clone(&self.offer), asked.clone());
        let work = async move { offer.read(request, inner).await };
        bounded(work, &asked, SOON).await.map_err(|broken| broken.error())?
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        asked: Asked,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Some(prompt) = self.offer.prompts().iter().find(|one| one.name == request.name) else {
            let known = self.offer.prompts().iter().map(|one| &one.name);
            return Err(unknown("prompt", &request.name, known));
        };
        let given = request.arguments.as_ref();
        let missing: Vec<&str> = prompt
            .arguments
            .iter()
            .flatten()
            .filter(|one| {
                one.required == Some(true) && given.is_none_or(|given| !given.contains_key(&one.name))
            })
            .map(|one| one.name.as_str())
            .collect();
        if !missing.is_empty() {
            let message = format!("The prompt {} needs: {}", prompt.name, missing.join(", "));
            return Err(ErrorData::invalid_params(message, Some(json!({ "missing": missing }))));
        }
        let (offer, inner) = (Arc::clone(&self.offer), asked.clone());
        let work = async move { offer.prompt(request, inner).await };
        bounded(work, &asked, SOON).await.map_err(|broken| broken.error())?
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        asked: Asked,
    ) -> Result<CompleteResult, ErrorData> {
        let offer = Arc::clone(&self.offer);
        let work = async move { offer.complete(request).await };
        let mut values = bounded(work, &asked, SOON).await.map_err(|broken| broken.error())?;
        let total = values.len();
        values.truncate(CompletionInfo::MAX_VALUES);
        let more = total > values.len();
        let total = u32::try_from(total).ok();
        let info = CompletionInfo::with_pagination(values, total, more)
            .map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(info))
    }

    async fn on_custom_request(&self, request: CustomRequest, _: Asked) -> Result<CustomResult, ErrorData> {
        Err(no_method(&request.method))
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Asked) -> Result<(), ErrorData> {
        self.offer.set_level().await
    }

    async fn subscribe(&self, request: SubscribeRequestParams, _: Asked) -> Result<(), ErrorData> {
        self.offer.watch(&request.uri, true).await
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, _: Asked) -> Result<(), ErrorData> {
        self.offer.watch(&request.uri, false).await
    }
}
