//! The arguments of a tool call: kept as the model wrote them, parsed strictly, shown tolerantly.
//!
//! Promise: arguments that do not parse are a [`BadArguments`], never an empty object. A half-written
//! call therefore cannot run with its arguments missing.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The text a model wrote as arguments.
///
/// The text is kept, not the parsed value: replaying exactly what the model wrote keeps the prompt cache
/// valid, and what was wrong with it stays visible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Arguments(String);

impl Arguments {
    /// Arguments from the text a model wrote.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Arguments from a value made here.
    pub fn from_value(value: &Value) -> Self {
        Self(value.to_string())
    }

    /// The text as the model wrote it.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The arguments as an object.
    ///
    /// # Errors
    /// [`BadArguments`] says what is wrong in words a model can act on.
    pub fn parse(&self) -> Result<Map<String, Value>, BadArguments> {
        if self.0.trim().is_empty() {
            return Err(BadArguments::Empty);
        }
        match serde_json::from_str::<Value>(&self.0) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(other) => Err(BadArguments::NotAnObject { found: kind(&other) }),
            Err(error) if error.is_eof() => Err(BadArguments::CutOff { at: self.0.len() }),
            Err(error) => Err(BadArguments::Syntax {
                line: error.line(),
                column: error.column(),
                message: error.to_string(),
            }),
        }
    }
}

impl Arguments {
    /// The arguments as an object for wires that take nothing else in a conversation. What does not parse is kept as
    /// text under one key, so that the model sees what it wrote. Only for replay: nothing may run with this.
    pub fn replayed(&self) -> Map<String, Value> {
        self.parse().unwrap_or_else(|problem| match problem {
            BadArguments::Empty => Map::new(),
            _ => Map::from_iter([("not_valid_json".to_owned(), Value::String(self.0.clone()))]),
        })
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Why arguments are not usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadArguments {
    /// Nothing was written.
    #[error("the arguments are empty")]
    Empty,
    /// The text stops in the middle of a value.
    #[error("the arguments stop in the middle, after {at} bytes")]
    CutOff {
        /// How much was written.
        at: usize,
    },
    /// The text is not JSON.
    #[error("the arguments are not valid JSON: {message}")]
    Syntax {
        /// Line of the mistake, from 1.
        line: usize,
        /// Column of the mistake, from 1.
        column: usize,
        /// What the parser said.
        message: String,
    },
    /// JSON, but not an object.
    #[error("the arguments are {found}, not an object")]
    NotAnObject {
        /// What they are instead.
        found: &'static str,
    },
}

impl BadArguments {
    /// What to tell the model so that its next try works.
    pub fn for_model(&self) -> String {
        format!("{self}. Nothing was run. Call the tool again with one complete JSON object.")
    }
}

/// Arguments that are still streaming, for user interfaces.
///
/// Parsing the whole text again for each delta would cost the square of its length, so a new view is made
/// only when the text has grown by a sixteenth (and at least 32 bytes): the total work stays linear.
#[derive(Debug, Clone, Default)]
pub struct PartialArguments {
    text: String,
    parsed_at: usize,
}

impl PartialArguments {
    /// Adds a delta. Answers a new view when it is worth making one.
    pub fn push(&mut self, delta: &str) -> Option<Value> {
        self.text.push_str(delta);
        let grown = self.text.len() - self.parsed_at;
        if grown < 32.max(self.parsed_at / 16) {
            return None;
        }
        self.view()
    }

    /// What can be read of the arguments now, whatever it costs. `None` until there is something to read,
    /// and for text that is no JSON.
    pub fn view(&mut self) -> Option<Value> {
        self.parsed_at = self.text.len();
        read_partial(&self.text)
    }

    /// The text so far.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Reads a JSON text that may stop anywhere: open strings end where the text ends, open arrays and objects
/// are closed, a key without a value is left out, a half-written literal or number is left out.
///
/// For display only. Nothing may be executed from what this returns.
pub fn read_partial(text: &str) -> Option<Value> {
    let value =
        jiter::JsonValue::parse_with_config(text.as_bytes(), false, jiter::PartialMode::TrailingStrings)
            .ok()?;
    let value = from_jiter(&value);
    (!value.is_null()).then_some(value)
}

fn from_jiter(value: &jiter::JsonValue<'_>) -> Value {
    use jiter::JsonValue;
    match value {
        JsonValue::Null => Value::Null,
        JsonValue::Bool(flag) => Value::Bool(*flag),
        JsonValue::Int(number) => Value::from(*number),
        JsonValue::Float(number) => Value::from(*number),
        JsonValue::Str(text) => Value::String(text.to_string()),
        JsonValue::Array(items) => Value::Array(items.iter().map(from_jiter).collect()),
        JsonValue::Object(members) => {
            members.iter().map(|(key, value)| (key.to_string(), from_jiter(value))).collect()
        }
    }
}

#[cfg(test)]
mod tests;
