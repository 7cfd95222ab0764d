//! What can be put right about a refused request without asking anybody: each thing once.

use serde_json::{Map, Value};

use super::is_unauthorised;
use crate::error::AiError;

/// What to do before the request is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repair {
    /// The body was put right.
    Body,
    /// Build the body anew without replayed reasoning.
    WithoutReasoning,
    /// Find the credential anew: the one used may have expired.
    FreshCredential,
}

/// What was tried already.
#[derive(Debug, Default)]
pub(super) struct Repairs {
    reasoning: bool,
    credential: bool,
    dropped: Vec<String>,
}

/// Parameters that only tune a request: leaving one out changes what it costs, not what it means.
const OPTIONAL: [&str; 9] = [
    "prompt_cache_options",
    "prompt_cache_breakpoint",
    "prompt_cache_key",
    "safety_identifier",
    "stream_options",
    "parallel_tool_calls",
    "display",
    "temperature",
    "top_p",
];

impl Repairs {
    /// The repair for an error, if there is one that was not tried. Bodies are put right in place.
    pub(super) fn next(&mut self, error: &AiError, body: &mut Value) -> Option<Repair> {
        match error {
            AiError::StaleReasoning { .. } if !self.reasoning => {
                self.reasoning = true;
                Some(Repair::WithoutReasoning)
            }
            AiError::BadRequest { reply } => {
                let named = reply.param.as_deref().unwrap_or(&reply.message);
                let parameter = OPTIONAL.into_iter().find(|parameter| {
                    mentions(named, parameter) && !self.dropped.iter().any(|known| known == parameter)
                })?;
                self.dropped.push(parameter.to_owned());
                drop_key(body, parameter).then_some(Repair::Body)
            }
            error if is_unauthorised(error) && !self.credential => {
                self.credential = true;
                Some(Repair::FreshCredential)
            }
            _ => None,
        }
    }
}

/// Whether a text names a parameter, as a word of its own.
fn mentions(text: &str, parameter: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(parameter).any(|(start, found)| {
        !text[..start].ends_with(is_name) && !text[start + found.len()..].starts_with(is_name)
    })
}

/// Removes a key wherever the request itself has it; what users and tools said is left alone.
fn drop_key(body: &mut Value, key: &str) -> bool {
    let Value::Object(top) = body else { return false };
    let mut found = top.shift_remove(key).is_some();
    if let Some(thinking) = top.get_mut("thinking").and_then(Value::as_object_mut) {
        found |= thinking.shift_remove(key).is_some();
    }
    if key == "prompt_cache_breakpoint" {
        for list in ["input", "messages"] {
            if let Some(Value::Array(items)) = top.get_mut(list) {
                for item in items.iter_mut().filter_map(Value::as_object_mut) {
                    found |= strip_parts(item, key);
                }
            }
        }
        // Explicit mode without any breakpoint would cache nothing at all.
        found |= top.shift_remove("prompt_cache_options").is_some();
    }
    found
}

fn strip_parts(item: &mut Map<String, Value>, key: &str) -> bool {
    let mut found = false;
    for field in ["content", "output"] {
        if let Some(Value::Array(parts)) = item.get_mut(field) {
            for part in parts.iter_mut().filter_map(Value::as_object_mut) {
                found |= part.shift_remove(key).is_some();
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
