//! What the Chat wire refuses.

use serde_json::Value;

use super::{Wrong, text};
use crate::seen::items;

pub(super) fn check(body: &Value) -> Result<(), Wrong> {
    let messages = items(&body["messages"]);
    if messages.is_empty() {
        return Err(Wrong::new("Missing required parameter: 'messages'.")
            .code("missing_required_parameter")
            .param("messages"));
    }
    // The calls of the assistant message that tool messages may answer now.
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let place = format!("messages.[{index}].role");
        if text(message, "role") == "tool" {
            let id = text(message, "tool_call_id");
            let Some(at) = open.iter().position(|call| *call == id) else {
                return Err(Wrong::new(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with \
                     'tool_calls'.",
                )
                .param(place));
            };
            open.remove(at);
            continue;
        }
        settled(&open, &place)?;
        open = items(&message["tool_calls"]).iter().map(|call| text(call, "id")).collect();
        if message.get("tool_calls").is_some_and(|calls| items(calls).is_empty()) {
            let place = format!("messages[{index}].tool_calls");
            let message = format!(
                "Invalid '{place}': empty array. Expected an array with minimum length 1, but got an empty array instead."
            );
            return Err(Wrong::new(message).code("empty_array").param(place));
        }
        let is_empty = message["content"].is_null() && open.is_empty() && message["refusal"].is_null();
        if is_empty && text(message, "role") == "assistant" {
            let place = format!("messages.[{index}].content");
            return Err(Wrong::new("Invalid value for 'content': expected a string, got null.").param(place));
        }
    }
    settled(&open, "messages")
}

fn settled(open: &[&str], place: &str) -> Result<(), Wrong> {
    if open.is_empty() {
        return Ok(());
    }
    Err(Wrong::new(format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The \
         following tool_call_ids did not have response messages: {}",
        open.join(", ")
    ))
    .param(place))
}
