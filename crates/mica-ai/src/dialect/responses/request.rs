//! Maps a request to the body of a Responses call.
//!
//! The order of keys is part of the contract: what stays the same from turn to turn comes first and `input` last,
//! so that the body of one turn is a prefix of the next one's.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::dialect::json::{Json, Members, object};
use crate::error::{AiError, Reply};
use crate::id::MessageId;
use crate::message::{
    Assistant, Block, Content, Image, ImageSource, Message, Origin, Phase, ResultStatus, Seal, Text,
    TextKind, Thinking, ToolResult, User,
};
use crate::model::{CacheKind, Effort, Parameter, ReasoningStyle};
use crate::replay;
use crate::request::{
    CachePoint, OutputFormat, ParallelCalls, Request, Strictness, Thoughts, ToolChoice, ToolDef,
};

/// The body of a request.
///
/// # Errors
/// [`AiError::BadRequest`] when more places are marked for the cache than the model takes, or a place does not exist.
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
    let model = &request.model;
    let breakpoints = Breakpoints::plan(request)?;
    let mut body = Members::default();
    body.insert("model", &model.deployment);
    body.insert("stream", json!(true));
    // Nothing is kept on the server: it would be billed and looked up there, and lost with the resource.
    body.insert("store", json!(false));
    if model.reasoning.style != ReasoningStyle::None {
        body.insert("include", json!(["reasoning.encrypted_content"]));
        let reasoning = reasoning(request);
        if reasoning.as_object().is_some_and(|members| !members.is_empty()) {
            body.insert("reasoning", reasoning);
        }
    }
    // Left out unless asked for: Azure takes the tokens that are asked for off the quota, used or not.
    if request.max_output.is_some() {
        body.insert("max_output_tokens", json!(request.output_limit()));
    }
    if let Some(temperature) = request.temperature.filter(|_| model.accepts(Parameter::Temperature)) {
        body.insert("temperature", json!(temperature));
    }
    if let Some(top_p) = request.top_p.filter(|_| model.accepts(Parameter::TopP)) {
        body.insert("top_p", json!(top_p));
    }
    if let OutputFormat::JsonSchema { name, schema } = &request.output {
        let format = object!({ "type": "json_schema", "name": name, "schema": schema, "strict": true });
        body.insert("text", object!({ "format": format }));
    }
    if let Some(user) = &request.end_user {
        body.insert("safety_identifier", user);
    }
    if let Some(key) = &request.cache.key {
        body.insert("prompt_cache_key", key);
    }
    if breakpoints.any() {
        // Explicit alone: the implicit breakpoint would pay for a write of the volatile tail on every turn.
        body.insert("prompt_cache_options", json!({ "mode": "explicit" }));
    }
    if !request.tools.is_empty() {
        body.insert("tools", request.tools.iter().map(tool).collect::<Json<'_>>());
        tool_choice(request, &mut body);
    }
    let conversation = replay::normalise(&request.messages, origin, model);
    let mut input = Input { items: Vec::new(), breakpoints };
    input.system(request, &mut body);
    for message in &conversation {
        input.message(message);
    }
    body.insert("input", input.items);
    Ok(then(Json::Object(body)))
}

fn reasoning(request: &Request) -> Value {
    let mut reasoning = Map::new();
    let level = request.effort.and_then(|wish| request.model.reasoning.nearest(wish));
    if let Some(level) = level {
        reasoning.insert("effort".into(), json!(level.name()));
    }
    if level != Some(Effort::None) && request.thoughts == Thoughts::Shown {
        reasoning.insert("summary".into(), json!("auto"));
    }
    Value::Object(reasoning)
}

fn tool(tool: &ToolDef) -> Json<'_> {
    object!({
        "type": "function",
        "name": &tool.name,
        "description": &tool.description,
        "parameters": &tool.schema,
        // Never left out: the wire's default is strict, which rejects ordinary schemas.
        "strict": tool.strictness == Strictness::Enforce,
    })
}

