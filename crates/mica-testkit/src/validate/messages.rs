//! What the Messages wire refuses.

use serde_json::Value;

use super::{Check, Wrong, text};
use crate::seal;
use crate::seen::items;

pub(super) fn check(body: &Value, check: &Check<'_>) -> Result<(), Wrong> {
    if !check.headers.contains_key("anthropic-version") {
        return Err(Wrong::new("anthropic-version: header is required"));
    }
    if body.get("max_tokens").is_none() {
        return Err(Wrong::new("max_tokens: Field required"));
    }
    let messages = items(&body["messages"]);
    match messages.first() {
        None => return Err(Wrong::new("messages: at least one message is required")),
        Some(first) if first["role"] != "user" => {
            return Err(Wrong::new("messages: first message must use the \"user\" role"));
        }
        Some(_) => {}
    }
    thinking(body)?;
    marks(body)?;
    for (index, block) in items(&body["system"]).iter().enumerate() {
        words(block, &format!("system.{index}"))?;
    }
    for (index, message) in messages.iter().enumerate() {
        content(index, message, index + 1 == messages.len(), check)?;
        pairs(index, message, messages.get(index.wrapping_sub(1)), messages.get(index + 1))?;
    }
    Ok(())
}

fn thinking(body: &Value) -> Result<(), Wrong> {
    let kind = text(&body["thinking"], "type");
    if kind == "enabled" {
        let budget = body["thinking"]["budget_tokens"].as_u64().unwrap_or(0);
        if budget < 1024 {
            return Err(Wrong::new(
                "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
            ));
        }
        if body["max_tokens"].as_u64().is_some_and(|most| most <= budget) {
            return Err(Wrong::new("`max_tokens` must be greater than `thinking.budget_tokens`."));
        }
    }
    let is_on = matches!(kind, "enabled" | "adaptive");
    if is_on && body.get("temperature").is_some_and(|value| value.as_f64() != Some(1.0)) {
        return Err(Wrong::new("`temperature` may only be set to 1 when thinking is enabled."));
    }
    let choice = text(&body["tool_choice"], "type");
    if is_on && matches!(choice, "any" | "tool") {
        return Err(Wrong::new("Thinking may not be enabled when tool_choice forces tool use."));
    }
    Ok(())
}

fn content(index: usize, message: &Value, is_last: bool, check: &Check<'_>) -> Result<(), Wrong> {
    let place = format!("messages.{index}");
    let role = text(message, "role");
    if role != "user" && role != "assistant" {
        return Err(Wrong::new(format!("{place}.role: Input should be 'user' or 'assistant'")));
    }
    let blocks = items(&message["content"]);
    let is_empty = message["content"].as_str().is_some_and(str::is_empty)
        || (blocks.is_empty() && !message["content"].is_string());
    if is_empty && !(is_last && role == "assistant") {
        return Err(Wrong::new(format!(
            "{place}: all messages must have non-empty content except for the optional final assistant message"
        )));
    }
    for (number, block) in blocks.iter().enumerate() {
        let place = format!("{place}.content.{number}");
        words(block, &place)?;
        match text(block, "type") {
            "tool_use" | "server_tool_use" => id(&place, "id", text(block, "id"))?,
            "tool_result" => {
                id(&place, "tool_use_id", text(block, "tool_use_id"))?;
                for inner in items(&block["content"]) {
                    words(inner, &place)?;
                }
            }
            "thinking" | "redacted_thinking" if check.strict.seals => sealed(block, &place, check)?,
            _ => {}
        }
    }
    if is_last && role == "assistant" {
        let end = message["content"].as_str().or(blocks.last().and_then(|block| block["text"].as_str()));
        if end.is_some_and(|end| end.ends_with(char::is_whitespace)) {
            return Err(Wrong::new("messages: final assistant content cannot end with trailing whitespace"));
        }
    }
    Ok(())
}

/// Texts say something, and only what says something may be marked.
fn words(block: &Value, place: &str) -> Result<(), Wrong> {
    let is_marked = block.get("cache_control").is_some_and(|mark| !mark.is_null());
    match (text(block, "type"), block["text"].as_str()) {
        ("text", Some("")) if is_marked => {
            Err(Wrong::new(format!("{place}.text: cache_control cannot be set for empty text blocks")))
        }
        ("text", Some("") | None) => Err(Wrong::new("messages: text content blocks must be non-empty")),
        ("text", Some(words)) if words.trim().is_empty() => {
            Err(Wrong::new("messages: text content blocks must contain non-whitespace text"))
        }
        ("thinking" | "redacted_thinking", _) if is_marked => {
            Err(Wrong::new(format!("{place}.cache_control: Extra inputs are not permitted")))
        }
        _ => Ok(()),
    }
}

