//! What the Responses wire refuses.

use serde_json::Value;

use super::{Check, Wrong, text};
use crate::seal;
use crate::seen::items;

pub(super) fn check(body: &Value, check: &Check<'_>) -> Result<(), Wrong> {
    if !body["input"].is_string() && !body["input"].is_array() {
        return Err(Wrong::new("Missing required parameter: 'input'.")
            .code("missing_required_parameter")
            .param("input"));
    }
    let input = items(&body["input"]);
    let is_stored = body["store"].as_bool().unwrap_or(true);
    for (index, item) in input.iter().enumerate() {
        ids(index, item, is_stored)?;
        if check.strict.seals {
            sealed(item, check)?;
        }
        parts(index, item)?;
    }
    pairs(input)?;
    marks(body, check)
}

/// Ids name stored items. Nothing was stored, so there is nothing they could name.
fn ids(index: usize, item: &Value, is_stored: bool) -> Result<(), Wrong> {
    let id = text(item, "id");
    if !is_stored && (id.starts_with("rs_") || id.starts_with("fc_")) {
        return Err(Wrong::new(format!(
            "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with `store` \
             set to true, or remove this item from your input."
        ))
        .param("input"));
    }
    let call = text(item, "call_id");
    if call.len() > 64 {
        return Err(Wrong::new(format!(
            "Invalid 'input[{index}].call_id': string too long. Expected a string with maximum length 64, but got a string \
             with length {} instead.",
            call.len()
        ))
        .code("string_above_max_length")
        .param(format!("input[{index}].call_id")));
    }
    Ok(())
}

fn sealed(item: &Value, check: &Check<'_>) -> Result<(), Wrong> {
    match item["encrypted_content"].as_str() {
        Some(sealed) if !seal::is_encrypted_by(check.model, sealed) => {
            let start: String = sealed.chars().take(4).collect();
            Err(Wrong::new(format!("The encrypted content {start}... could not be verified."))
                .code("invalid_encrypted_content"))
        }
        _ => Ok(()),
    }
}

/// User words are `input_text`, the model's own are `output_text`.
fn parts(index: usize, item: &Value) -> Result<(), Wrong> {
    for (part_index, part) in items(&item["content"]).iter().enumerate() {
        let kind = text(part, "type");
        let is_wrong = match text(item, "role") {
            "assistant" => kind.starts_with("input_"),
            "user" | "system" | "developer" => kind.starts_with("output_"),
            _ => false,
        };
        if is_wrong {
            let place = format!("input[{index}].content[{part_index}]");
            return Err(Wrong::new(format!(
                "Invalid value: '{kind}'. Supported values differ for this role."
            ))
            .param(place));
        }
    }
    Ok(())
}

fn pairs(input: &[Value]) -> Result<(), Wrong> {
    let of = |kind: &'static str| input.iter().enumerate().filter(move |(_, item)| item["type"] == kind);
    for (index, output) in of("function_call_output") {
        let id = text(output, "call_id");
        if !of("function_call").any(|(at, call)| at < index && text(call, "call_id") == id) {
            let message = format!("No tool call found for function call output with call_id {id}.");
            return Err(Wrong::new(message).param("input"));
        }
    }
    for (index, call) in of("function_call") {
        let id = text(call, "call_id");
        let outputs = of("function_call_output")
            .filter(|(at, output)| *at > index && text(output, "call_id") == id)
            .count();
        if outputs == 0 {
            return Err(Wrong::new(format!("No tool output found for function call {id}.")).param("input"));
        }
        if outputs > 1 {
            return Err(
                Wrong::new(format!("Duplicate tool output found for function call {id}.")).param("input")
            );
        }
    }
    Ok(())
}

fn marks(body: &Value, check: &Check<'_>) -> Result<(), Wrong> {
    let Some(facts) = check.facts.and_then(|facts| facts.cache.as_ref()) else {
        return Ok(());
    };
    let explicit: usize = items(&body["input"])
        .iter()
        .map(|item| {
            let own = usize::from(item.get("prompt_cache_breakpoint").is_some());
            own + items(&item["content"])
                .iter()
                .filter(|part| part.get("prompt_cache_breakpoint").is_some())
                .count()
        })
        .sum();
    // The provider's own breakpoint takes one of the places.
    let implicit = usize::from(body["prompt_cache_options"]["mode"] != "explicit");
    let most = usize::from(facts.max_marks).saturating_sub(implicit);
    if explicit > most {
        let message =
            format!("A maximum of {most} prompt cache breakpoints may be provided. Found {explicit}.");
        return Err(Wrong::new(message).param("input"));
    }
    Ok(())
}
