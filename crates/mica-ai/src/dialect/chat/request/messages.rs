//! Maps a conversation to the messages of a Chat call.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::arguments::Arguments;
use crate::message::{
    Assistant, Block, Content, Image, ImageSource, Message, Origin, Seal, ToolCall, ToolResult,
};
use crate::model::{CacheKind, Model};

/// The messages: the system prompt, then the conversation.
pub(super) fn messages(
    system: &[String],
    conversation: &[Cow<'_, Message>],
    origin: &Origin,
    model: &Model,
) -> Vec<Value> {
    let mut out = system_messages(system, model);
    // Images that tools returned, kept until the last result of the batch: nothing may come between results.
    let mut shown: Vec<Value> = Vec::new();
    for message in conversation {
        let message = &**message;
        if !matches!(message, Message::ToolResult(_)) {
            show(&mut shown, &mut out);
        }
        match message {
            Message::User(user) => {
                out.push(json!({ "role": "user", "content": content(&user.content) }));
            }
            Message::Assistant(assistant) => out.extend(assistant_message(assistant, origin)),
            Message::ToolResult(result) => out.push(tool_message(result, &mut shown)),
        }
    }
    show(&mut shown, &mut out);
    out
}

/// The system prompt. Its parts stay apart where a cache is known, and are one message elsewhere: the templates of
/// several open models take a system message in the first place only.
fn system_messages(parts: &[String], model: &Model) -> Vec<Value> {
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    let message = |text: &str| json!({ "role": "system", "content": text });
    if model.cache.kind == CacheKind::None && !parts.is_empty() {
        return vec![message(&parts.join("\n\n"))];
    }
    parts.into_iter().map(message).collect()
}

/// What a user said: a string when there are only words, because many servers take nothing else.
fn content(parts: &[Content]) -> Value {
    let texts: Option<Vec<&str>> = parts
        .iter()
        .map(|part| match part {
            Content::Text { text } => Some(text.as_str()),
            Content::Image(_) => None,
        })
        .collect();
    if let Some(texts) = texts {
        return Value::String(texts.join("\n\n"));
    }
    let part = |part: &Content| match part {
        Content::Text { text } => json!({ "type": "text", "text": text }),
        Content::Image(image) => image_part(image),
    };
    parts.iter().map(part).collect()
}

/// What a model said before. `None` when nothing of it can be said on this wire.
fn assistant_message(message: &Assistant, origin: &Origin) -> Option<Value> {
    let mut text = String::new();
    let mut calls = Vec::new();
    let mut reasoning = Map::new();
    for block in &message.blocks {
        match block {
            Block::Text(inner) => text.push_str(&inner.text),
            // The replay has said so in words.
            Block::Image(_) => {}
            Block::ToolCall(call) => calls.push(call_value(call)),
            Block::Thinking(thinking) => {
                if let Some(Seal::Field(field)) = thinking.seal
                    && message.origin == *origin
                {
                    let held = reasoning.entry(field.key()).or_insert_with(|| json!(""));
                    *held = json!(format!("{}{}", held.as_str().unwrap_or_default(), thinking.text));
                }
            }
        }
    }
    if text.is_empty() && calls.is_empty() && reasoning.is_empty() {
        return None;
    }
    let mut value = Map::new();
    value.insert("role".into(), json!("assistant"));
    // Beside calls, no words are null: an empty text is refused by some servers and a missing one by others.
    let no_words = text.is_empty() && !calls.is_empty();
    value.insert("content".into(), if no_words { Value::Null } else { json!(text) });
    value.append(&mut reasoning);
    if !calls.is_empty() {
        value.insert("tool_calls".into(), calls.into());
    }
    Some(Value::Object(value))
}

fn call_value(call: &ToolCall) -> Value {
    json!({
        "id": call.id,
        "type": "function",
        "function": { "name": call.name, "arguments": sendable(&call.arguments) },
    })
}

/// The arguments as the model wrote them. Those that are no JSON object go back inside one: vLLM and llama.cpp
/// parse them for the prompt and would refuse the conversation forever.
fn sendable(arguments: &Arguments) -> String {
    match arguments.parse() {
        Ok(_) => arguments.text().to_owned(),
        Err(_) => Value::Object(arguments.replayed()).to_string(),
    }
}

/// What a tool said, in words. Its images go to `shown`: this role takes none.
fn tool_message(result: &ToolResult, shown: &mut Vec<Value>) -> Value {
    let mut texts = Vec::new();
    for part in &result.content {
        match part {
            Content::Text { text } => texts.push(text.clone()),
            Content::Image(image) => {
                texts.push("(an image, shown below)".to_owned());
                let caption = format!("Image returned by {} (call {}):", result.tool, result.call);
                shown.push(json!({ "type": "text", "text": caption }));
                shown.push(image_part(image));
            }
        }
    }
    let mut text = texts.join("\n");
    if text.is_empty() {
        // An empty text is refused by some servers.
        "(no output)".clone_into(&mut text);
    }
    json!({ "role": "tool", "tool_call_id": result.call, "content": text })
}

/// Shows the images of a batch of results, as if the user did.
fn show(shown: &mut Vec<Value>, out: &mut Vec<Value>) {
    if !shown.is_empty() {
        out.push(json!({ "role": "user", "content": std::mem::take(shown) }));
    }
}

fn image_part(image: &Image) -> Value {
    let url = match &image.source {
        ImageSource::Base64(data) => format!("data:{};base64,{data}", image.media_type),
        ImageSource::Url(url) => url.clone(),
    };
    json!({ "type": "image_url", "image_url": { "url": url } })
}