fn id(place: &str, key: &str, id: &str) -> Result<(), Wrong> {
    let is_good =
        !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if is_good {
        return Ok(());
    }
    Err(Wrong::new(format!("{place}.{key}: String should match pattern '^[a-zA-Z0-9_-]+$'")))
}

fn sealed(block: &Value, place: &str, check: &Check<'_>) -> Result<(), Wrong> {
    let is_ours = if block["type"] == "thinking" {
        seal::is_signed_by(check.model, text(block, "thinking"), text(block, "signature"))
    } else {
        seal::is_redacted_by(check.model, text(block, "data"))
    };
    if is_ours {
        return Ok(());
    }
    let (key, kind) =
        if block["type"] == "thinking" { ("signature", "thinking") } else { ("data", "redacted_thinking") };
    Err(Wrong::new(format!("{place}: Invalid `{key}` in `{kind}` block")))
}

/// Calls are answered in the very next message, and results come before anything else in it.
fn pairs(index: usize, message: &Value, before: Option<&Value>, after: Option<&Value>) -> Result<(), Wrong> {
    let ids = |message: Option<&Value>, kind: &str, key: &str| -> Vec<String> {
        let blocks = message.map_or(&[][..], |message| items(&message["content"]));
        blocks.iter().filter(|block| block["type"] == kind).map(|block| text(block, key).to_owned()).collect()
    };
    let calls = ids(Some(message), "tool_use", "id");
    let leading: Vec<String> = after
        .map_or(&[][..], |after| items(&after["content"]))
        .iter()
        .take_while(|block| block["type"] == "tool_result")
        .map(|block| text(block, "tool_use_id").to_owned())
        .collect();
    let missing: Vec<&str> =
        calls.iter().filter(|call| !leading.contains(call)).map(String::as_str).collect();
    if !missing.is_empty() {
        return Err(Wrong::new(format!(
            "messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` \
             block must have a corresponding `tool_result` block in the next message.",
            missing.join(", ")
        )));
    }
    let asked = ids(before, "tool_use", "id");
    let results = ids(Some(message), "tool_result", "tool_use_id");
    for (number, result) in results.iter().enumerate() {
        if !asked.contains(result) {
            return Err(Wrong::new(format!(
                "messages.{index}.content.{number}: unexpected `tool_use_id` found in `tool_result` blocks: {result}. Each \
                 `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )));
        }
        if results[..number].contains(result) {
            return Err(Wrong::new(format!(
                "messages.{index}.content.{number}: each tool_use must have a single result. Found multiple `tool_result` \
                 blocks with id: {result}"
            )));
        }
    }
    Ok(())
}

/// At most four marks, and the long-lived ones first, in the order tools, system, messages.
fn marks(body: &Value) -> Result<(), Wrong> {
    let mut all = Vec::new();
    let mut add = |place: String, block: &Value| {
        if let Some(mark) = block.get("cache_control").filter(|mark| !mark.is_null()) {
            all.push((place, mark["ttl"] == "1h"));
        }
    };
    for (index, tool) in items(&body["tools"]).iter().enumerate() {
        add(format!("tools.{index}"), tool);
    }
    for (index, block) in items(&body["system"]).iter().enumerate() {
        add(format!("system.{index}"), block);
    }
    for (index, message) in items(&body["messages"]).iter().enumerate() {
        for (number, block) in items(&message["content"]).iter().enumerate() {
            add(format!("messages.{index}.content.{number}"), block);
        }
    }
    add("cache_control".to_owned(), body);
    if all.len() > 4 {
        let found = all.len();
        return Err(Wrong::new(format!(
            "A maximum of 4 blocks with cache_control may be provided. Found {found}."
        )));
    }
    for pair in all.windows(2) {
        if !pair[0].1 && pair[1].1 {
            return Err(Wrong::new(format!(
                "{}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note \
                 that blocks are processed in the following order: `tools`, `system`, `messages`.",
                pair[1].0
            )));
        }
    }
    Ok(())
}
