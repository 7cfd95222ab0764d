//! What a server offers: tools, resources and prompts.

use async_trait::async_trait;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, ErrorCode, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Prompt, ReadResourceRequestParams, ReadResourceResponse,
    Resource, ResourceTemplate, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::RequestContext;

/// Who asks, and until when: the request's own token is cancelled when the client gives up.
pub type Asked = RequestContext<RoleServer>;

/// What a server offers. Lists are in a fixed order, the same for as long as the server runs: clients keep them, and
/// put them into prompts that are cached.
#[async_trait]
pub trait Offer: Send + Sync + 'static {
    /// Who it is, and what it can do.
    fn about(&self) -> ServerConfig;

    /// All tools.
    fn tools(&self) -> &[Tool];

    /// All resources.
    fn resources(&self) -> &[Resource];

    /// The forms of addresses that can be read besides.
    fn templates(&self) -> &[ResourceTemplate];

    /// All prompts.
    fn prompts(&self) -> &[Prompt];

    /// Calls a tool that is listed.
    ///
    /// # Errors
    /// Of the protocol only: what went wrong in the tool is a result.
    async fn call(&self, request: CallToolRequestParams, asked: Asked)
    -> Result<CallToolResponse, ErrorData>;

    /// Reads a resource, listed or not.
    ///
    /// # Errors
    /// When there is none at that address.
    async fn read(
        &self,
        request: ReadResourceRequestParams,
        asked: Asked,
    ) -> Result<ReadResourceResponse, ErrorData>;

    /// Makes a prompt that is listed.
    ///
    /// # Errors
    /// When its arguments do not fit.
    async fn prompt(
        &self,
        request: GetPromptRequestParams,
        asked: Asked,
    ) -> Result<GetPromptResponse, ErrorData>;

    /// What an argument could be, the best first. As many as there are: they are cut elsewhere.
    async fn complete(&self, request: CompleteRequestParams) -> Vec<String>;

    /// What of changes it tells, to a client that listens. `None`: there is nothing to listen to.
    fn tells(&self, _requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        None
    }

    /// Says how much is logged to a client of the older era. A server that logs nothing has no such method.
    ///
    /// # Errors
    /// When there is no such method.
    async fn set_level(&self) -> Result<(), ErrorData> {
        Err(no_method("logging/setLevel"))
    }

    /// Begins or ends to watch a resource for a client of the older era.
    ///
    /// # Errors
    /// When there is no such method.
    async fn watch(&self, _uri: &str, _on: bool) -> Result<(), ErrorData> {
        Err(no_method("resources/subscribe"))
    }
}

/// What is answered to a method that there is not: in words, because clients show them to people.
pub fn no_method(name: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("Method not found: {name}"), None)
}
