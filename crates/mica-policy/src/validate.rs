//! Arguments against the schema of their tool: what may be put right is put right, what is wrong is said, all of it at
//! once.
//!
//! Invariant: a schema is compiled without a network or a disk. A reference that leads out of the document makes it
//! invalid.

mod check;
mod coerce;
mod complaint;
mod decimal;
mod gate;
mod kinds;
mod nearest;

pub use check::{SchemaProblem, check_spec, check_tools};
pub use coerce::{Change, Coercion, coerce};
pub use complaint::Complaint;
pub use gate::SchemaGate;

use jsonschema::Validator;
use mica_agent::Args;
use serde_json::Value;

use complaint::{complaints, cut};

/// Complaints that are listed before the rest is counted. More would not help a model to fix them, and would fill the
/// window.
const LISTED: usize = 20;

/// Characters of the received arguments that are shown. Enough to see what was written, short enough for a file that
/// was sent as an argument.
const RECEIVED: usize = 500;

/// A tool's schema, ready to judge arguments with.
#[derive(Debug)]
pub struct Schema {
    text: Value,
    validator: Validator,
}

/// A schema that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema is not valid at {at}: {message}")]
pub struct BadSchema {
    /// Where in the schema, as a JSON pointer.
    pub at: String,
    /// What is wrong.
    pub message: String,
}

impl Schema {
    /// Compiles a schema: draft 2020-12, or what its `$schema` says.
    ///
    /// # Errors
    /// [`BadSchema`] when it is none, or refers to something outside itself.
    pub fn compile(schema: &Value) -> Result<Self, BadSchema> {
        let compiled = jsonschema::options()
            .offline()
            // Dates and addresses that are none are worth a word before the tool stumbles over them. Formats that
            // nobody knows, such as `uint32`, say nothing.
            .should_validate_formats(true)
            .should_ignore_unknown_formats(true)
            .build(schema);
        match compiled {
            Ok(validator) => Ok(Self { text: schema.clone(), validator }),
            Err(error) => Err(BadSchema {
                at: format!("#{}", error.instance_path().as_str()),
                message: cut(&error.to_string(), 300),
            }),
        }
    }

    /// The schema as it was given.
    pub fn text(&self) -> &Value {
        &self.text
    }

    /// Puts arguments right where that is certain, and judges them. Answers what was changed.
    ///
    /// # Errors
    /// [`Invalid`] says what is wrong, all at once.
    pub fn judge(&self, args: &mut Args) -> Result<Vec<Coercion>, Invalid> {
        let received = Value::Object(std::mem::take(args));
        let mut value = received.clone();
        let coercions = coerce(&self.text, &mut value);
        let (mut found, mut more) = (Vec::new(), 0);
        for error in self.validator.iter_errors(&value) {
            if found.len() >= LISTED {
                more += 1;
                continue;
            }
            for complaint in complaints(&self.text, &error) {
                // Branches of a schema can complain of the same thing twice.
                if found.len() >= LISTED {
                    more += 1;
                } else if !found.contains(&complaint) {
                    found.push(complaint);
                }
            }
        }
        if !found.is_empty()
            && let Value::Object(original) = received
        {
            let text = cut(&Value::Object(original.clone()).to_string(), RECEIVED);
            *args = original;
            return Err(Invalid { complaints: found, more, received: text });
        }
        if let Value::Object(better) = value {
            *args = better;
        }
        Ok(coercions)
    }
}

/// Arguments that do not fit their schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the arguments do not fit the schema: {}", .complaints.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct Invalid {
    /// What is wrong, the first twenty things.
    pub complaints: Vec<Complaint>,
    /// How much else is wrong.
    pub more: usize,
    /// The arguments as they were received, cut when they are long.
    pub received: String,
}

impl Invalid {
    /// What to tell the model so that its next try works.
    pub fn for_model(&self, tool: &str) -> String {
        let mut text = format!("The arguments of {tool} do not fit its schema, so it was not run:\n");
        for complaint in &self.complaints {
            text.push_str(&format!("- {complaint}\n"));
        }
        if self.more > 0 {
            text.push_str(&format!("- and {} more\n", self.more));
        }
        text.push_str(&format!("Received: {}\nCall {tool} again with this put right.", self.received));
        text
    }
}

#[cfg(test)]
mod tests;
