//! Maps a request to the body of a Chat call.
//!
//! Nearly every server speaks this wire and each takes a little less of it, so what is sent is the least that says
//! it: plain strings where there is only text, defaults left out, and what only OpenAI knows sent only to models
//! whose facts say that they are OpenAI's. The messages come last in the body, so that a request begins with the
//! bytes of the one before it.

use serde_json::{Value, json};

use crate::dialect::json::{Json, Members, object};
use crate::error::{AiError, Reply};
use crate::message::Origin;
use crate::model::{CacheKind, Model, Parameter, ReasoningStyle};
use crate::replay;
use crate::request::{OutputFormat, ParallelCalls, Request, Strictness, ToolChoice, ToolDef};

mod messages;

/// The body of a request.
///
/// # Errors
/// [`AiError::BadRequest`] when the request cannot be put on this wire.
pub fn body(request: &Request, origin: &Origin) -> Result<Value, AiError> {
    with_body(request, origin, |body| body.to_value())
}

/// The bytes of the body of a request.
///
/// # Errors
/// As [`body`].
pub fn bytes(request: &Request, origin: &Origin) -> Result<Vec<u8>, AiError> {
    with_body(request, origin, |body| body.written())
}

/// Does something with the body of a request, which borrows from the conversation.
fn with_body<T>(request: &Request, origin: &Origin, then: impl FnOnce(Json<'_>) -> T) -> Result<T, AiError> {
    let model = &*request.model;
    check(request, model)?;
    let mut body = Members::default();
    let deployment = if model.deployment.is_empty() { &model.id } else { &model.deployment };
    body.insert("model", deployment);
    body.insert("stream", true);
    body.insert("stream_options", json!({ "include_usage": true }));
    limits(request, model, &mut body);
    if let OutputFormat::JsonSchema { name, schema } = &request.output {
        let schema = object!({ "name": name, "schema": schema, "strict": true });
        body.insert("response_format", object!({ "type": "json_schema", "json_schema": schema }));
    }
    identity(request, model, &mut body);
    if !request.tools.is_empty() {
        tools(request, model, &mut body);
    }
    let conversation = replay::normalise(&request.messages, origin, model);
    body.insert("messages", messages::messages(&request.system, &conversation, origin, model));
    Ok(then(Json::Object(body)))
}

/// Refuses what the model's facts rule out, before it costs a round trip.
fn check(request: &Request, model: &Model) -> Result<(), AiError> {
    let refuse = |words: String| Err(AiError::BadRequest { reply: Reply::local(words) });
    if !request.tools.is_empty() && !model.tools {
        return refuse(format!("{} cannot call tools", model.name));
    }
    if matches!(request.output, OutputFormat::JsonSchema { .. }) && !model.structured_output {
        return refuse(format!("{} cannot be held to a JSON schema", model.name));
    }
    match &request.tool_choice {
        ToolChoice::Required if request.tools.is_empty() => {
            refuse("a tool call is required and there are no tools".to_owned())
        }
        ToolChoice::Tool(name) if !request.tools.iter().any(|tool| tool.name == *name) => {
            refuse(format!("the tool to call, {name:?}, is not among the tools"))
        }
        _ => Ok(()),
    }
}

/// How much, how hard and how freely.
fn limits<'a>(request: &'a Request, model: &Model, body: &mut Members<'a>) {
    let takes_effort = model.reasoning.style == ReasoningStyle::Effort;
    // Left out unless asked for: a server's own default is what still fits into the window, while the model's
    // limit on top of a long prompt is refused by vLLM and charged to the quota by Azure.
    if request.max_output.is_some() {
        // OpenAI's reasoning models refuse `max_tokens`; most other servers know nothing else. Those models are
        // the ones that take an effort.
        let key = if takes_effort { "max_completion_tokens" } else { "max_tokens" };
        body.insert(key, json!(request.output_limit()));
    }
    if let Some(effort) = request.effort.filter(|_| takes_effort)
        && let Some(level) = model.reasoning.nearest(effort)
    {
        body.insert("reasoning_effort", json!(level.name()));
    }
    if let Some(temperature) = request.temperature.filter(|_| model.accepts(Parameter::Temperature)) {
        body.insert("temperature", json!(temperature));
    }
    if let Some(top_p) = request.top_p.filter(|_| model.accepts(Parameter::TopP)) {
        body.insert("top_p", json!(top_p));
    }
    if !request.stop.is_empty() && model.accepts(Parameter::Stop) {
        body.insert("stop", json!(request.stop));
    }
}

/// For whom, and to which cache.
fn identity<'a>(request: &'a Request, model: &Model, body: &mut Members<'a>) {
    if let Some(key) = &request.cache.key
        && matches!(model.cache.kind, CacheKind::Prefix | CacheKind::Breakpoints)
    {
        body.insert("prompt_cache_key", key);
    }
    if let Some(user) = &request.end_user {
        let key = if is_openai(model) { "safety_identifier" } else { "user" };
        body.insert(key, user);
    }
}

fn tools<'a>(request: &'a Request, model: &Model, body: &mut Members<'a>) {
    body.insert("tools", request.tools.iter().map(tool).collect::<Json<'_>>());
    let named = |name: &String| json!({ "type": "function", "function": { "name": name } });
    let choice = match &request.tool_choice {
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => named(name),
        ToolChoice::Allowed(names) if is_openai(model) => {
            let tools: Vec<Value> = names.iter().map(named).collect();
            json!({ "type": "allowed_tools", "allowed_tools": { "mode": "auto", "tools": tools } })
        }
        ToolChoice::Auto | ToolChoice::Allowed(_) => Value::Null,
    };
    if !choice.is_null() {
        body.insert("tool_choice", choice);
    }
    if request.parallel != ParallelCalls::Default && model.accepts(Parameter::ParallelToolCalls) {
        body.insert("parallel_tool_calls", json!(request.parallel == ParallelCalls::Many));
    }
}

fn tool(tool: &ToolDef) -> Json<'_> {
    let mut function = Members::default();
    function.insert("name", &tool.name);
    function.insert("description", &tool.description);
    function.insert("parameters", &tool.schema);
    if tool.strictness == Strictness::Enforce {
        function.insert("strict", true);
    }
    object!({ "type": "function", "function": Json::Object(function) })
}

/// Whether a model is certainly OpenAI's: nobody else has cache breakpoints of this kind. Older models of OpenAI
/// share their facts with others, so they get what everybody takes.
fn is_openai(model: &Model) -> bool {
    model.cache.kind == CacheKind::Breakpoints
}

#[cfg(test)]
mod tests;
