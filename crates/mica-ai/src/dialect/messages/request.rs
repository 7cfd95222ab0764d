//! Maps a request to the body of a Messages call.
//!
//! The order of the members is the order in which the provider's cache depends on them: a change of the tools loses
//! everything, a change of the system prompt what comes after it, a change of the settings only the messages. The
//! messages come last, so that the body of a turn begins with the body of the turn before it.

use serde_json::{Map, Value, json};

use self::conversation::Conversation;
use self::marks::Marks;
use self::thinking::Thinking;
use crate::dialect::json::{Json, Members, object};
use crate::error::{AiError, Reply};
use crate::message::Origin;
use crate::model::Parameter;
use crate::replay;
use crate::request::{OutputFormat, ParallelCalls, Request, Strictness, ToolChoice, ToolDef};

mod conversation;
mod marks;
mod thinking;

#[cfg(test)]
pub(crate) mod tests;

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
    let messages = replay::normalise(&request.messages, origin, &request.model);
    let mut conversation = Conversation::new(&messages);
    if conversation.is_empty() {
        return Err(bad("there is nothing to send: add a user message that says something"));
    }
    let mut tools: Vec<Json<'_>> = request.tools.iter().map(tool).collect();
    let mut system = System::new(&request.system);
    Marks::plan(request, &tools, &system, &conversation)?.apply(
        &mut tools,
        &mut system.blocks,
        &mut conversation,
    );
    let choice = tool_choice(request)?;
    let thinking = Thinking::plan(request, conversation.is_inside_thoughtless_turn());

    let mut body = Members::default();
    body.insert("model", &request.model.deployment);
    body.insert("stream", true);
    if !tools.is_empty() {
        body.insert("tools", tools);
    }
    if !system.blocks.is_empty() {
        body.insert("system", system.blocks);
    }
    if let Some(choice) = choice {
        body.insert("tool_choice", choice);
    }
    if let Some(setting) = thinking.setting() {
        body.insert("thinking", setting);
    }
    if let Some(output) = output_config(request, &thinking) {
        body.insert("output_config", output);
    }
    body.insert("max_tokens", json!(thinking.max_tokens));
    for (key, value) in sampling(request, &thinking) {
        body.insert(key, value);
    }
    if let Some(user) = &request.end_user {
        body.insert("metadata", object!({ "user_id": user }));
    }
    body.insert("messages", conversation.into_json());
    Ok(then(Json::Object(body)))
}

/// The system prompt: one block for each part that says something. The provider refuses empty ones.
struct System<'a> {
    blocks: Vec<Json<'a>>,
    /// For each part of the request, the last block at or before it.
    ends: Vec<Option<usize>>,
}

impl<'a> System<'a> {
    fn new(parts: &'a [String]) -> Self {
        let mut blocks = Vec::new();
        let mut ends = Vec::with_capacity(parts.len());
        for part in parts {
            if !part.trim().is_empty() {
                blocks.push(object!({ "type": "text", "text": part }));
            }
            ends.push(blocks.len().checked_sub(1));
        }
        Self { blocks, ends }
    }
}

fn tool(tool: &ToolDef) -> Json<'_> {
    let mut wire = object!({
        "name": &tool.name,
        "description": &tool.description,
        "input_schema": &tool.schema,
    });
    if tool.strictness == Strictness::Enforce {
        wire.put("strict", true);
    }
    wire
}

/// Whether and which tools may be called. Left out when it says nothing, and when there are no tools: the provider
/// refuses a choice between none.
fn tool_choice(request: &Request) -> Result<Option<Value>, AiError> {
    let demands = matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Tool(_));
    if request.tools.is_empty() {
        return if demands {
            Err(bad("a tool call is required but the request has no tools: add them, or ask for `Auto`"))
        } else {
            Ok(None)
        };
    }
    let mut choice = match &request.tool_choice {
        // This wire cannot narrow the choice without changing the tool list; what is called is checked later.
        ToolChoice::Auto | ToolChoice::Allowed(_) => json!({ "type": "auto" }),
        ToolChoice::None => json!({ "type": "none" }),
        // A model that always thinks refuses to be forced. It is left to choose, as with any parameter it rejects.
        _ if !is_forced(request) => json!({ "type": "auto" }),
        ToolChoice::Required => json!({ "type": "any" }),
        ToolChoice::Tool(name) => json!({ "type": "tool", "name": name }),
    };
    let says_nothing = choice["type"] == "auto" && request.parallel == ParallelCalls::Default;
    if says_nothing {
        return Ok(None);
    }
    let calls = request.tool_choice != ToolChoice::None;
    match request.parallel {
        ParallelCalls::One if calls => choice["disable_parallel_tool_use"] = json!(true),
        ParallelCalls::Many if calls => choice["disable_parallel_tool_use"] = json!(false),
        _ => {}
    }
    Ok(Some(choice))
}

/// Whether the model is made to call a tool. It cannot think then.
fn is_forced(request: &Request) -> bool {
    matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Tool(_))
        && !request.tools.is_empty()
        && request.model.accepts(Parameter::ForcedToolChoice)
}

fn output_config(request: &Request, thinking: &Thinking) -> Option<Value> {
    let mut config = Map::new();
    if let Some(effort) = thinking.effort {
        config.insert("effort".to_owned(), json!(effort.name()));
    }
    if let OutputFormat::JsonSchema { schema, .. } = &request.output {
        // This wire has no place for the schema's name.
        config.insert("format".to_owned(), json!({ "type": "json_schema", "schema": schema }));
    }
    (!config.is_empty()).then_some(Value::Object(config))
}

/// The sampling parameters this model takes in this request.
fn sampling(request: &Request, thinking: &Thinking) -> Vec<(&'static str, Value)> {
    let model = &request.model;
    let mut parameters = Vec::new();
    let temperature = request
        .temperature
        .filter(|value| value.is_finite() && model.accepts(Parameter::Temperature) && !thinking.is_on());
    if let Some(temperature) = temperature {
        parameters.push(("temperature", json!(temperature)));
    }
    let top_p = request.top_p.filter(|value| {
        value.is_finite()
            && model.accepts(Parameter::TopP)
            // A thinking model takes only values that hardly narrow.
            && (!thinking.is_on() || (0.95..=1.0).contains(value))
            // Models since 4.1 refuse both at once; the temperature is the more telling wish.
            && temperature.is_none()
    });
    if let Some(top_p) = top_p {
        parameters.push(("top_p", json!(top_p)));
    }
    // The provider refuses sequences of nothing but space.
    let stop: Vec<&String> = request.stop.iter().filter(|text| !text.trim().is_empty()).collect();
    if !stop.is_empty() && model.accepts(Parameter::Stop) {
        parameters.push(("stop_sequences", json!(stop)));
    }
    parameters
}

fn bad(message: impl Into<String>) -> AiError {
    AiError::BadRequest { reply: Reply::local(message) }
}