fn tool_choice(request: &Request, body: &mut Members<'_>) {
    let choice = match &request.tool_choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::Tool(name) => Some(json!({ "type": "function", "name": name })),
        ToolChoice::Allowed(names) => {
            let tools: Vec<Value> =
                names.iter().map(|name| json!({ "type": "function", "name": name })).collect();
            Some(json!({ "type": "allowed_tools", "mode": "auto", "tools": tools }))
        }
    };
    if let Some(choice) = choice {
        body.insert("tool_choice", choice);
    }
    let parallel = match request.parallel {
        ParallelCalls::Default => None,
        ParallelCalls::One => Some(false),
        ParallelCalls::Many => Some(true),
    };
    if let Some(parallel) = parallel.filter(|_| request.model.accepts(Parameter::ParallelToolCalls)) {
        body.insert("parallel_tool_calls", json!(parallel));
    }
}

/// The places that carry a cache breakpoint, on models that take them.
struct Breakpoints {
    enabled: bool,
    system: Vec<usize>,
    messages: Vec<MessageId>,
}

impl Breakpoints {
    fn plan(request: &Request) -> Result<Self, AiError> {
        let facts = &request.model.cache;
        let mut plan = Breakpoints {
            enabled: facts.kind == CacheKind::Breakpoints,
            system: Vec::new(),
            messages: Vec::new(),
        };
        if !plan.enabled {
            return Ok(plan);
        }
        for mark in &request.cache.marks {
            match &mark.at {
                // Tools cannot carry one; the first breakpoint after them covers them.
                CachePoint::Tools => {}
                CachePoint::System(part) if *part < request.system.len() => plan.system.push(*part),
                CachePoint::System(part) => {
                    return Err(bad(format!(
                        "a cache mark names part {part} of the system prompt, which has {}",
                        request.system.len()
                    )));
                }
                CachePoint::Message(id) => plan.messages.push(id.clone()),
            }
        }
        let count = plan.system.len() + plan.messages.len();
        if count > usize::from(facts.max_marks) {
            return Err(bad(format!(
                "{count} cache marks, but {} takes at most {}: plan fewer",
                request.model.id, facts.max_marks
            )));
        }
        Ok(plan)
    }

    fn any(&self) -> bool {
        !self.system.is_empty() || !self.messages.is_empty()
    }
}

fn bad(message: String) -> AiError {
    AiError::BadRequest { reply: Reply::local(message) }
}

struct Input<'a> {
    items: Vec<Json<'a>>,
    breakpoints: Breakpoints,
}

impl<'a> Input<'a> {
    /// The system prompt: the most stable part as `instructions`, the others as developer messages. Models that take
    /// breakpoints get all of it as developer messages, because `instructions` cannot carry one.
    fn system(&mut self, request: &'a Request, body: &mut Members<'a>) {
        for (index, part) in request.system.iter().enumerate() {
            if index == 0 && !self.breakpoints.enabled {
                body.insert("instructions", part);
                continue;
            }
            let mut content = object!({ "type": "input_text", "text": part });
            if self.breakpoints.system.contains(&index) {
                mark(&mut content);
            }
            self.items.push(object!({ "role": "developer", "content": vec![content] }));
        }
    }

    fn message(&mut self, message: &'a Message) {
        match message {
            Message::User(user) => self.user(user),
            Message::Assistant(assistant) => self.assistant(assistant),
            Message::ToolResult(result) => self.tool_result(result),
        }
        if self.breakpoints.messages.contains(message.id()) {
            self.mark_last();
        }
    }

    fn user(&mut self, user: &'a User) {
        let content: Vec<Json<'a>> = user.content.iter().filter_map(input_content).collect();
        if !content.is_empty() {
            self.items.push(object!({ "role": "user", "content": content }));
        }
    }

    fn assistant(&mut self, assistant: &'a Assistant) {
        for block in &assistant.blocks {
            match block {
                Block::Text(text) if !text.text.is_empty() => self.items.push(output_message(text)),
                Block::Thinking(thinking) => self.items.extend(reasoning_item(thinking)),
                Block::ToolCall(call) => self.items.push(object!({
                    "type": "function_call",
                    "call_id": call.id.as_str(),
                    "name": &call.name,
                    "arguments": call.arguments.text(),
                })),
                Block::Text(_) | Block::Image(_) => {}
            }
        }
    }

