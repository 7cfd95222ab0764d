//! What the protocol's test suite expects of a server, offered through mica's own plumbing. No part of the product.

use std::time::Duration;

use async_trait::async_trait;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, CompleteRequestParams,
    ContentBlock, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
    InputRequiredResult, Prompt, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ResourceTemplate, ServerCapabilities, ServerConfig, ServerNotification, ServerRequest,
    SubscriptionFilter, Tool,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::plumbing::{Asked, Offer};

const FIXTURES: &str = include_str!("fixtures.json");

/// The fixtures.
pub struct Fixtures {
    all: Value,
    tools: Vec<Tool>,
    resources: Vec<Resource>,
    templates: Vec<ResourceTemplate>,
    prompts: Vec<Prompt>,
}

fn of<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"))
}

impl Fixtures {
    /// As the file says.
    pub fn new() -> Self {
        let all: Value = serde_json::from_str(FIXTURES).unwrap();
        Self {
            tools: of(&all["tools"]),
            resources: of(&all["resources"]),
            templates: of(&all["templates"]),
            prompts: of(&all["prompts"]),
            all,
        }
    }

    /// Asks for inputs.
    fn ask(&self, names: &[&str], state: Option<&str>) -> InputRequiredResult {
        let inputs: serde_json::Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), self.all["inputs"][name].clone())).collect();
        let mut result = json!({ "resultType": "input_required", "inputRequests": inputs });
        if let Some(state) = state {
            result["requestState"] = json!(signed(state));
        }
        of(&result)
    }

    /// What a tool gives once it has its inputs.
    fn input_required(
        &self,
        request: &CallToolRequestParams,
        asked: &Asked,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = serde_json::to_value(&request.input_responses).unwrap();
        let has =
            |name: &str| given[name].is_object() && well_formed(&self.all["inputs"][name], &given[name]);
        let state = request.request_state.as_deref();
        let state = state.map(|state| opened(state).ok_or_else(tampered)).transpose()?;
        let name = request.name.strip_prefix("test_input_required_result_").unwrap_or("streaming");
        let capabilities = asked.client_capabilities().unwrap_or_default();
        let (wanted, next): (Vec<&str>, Option<&str>) = match (name, state.as_deref()) {
            ("sampling", _) => (vec!["capital_question"], None),
            ("list_roots", _) => (vec!["client_roots"], None),
            ("request_state" | "tampered_state", _) => (vec!["confirm"], Some("one")),
            ("multiple_inputs", _) => (vec!["user_name", "greeting", "client_roots"], Some("one")),
            ("multi_round", Some("one")) if has("step1") => {
                return Ok(self.ask(&["step2"], Some("two")).into());
            }
            ("multi_round", None | Some("one")) => (vec!["step1"], Some("one")),
            ("multi_round", Some(_)) => (vec!["step2"], Some("two")),
            ("capabilities", _) => {
                let mut wanted = Vec::new();
                wanted.extend(capabilities.sampling.is_some().then_some("capital_question"));
                wanted.extend(capabilities.elicitation.is_some().then_some("user_name"));
                (wanted, None)
            }
            _ => (vec!["user_name"], None),
        };
        if wanted.is_empty() || !wanted.iter().all(|name| has(name)) {
            return Ok(self.ask(&wanted, next).into());
        }
        let text = format!("Hello, {given}! state-ok");
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

/// Whether an answer is one to what was asked.
fn well_formed(asked: &Value, given: &Value) -> bool {
    match asked["method"].as_str() {
        Some("elicitation/create") => given["action"].is_string(),
        Some("sampling/createMessage") => given["content"].is_object() || given["content"].is_array(),
        _ => given["roots"].is_array(),
    }
}

fn tampered() -> ErrorData {
    ErrorData::invalid_params("the state was not made here", None)
}

fn signed(state: &str) -> String {
    let seal = Sha256::digest(format!("of this test only: {state}"));
    let hex: String = seal.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{state}.{hex}")
}

fn opened(state: &str) -> Option<String> {
    let (name, _) = state.split_once('.')?;
    (signed(name) == state).then(|| name.to_owned())
}

fn text(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

async fn ask_client(asked: &Asked, request: Value) -> Result<Value, ErrorData> {
    let request: ServerRequest = of(&request);
    let answered = asked.peer.send_request(request).await;
    let answered = answered.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(serde_json::to_value(answered).unwrap())
}

async fn notify(asked: &Asked, notification: Value) {
    let notification: ServerNotification = of(&notification);
    let _ = asked.peer.send_notification(notification).await;
}

async fn log(asked: &Asked, words: &str) {
    let params = json!({ "level": "info", "data": words });
    notify(asked, json!({ "method": "notifications/message", "params": params })).await;
}

#[async_trait]
impl Offer for Fixtures {
    fn about(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .build();
        capabilities.logging = Some(serde_json::Map::new());
        ServerConfig::new(capabilities).with_server_info(Implementation::new("fixtures", "1"))
    }

    fn tools(&self) -> &[Tool] {
        &self.tools
    }

    fn resources(&self) -> &[Resource] {
        &self.resources
    }

    fn templates(&self) -> &[ResourceTemplate] {
        &self.templates
    }

    fn prompts(&self) -> &[Prompt] {
        &self.prompts
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        asked: Asked,
    ) -> Result<CallToolResponse, ErrorData> {
        let pause = || tokio::time::sleep(Duration::from_millis(20));
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        if let Some(fixed) = self.all["results"].get(&*request.name) {
            let mut result: CallToolResult = of(fixed);
            result.result_type = CallToolResult::success(Vec::new()).result_type;
            return Ok(result.into());
        }
        match &*request.name {
            "test_panic" => panic!("on purpose"),
            "test_slow" => {
                std::future::pending::<()>().await;
                Ok(text("never"))
            }
            "test_tool_with_logging" => {
                for words in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                    log(&asked, words).await;
                    pause().await;
                }
                Ok(text("logged"))
            }
            "test_logging_tool" => {
                if asked.meta.get("io.modelcontextprotocol/logLevel").is_some() {
                    log(&asked, "asked for").await;
                }
                Ok(text("done"))
            }
            "test_tool_with_progress" => {
                let token = serde_json::to_value(asked.meta.get_progress_token()).unwrap();
                for progress in [0, 50, 100] {
                    if !token.is_null() {
                        let params = json!({ "progressToken": token, "progress": progress, "total": 100 });
                        notify(&asked, json!({ "method": "notifications/progress", "params": params })).await;
                    }
                    pause().await;
                }
                Ok(text("done"))
            }
            "test_sampling" => {
                let message =
                    json!({ "role": "user", "content": { "type": "text", "text": arguments["prompt"] } });
                let params = json!({ "messages": [message], "maxTokens": 100 });
                let answer =
                    ask_client(&asked, json!({ "method": "sampling/createMessage", "params": params }))
                        .await?;
                Ok(text(format!("LLM response: {}", answer["content"]["text"].as_str().unwrap_or_default())))
            }
            "test_elicitation" | "test_elicitation_sep1034_defaults" | "test_elicitation_sep1330_enums" => {
                let message = arguments["message"].as_str().unwrap_or("Please fill this in");
                let schema = &self.all["asking"][&*request.name];
                let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
                let answer =
                    ask_client(&asked, json!({ "method": "elicitation/create", "params": params })).await?;
                let action = answer["action"].as_str().unwrap_or_default();
                let content = &answer["content"];
                Ok(text(if request.name == "test_elicitation" {
                    format!("User response: action: {action}, content: {content}")
                } else {
                    format!("Elicitation completed: action={action}, content={content}")
                }))
            }
            "test_missing_capability" => {
                if asked.client_capabilities().is_some_and(|one| one.sampling.is_some()) {
                    return Ok(text("there"));
                }
                let needed: ClientCapabilities = of(&json!({ "sampling": {} }));
                Err(ErrorData::missing_required_client_capability(needed))
            }
            _ => self.input_required(&request, &asked),
        }
    }

    async fn read(
        &self,
        request: ReadResourceRequestParams,
        _: Asked,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let content = match (self.all["contents"].get(uri), id) {
            (Some(content), _) => content.clone(),
            (None, Some(id)) => {
                let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                json!({ "uri": uri, "mimeType": "application/json", "text": data.to_string() })
            }
            (None, None) => {
                let data = Some(json!({ "uri": uri }));
                return Err(ErrorData::resource_not_found("Resource not found", data));
            }
        };
        Ok(ReadResourceResult::new(vec![of(&content)]).into())
    }

    async fn prompt(
        &self,
        request: GetPromptRequestParams,
        _: Asked,
    ) -> Result<GetPromptResponse, ErrorData> {
        let given = serde_json::to_value(&request.input_responses).unwrap();
        if request.name == "test_input_required_result_prompt" && !given["user_context"].is_object() {
            return Ok(self.ask(&["user_context"], None).into());
        }
        let mut messages = self.all["messages"][&request.name].to_string();
        for (name, value) in request.arguments.unwrap_or_default() {
            messages = messages.replace(&format!("{{{name}}}"), value.as_str().unwrap_or_default());
        }
        Ok(GetPromptResult::new(serde_json::from_str(&messages).unwrap()).into())
    }

    async fn complete(&self, request: CompleteRequestParams) -> Vec<String> {
        let all = ["paris", "park", "party", "rome"].into_iter();
        all.filter(|one| one.starts_with(&request.argument.value)).map(str::to_owned).collect()
    }

    fn tells(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn set_level(&self) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn watch(&self, _: &str, _: bool) -> Result<(), ErrorData> {
        Ok(())
    }
}
