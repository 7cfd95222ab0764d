//! A request as a list of parts: what decides an answer, and nothing that differs from run to run.

use mica_ai::Request;
use mica_ai::message::{Assistant, Message};
use mica_ai::request::OutputFormat;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A part of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// What it is: `model`, `settings`, `tool NAME`, `system N`, `message N ROLE`.
    pub part: String,
    /// What it says.
    pub value: Value,
}

/// The parts of a request. Ids of messages, cache marks and keys of sessions are not in it: a model sees none of them.
pub fn parts(request: &Request) -> Vec<Part> {
    let part = |part: String, value: Value| Part { part, value };
    let mut all = vec![
        part("model".to_owned(), json!({ "id": request.model.id, "dialect": request.model.dialect })),
        part("settings".to_owned(), settings(request)),
    ];
    for tool in request.tools.iter() {
        let value = json!({
            "description": tool.description,
            "schema": tool.schema,
            "strictness": tool.strictness,
        });
        all.push(part(format!("tool {}", tool.name), value));
    }
    for (index, text) in request.system.iter().enumerate() {
        all.push(part(format!("system {}", index + 1), Value::String(text.clone())));
    }
    for (index, message) in request.messages.iter().enumerate() {
        let (role, value) = match message {
            Message::User(user) => ("user", json!(user.content)),
            Message::Assistant(Assistant { blocks, stop, .. }) => {
                ("assistant", json!({ "blocks": blocks, "stop": stop }))
            }
            Message::ToolResult(result) => (
                "result",
                json!({
                    "call": result.call,
                    "tool": result.tool,
                    "content": result.content,
                    "status": result.status,
                }),
            ),
        };
        all.push(part(format!("message {} {role}", index + 1), value));
    }
    all
}

fn settings(request: &Request) -> Value {
    let output = match &request.output {
        OutputFormat::Text => json!("text"),
        OutputFormat::JsonSchema { name, schema } => json!({ "name": name, "schema": schema }),
    };
    json!({
        "tool_choice": request.tool_choice,
        "parallel": request.parallel,
        "max_output": request.max_output,
        "effort": request.effort,
        "thoughts": request.thoughts,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stop": request.stop,
        "output": output,
    })
}

/// Characters of a text that are shown around the place where it changes.
const AROUND: usize = 60;

/// What is different first, in words. Tools that came or went are all named: one that comes moves all behind it.
pub fn difference(recorded: &[Part], now: &[Part]) -> String {
    let lacks = |of: &[Part], from: &[Part]| -> Vec<String> {
        let tools = of.iter().filter(|part| part.part.starts_with("tool "));
        let missing = tools.filter(|part| from.iter().all(|other| other.part != part.part));
        missing.map(|part| part.part.trim_start_matches("tool ").to_owned()).collect()
    };
    let (new, gone) = (lacks(now, recorded), lacks(recorded, now));
    if !new.is_empty() || !gone.is_empty() {
        let said = [("new", new), ("gone", gone)].into_iter().filter(|(_, tools)| !tools.is_empty());
        let said: Vec<String> = said.map(|(word, tools)| format!("{word}: {}", tools.join(", "))).collect();
        return format!("the tools are others ({})", said.join("; "));
    }
    for index in 0..recorded.len().max(now.len()) {
        match (recorded.get(index), now.get(index)) {
            (Some(one), Some(other)) if one == other => {}
            (Some(one), Some(other)) if one.part == other.part => {
                return format!("{} changed {}", one.part, change(&one.value, &other.value));
            }
            (Some(one), Some(other)) => {
                return format!("there is {} where {} was", other.part, one.part);
            }
            (Some(one), None) => return format!("{} is not there any more", one.part),
            (None, Some(other)) => {
                return format!("{} is new: {}", other.part, start(&other.value.to_string()));
            }
            (None, None) => {}
        }
    }
    "nothing is different but the digest: the file was changed by hand".to_owned()
}

/// Where a value changes, the two sides of it.
fn change(one: &Value, other: &Value) -> String {
    if let (Value::Object(one), Value::Object(other)) = (one, other) {
        let keys = one.keys().chain(other.keys());
        for key in keys {
            let (was, is) = (one.get(key).unwrap_or(&Value::Null), other.get(key).unwrap_or(&Value::Null));
            if was != is {
                return format!("in {key:?}: {}", texts(was, is));
            }
        }
    }
    format!("in it: {}", texts(one, other))
}

fn texts(one: &Value, other: &Value) -> String {
    let (one, other) = (words(one), words(other));
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(AROUND / 3);
    let cut = |text: &str| -> String {
        let head = if from > 0 { "…" } else { "" };
        let part: String = text.chars().skip(from).take(AROUND).collect();
        let tail = if text.chars().count() > from + AROUND { "…" } else { "" };
        format!("{head}{part}{tail}")
    };
    format!("recorded {:?}, now {:?}", cut(&one), cut(&other))
}

/// The texts of a content that is nothing else; anything else as JSON.
fn words(value: &Value) -> String {
    let texts = value.as_array().and_then(|parts| {
        let texts: Option<Vec<&str>> = parts.iter().map(|part| part["text"].as_str()).collect();
        texts.map(|texts| texts.join("\n"))
    });
    texts.unwrap_or_else(|| crate::case::plain(value))
}

fn start(text: &str) -> String {
    let mut short: String = text.chars().take(AROUND).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
