//! Checks requests as strictly as providers do, so that a test which passes here would have passed there.

use http::HeaderMap;
use mica_ai::Dialect;
use mica_ai::model::Parameter;
use serde_json::Value;

use crate::scenario::{ModelFacts, Strict};
use crate::seen::items;

mod chat;
mod messages;
mod responses;

/// What a request is checked against.
#[derive(Debug, Clone, Copy)]
pub struct Check<'a> {
    /// What is checked at all.
    pub strict: Strict,
    /// What is known about the model.
    pub facts: Option<&'a ModelFacts>,
    /// The model's name.
    pub model: &'a str,
    /// The request's headers.
    pub headers: &'a HeaderMap,
}

/// Why a provider would refuse a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The status it would answer.
    pub status: u16,
    /// The code, where the vendor has codes.
    pub code: &'static str,
    /// The parameter it would name.
    pub param: Option<String>,
    /// What it would say.
    pub message: String,
}

impl Wrong {
    fn new(message: impl Into<String>) -> Self {
        Self { status: 400, code: "invalid_value", param: None, message: message.into() }
    }

    fn code(mut self, code: &'static str) -> Self {
        self.code = code;
        self
    }

    fn param(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }
}

/// Checks a request.
///
/// # Errors
/// What the provider would refuse it for; the first thing only, as providers do.
pub fn request(dialect: Dialect, body: &Value, check: &Check<'_>) -> Result<(), Wrong> {
    if !check.strict.shape {
        return Ok(());
    }
    parameters(dialect, body, check)?;
    tools(dialect, body)?;
    match dialect {
        Dialect::Responses => responses::check(body, check),
        Dialect::Messages => messages::check(body, check),
        Dialect::Chat => chat::check(body),
    }
}

/// Parameters that the model is known to reject.
fn parameters(dialect: Dialect, body: &Value, check: &Check<'_>) -> Result<(), Wrong> {
    for parameter in check.facts.map_or(&[][..], |facts| &facts.rejects) {
        let (name, is_sent) = match parameter {
            Parameter::Temperature => ("temperature", body.get("temperature").is_some()),
            Parameter::TopP => ("top_p", body.get("top_p").is_some()),
            Parameter::Stop => ("stop", body.get("stop").is_some() || body.get("stop_sequences").is_some()),
            Parameter::ThinkingDisabled => ("thinking", body["thinking"]["type"] == "disabled"),
            Parameter::ForcedToolChoice => {
                let choice = body["tool_choice"]["type"].as_str().or(body["tool_choice"].as_str());
                ("tool_choice", matches!(choice, Some("any" | "tool" | "required" | "function")))
            }
            Parameter::ParallelToolCalls => {
                ("parallel_tool_calls", body.get("parallel_tool_calls").is_some())
            }
        };
        if is_sent {
            let message = match dialect {
                Dialect::Messages => format!("`{name}` is not supported by this model."),
                Dialect::Responses | Dialect::Chat => {
                    format!("Unsupported parameter: '{name}' is not supported with this model.")
                }
            };
            return Err(Wrong::new(message).code("unsupported_parameter").param(name));
        }
    }
    Ok(())
}

/// Names of tools: not empty, from the allowed characters, not twice.
fn tools(dialect: Dialect, body: &Value) -> Result<(), Wrong> {
    let limit = if dialect == Dialect::Messages { 128 } else { 64 };
    let mut names = Vec::new();
    for (index, tool) in items(&body["tools"]).iter().enumerate() {
        let function = if dialect == Dialect::Chat { &tool["function"] } else { tool };
        // Server tools of a vendor have types of their own, and names that mean something there.
        if !matches!(tool["type"].as_str(), None | Some("function" | "custom")) {
            continue;
        }
        let name = function["name"].as_str().unwrap_or_default();
        let is_good = (1..=limit).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        let place = format!("tools.{index}.name");
        if !is_good {
            let pattern = format!("{place}: String should match pattern '^[a-zA-Z0-9_-]{{1,{limit}}}$'");
            return Err(Wrong::new(pattern).param(place));
        }
        if names.contains(&name) {
            return Err(Wrong::new("tools: Tool names must be unique.").param(place));
        }
        names.push(name);
    }
    Ok(())
}

/// The text of a member; empty when it is none.
fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests;
