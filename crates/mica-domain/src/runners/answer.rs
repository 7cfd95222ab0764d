//! An answer as data: a tool that takes it, held to a schema.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mica_agent::{Args, Ends, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use mica_policy::validate::{BadSchema, Schema};
use serde_json::{Value, json};

/// The name of the tool.
pub const ANSWER: &str = "answer";

/// What holds a value that is no object.
const VALUE: &str = "value";

/// A tool that takes the answer, and ends the run. Clones share the answer.
#[derive(Clone)]
pub struct AnswerTool {
    spec: Arc<ToolSpec>,
    schema: Arc<Schema>,
    /// The value is inside of an object, because arguments are one.
    wrapped: bool,
    given: Arc<Mutex<Option<Value>>>,
}

impl AnswerTool {
    /// A tool for answers of this schema.
    ///
    /// # Errors
    /// [`BadSchema`].
    pub fn new(schema: &Value) -> Result<Self, BadSchema> {
        Schema::compile(schema)?;
        let wrapped = schema.get("type") != Some(&json!("object"));
        let arguments = if wrapped { around(schema)? } else { schema.clone() };
        let compiled = Schema::compile(&arguments)?;
        let about = "Gives the answer, once you have it. Its arguments are the answer: nothing else that you say is read.";
        let mut spec = ToolSpec::new(ANSWER, about, arguments);
        spec.ends = Ends::Run;
        Ok(Self { spec: Arc::new(spec), schema: Arc::new(compiled), wrapped, given: Arc::default() })
    }

    /// The answer, if it was given.
    pub fn given(&self) -> Option<Value> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The same tool, to which nothing was answered.
    #[must_use]
    pub fn fresh(&self) -> Self {
        Self { given: Arc::default(), ..self.clone() }
    }

    /// Takes an answer that was written instead of given: a text that is nothing but JSON, in a fence or not. Answers
    /// whether it is one.
    pub fn take_text(&self, text: &str) -> bool {
        let text = text.trim();
        let fenced = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
        let inner =
            fenced.map_or(text, |rest| rest.trim_start_matches(|letter: char| letter.is_alphanumeric()));
        let Ok(value) = serde_json::from_str::<Value>(inner) else { return false };
        let mut args = match value {
            Value::Object(args) if !self.wrapped || args.contains_key(VALUE) => args,
            other if self.wrapped => [(VALUE.to_owned(), other)].into_iter().collect(),
            _ => return false,
        };
        let fits = self.schema.judge(&mut args).is_ok();
        if fits {
            self.take(args);
        }
        fits
    }

    fn take(&self, mut args: Args) {
        let value = if self.wrapped { args.remove(VALUE).unwrap_or_default() } else { Value::Object(args) };
        *self.given.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    }
}

/// A schema around another. What it defines stays where its references look for it.
fn around(schema: &Value) -> Result<Value, BadSchema> {
    let mut inner = schema.clone();
    let mut outer = json!({ "type": "object", "required": [VALUE], "additionalProperties": false });
    for definitions in ["$defs", "definitions", "$schema"] {
        let taken = inner.as_object_mut().and_then(|inner| inner.remove(definitions));
        if let (Some(taken), Some(outer)) = (taken, outer.as_object_mut()) {
            outer.insert(definitions.to_owned(), taken);
        }
    }
    if refers_to_itself(&inner) {
        let message =
            "a schema that is no object cannot refer to itself with \"#\": name it in $defs".to_owned();
        return Err(BadSchema { at: "#".to_owned(), message });
    }
    if let Some(outer) = outer.as_object_mut() {
        outer.insert("properties".to_owned(), json!({ VALUE: inner }));
    }
    Ok(outer)
}

fn refers_to_itself(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            members.iter().any(|(name, value)| (name == "$ref" && value == "#") || refers_to_itself(value))
        }
        Value::Array(items) => items.iter().any(refers_to_itself),
        _ => false,
    }
}

#[async_trait]
impl Tool for AnswerTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, mut args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        // Judged at the gate, too; a caller without one gets no answer that does not fit.
        self.schema.judge(&mut args).map_err(|invalid| ToolError::new(invalid.for_model(ANSWER)))?;
        self.take(args);
        Ok(ToolOutput::text("Taken."))
    }
}