    fn tool_result(&mut self, result: &'a ToolResult) {
        let texts_only = result.content.iter().all(|content| matches!(content, Content::Text { .. }));
        // Where breakpoints can come, every result has the form that can carry one: a mark that moves on must not
        // change the bytes before it.
        let output = if texts_only && !self.breakpoints.enabled {
            let texts: Vec<&str> = result
                .content
                .iter()
                .filter_map(|content| match content {
                    Content::Text { text } => Some(text.as_str()),
                    Content::Image(_) => None,
                })
                .collect();
            failed(result.status, &texts).into()
        } else {
            let mut parts: Vec<Json<'a>> = result.content.iter().filter_map(input_content).collect();
            if parts.is_empty() {
                let text = match result.status {
                    ResultStatus::Ok => "(no output)",
                    ResultStatus::Failed => "The tool call failed.",
                };
                parts.push(object!({ "type": "input_text", "text": text }));
            } else if result.status == ResultStatus::Failed {
                parts.insert(0, object!({ "type": "input_text", "text": FAILED }));
            }
            Json::List(parts)
        };
        self.items.push(object!({
            "type": "function_call_output",
            "call_id": result.call.as_str(),
            "output": output,
        }));
    }

    /// Marks the last block that can carry a breakpoint: what a model said cannot, what it was told can.
    fn mark_last(&mut self) {
        for item in self.items.iter_mut().rev() {
            for field in ["content", "output"] {
                if let Some(Json::List(parts)) = item.get_mut(field)
                    && let Some(part) = parts.last_mut()
                    && part.get("type").and_then(Json::text).is_some_and(|kind| kind.starts_with("input_"))
                {
                    mark(part);
                    return;
                }
            }
        }
    }
}

/// The wire has no field for a failed call, so the model is told in words.
const FAILED: &str = "The tool call failed:";

fn failed<'a>(status: ResultStatus, texts: &[&'a str]) -> Cow<'a, str> {
    let text = match texts {
        [one] => Cow::Borrowed(*one),
        several => Cow::Owned(several.join("\n")),
    };
    match status {
        ResultStatus::Ok => text,
        ResultStatus::Failed if text.is_empty() => "The tool call failed.".into(),
        ResultStatus::Failed => format!("{FAILED}\n{text}").into(),
    }
}

fn mark(part: &mut Json<'_>) {
    // Two places can fall on one part.
    if part.get(BREAKPOINT).is_none() {
        part.put(BREAKPOINT, json!({ "mode": "explicit" }));
    }
}

const BREAKPOINT: &str = "prompt_cache_breakpoint";

fn input_content(content: &Content) -> Option<Json<'_>> {
    match content {
        Content::Text { text } if text.is_empty() => None,
        Content::Text { text } => Some(object!({ "type": "input_text", "text": text })),
        Content::Image(image) => Some(object!({ "type": "input_image", "image_url": image_url(image) })),
    }
}

fn image_url(image: &Image) -> Cow<'_, str> {
    match &image.source {
        ImageSource::Base64(data) => format!("data:{};base64,{data}", image.media_type).into(),
        ImageSource::Url(url) => url.into(),
    }
}

fn output_message(text: &Text) -> Json<'_> {
    let part = match text.kind {
        TextKind::Answer => object!({ "type": "output_text", "text": &text.text }),
        TextKind::Refusal => object!({ "type": "refusal", "refusal": &text.text }),
    };
    let mut item = object!({ "type": "message", "role": "assistant", "content": vec![part] });
    if let Some(phase) = text.phase {
        item.put(
            "phase",
            match phase {
                Phase::Commentary => "commentary",
                Phase::FinalAnswer => "final_answer",
            },
        );
    }
    item
}

/// A reasoning item as the model can take it back: without its id, which the server would look up in vain. One that
/// cannot be verified is left out, since it would be refused.
fn reasoning_item(thinking: &Thinking) -> Option<Json<'_>> {
    match &thinking.seal {
        Some(Seal::Encrypted(encrypted)) => {
            let summary = if thinking.text.is_empty() {
                Vec::new()
            } else {
                vec![object!({ "type": "summary_text", "text": &thinking.text })]
            };
            Some(object!({ "type": "reasoning", "summary": summary, "encrypted_content": encrypted }))
        }
        Some(Seal::Open) => {
            let content = vec![object!({ "type": "reasoning_text", "text": &thinking.text })];
            Some(object!({ "type": "reasoning", "summary": Vec::new(), "content": content }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
