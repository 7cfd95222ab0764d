//! Maps a conversation to the messages of a Chat call.

use std::borrow::Cow;

use serde_json::Value;

use crate::arguments::Arguments;
use crate::dialect::json::{Json, Members, object};
use crate::message::{
    Assistant, Block, Content, Image, ImageSource, Message, Origin, Seal, ToolCall, ToolResult,
};
use crate::model::{CacheKind, Model};

/// The messages: the system prompt, then the conversation.
pub(super) fn messages<'a>(
    system: &'a [String],
    conversation: &'a [Cow<'_, Message>],
    origin: &Origin,
    model: &Model,
) -> Vec<Json<'a>> {
    let mut out = system_messages(system, model);
    // Images that tools returned, kept until the last result of the batch: nothing may come between results.
    let mut shown: Vec<Json<'a>> = Vec::new();
    for message in conversation {
        let message = &**message;
        if !matches!(message, Message::ToolResult(_)) {
            show(&mut shown, &mut out);
        }
        match message {
            Message::User(user) => {
                out.push(object!({ "role": "user", "content": content(&user.content) }));
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
fn system_messages<'a>(parts: &'a [String], model: &Model) -> Vec<Json<'a>> {
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    let message = |text: Cow<'a, str>| object!({ "role": "system", "content": text });
    if model.cache.kind == CacheKind::None && !parts.is_empty() {
        return vec![message(joined(&parts, "\n\n"))];
    }
    parts.into_iter().map(|part| message(part.into())).collect()
}

/// Texts as one. A single one is lent.
fn joined<'a>(texts: &[&'a str], between: &str) -> Cow<'a, str> {
    match texts {
        [one] => Cow::Borrowed(one),
        several => Cow::Owned(several.join(between)),
    }
}

/// What a user said: a string when there are only words, because many servers take nothing else.
fn content<'a>(parts: &'a [Content]) -> Json<'a> {
    let texts: Option<Vec<&str>> = parts
        .iter()
        .map(|part| match part {
            Content::Text { text } => Some(text.as_str()),
            Content::Image(_) => None,
        })
        .collect();
    if let Some(texts) = texts {
        return joined(&texts, "\n\n").into();
    }
    let part = |part: &'a Content| match part {
        Content::Text { text } => object!({ "type": "text", "text": text }),
        Content::Image(image) => image_part(image),
    };
    parts.iter().map(part).collect()
}

/// What a model said before. `None` when nothing of it can be said on this wire.
fn assistant_message<'a>(message: &'a Assistant, origin: &Origin) -> Option<Json<'a>> {
    let mut texts = Vec::new();
    let mut calls = Vec::new();
    let mut reasoning: Vec<(&'static str, String)> = Vec::new();
    for block in &message.blocks {
        match block {
            Block::Text(inner) => texts.push(inner.text.as_str()),
            // The replay has said so in words.
            Block::Image(_) => {}
            Block::ToolCall(call) => calls.push(call_value(call)),
            Block::Thinking(thinking) => {
                if let Some(Seal::Field(field)) = thinking.seal
                    && message.origin == *origin
                {
                    match reasoning.iter_mut().find(|(key, _)| *key == field.key()) {
                        Some((_, held)) => held.push_str(&thinking.text),
                        None => reasoning.push((field.key(), thinking.text.clone())),
                    }
                }
            }
        }
    }
    let text = joined(&texts, "");
    if text.is_empty() && calls.is_empty() && reasoning.is_empty() {
        return None;
    }
    let mut value = Members::default();
    value.insert("role", "assistant");
    // Beside calls, no words are null: an empty text is refused by some servers and a missing one by others.
    let no_words = text.is_empty() && !calls.is_empty();
    value.insert("content", if no_words { Value::Null.into() } else { Json::from(text) });
    for (key, held) in reasoning {
        value.insert(key, held);
    }
    if !calls.is_empty() {
        value.insert("tool_calls", calls);
    }
    Some(Json::Object(value))
}

fn call_value(call: &ToolCall) -> Json<'_> {
    let function = object!({ "name": &call.name, "arguments": sendable(&call.arguments) });
    object!({ "id": call.id.as_str(), "type": "function", "function": function })
}

/// The arguments as the model wrote them. Those that are no JSON object go back inside one: vLLM and llama.cpp
/// parse them for the prompt and would refuse the conversation forever.
fn sendable(arguments: &Arguments) -> Cow<'_, str> {
    match arguments.parse() {
        Ok(_) => arguments.text().into(),
        Err(_) => Value::Object(arguments.replayed()).to_string().into(),
    }
}

/// What a tool said, in words. Its images go to `shown`: this role takes none.
fn tool_message<'a>(result: &'a ToolResult, shown: &mut Vec<Json<'a>>) -> Json<'a> {
    let mut texts = Vec::with_capacity(result.content.len());
    for part in &result.content {
        match part {
            Content::Text { text } => texts.push(text.as_str()),
            Content::Image(image) => {
                texts.push("(an image, shown below)");
                let caption = format!("Image returned by {} (call {}):", result.tool, result.call);
                shown.push(object!({ "type": "text", "text": caption }));
                shown.push(image_part(image));
            }
        }
    }
    let mut text = joined(&texts, "\n");
    if text.is_empty() {
        // An empty text is refused by some servers.
        text = "(no output)".into();
    }
    object!({ "role": "tool", "tool_call_id": result.call.as_str(), "content": text })
}

/// Shows the images of a batch of results, as if the user did.
fn show<'a>(shown: &mut Vec<Json<'a>>, out: &mut Vec<Json<'a>>) {
    if !shown.is_empty() {
        out.push(object!({ "role": "user", "content": std::mem::take(shown) }));
    }
}

fn image_part(image: &Image) -> Json<'_> {
    let url = match &image.source {
        ImageSource::Base64(data) => format!("data:{};base64,{data}", image.media_type).into(),
        ImageSource::Url(url) => Cow::Borrowed(url.as_str()),
    };
    object!({ "type": "image_url", "image_url": object!({ "url": url }) })
}
