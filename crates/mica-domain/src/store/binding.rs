//! Bindings: arguments of tools that are not the model's to choose.
//!
//! What is bound stays in the schema, with a note, so that the model knows of it; what it writes there is not used. A
//! binding counts wherever a call passes the gate: in a run, before a person is asked, when a person has answered (also with
//! other arguments), and when a call is captured.

use std::collections::BTreeMap;

use mica_agent::{Args, ToolSpec};
use mica_ai::request::Strictness;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Store;
use super::error::StoreError;
use super::reference::Reference;
use crate::resolve::arguments;

/// What an argument is bound to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Always this.
    Constant(Value),
    /// What a reference stands for when the tool is called. When it stands for nothing, the argument is left out: a tool
    /// that needs it is not called.
    Ref(Reference),
    /// Nothing: it is left to the model. Takes back what was said before.
    Model,
}

/// An argument, and what it is bound to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    /// The tool.
    pub tool: String,
    /// Its argument.
    pub argument: String,
    /// What it is bound to.
    pub to: Bound,
}

impl Binding {
    /// Always this.
    pub fn constant(tool: impl Into<String>, argument: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { tool: tool.into(), argument: argument.into(), to: Bound::Constant(value.into()) }
    }

    /// What a reference stands for.
    pub fn reference(tool: impl Into<String>, argument: impl Into<String>, to: Reference) -> Self {
        Self { tool: tool.into(), argument: argument.into(), to: Bound::Ref(to) }
    }

    /// Left to the model.
    pub fn model(tool: impl Into<String>, argument: impl Into<String>) -> Self {
        Self { tool: tool.into(), argument: argument.into(), to: Bound::Model }
    }
}

/// What arguments of tools are bound to. What is said later counts: a product's own first, an administrator's over it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bindings {
    by_tool: BTreeMap<String, BTreeMap<String, Bound>>,
}

impl Bindings {
    /// Lays bindings over these.
    #[must_use]
    pub fn over(mut self, bindings: impl IntoIterator<Item = Binding>) -> Self {
        for Binding { tool, argument, to } in bindings {
            self.by_tool.entry(tool).or_default().insert(argument, to);
        }
        self
    }

    /// Whether nothing is bound.
    pub fn is_empty(&self) -> bool {
        self.of_all().next().is_none()
    }

    fn of_all(&self) -> impl Iterator<Item = (&str, &str, &Bound)> {
        let all = self.by_tool.iter().flat_map(|(tool, bound)| {
            bound.iter().map(move |(argument, to)| (tool.as_str(), argument.as_str(), to))
        });
        all.filter(|(.., to)| **to != Bound::Model)
    }

    fn of<'a>(&'a self, tool: &str) -> impl Iterator<Item = (&'a str, &'a Bound)> {
        let bound = self.by_tool.get(tool).into_iter().flatten();
        bound.map(|(argument, to)| (argument.as_str(), to)).filter(|(_, to)| **to != Bound::Model)
    }

    /// Whether all that is bound is there.
    ///
    /// # Errors
    /// [`StoreError::NoSuchArgument`] for the first that is not.
    pub fn check<'a>(&self, tools: impl IntoIterator<Item = &'a ToolSpec>) -> Result<(), StoreError> {
        let declared: Vec<(&str, Vec<&str>)> =
            tools.into_iter().map(|spec| (spec.name.as_str(), arguments(spec).collect())).collect();
        let is_there = |tool: &str, argument: &str| {
            declared.iter().any(|(name, arguments)| *name == tool && arguments.contains(&argument))
        };
        match self.of_all().find(|(tool, argument, _)| !is_there(tool, argument)) {
            None => Ok(()),
            Some((tool, argument, _)) => {
                Err(StoreError::NoSuchArgument { tool: tool.to_owned(), argument: argument.to_owned() })
            }
        }
    }

    /// A tool as the model sees it with what is bound. `None`: as it is.
    pub fn shaped(&self, spec: &ToolSpec) -> Option<ToolSpec> {
        let bound: Vec<(&str, &Bound)> = self
            .of(&spec.name)
            .filter(|(argument, _)| arguments(spec).any(|known| known == *argument))
            .collect();
        if bound.is_empty() {
            return None;
        }
        let mut shaped = spec.clone();
        for (argument, to) in bound {
            let note = match to {
                Bound::Constant(_) => {
                    "Set for you: leave it out. What is written here is not used.".to_owned()
                }
                Bound::Ref(reference) => {
                    format!("Filled in from {reference}: leave it out. What is written here is not used.")
                }
                Bound::Model => continue,
            };
            let property = &mut shaped.schema["properties"][argument];
            match property {
                Value::Object(members) => {
                    let before = members.get("description").and_then(Value::as_str).map(str::to_owned);
                    let text = before.map_or(note.clone(), |before| format!("{before} {note}"));
                    members.insert("description".to_owned(), text.into());
                }
                other => *other = json!({ "description": note }),
            }
            if let (Bound::Constant(_), Some(required)) = (to, shaped.schema["required"].as_array_mut()) {
                required.retain(|name| name != argument);
                // Providers that hold a model to a schema want all of it required.
                shaped.strictness = Strictness::Guide;
            }
        }
        Some(shaped)
    }
}

impl Store {
    /// Puts what is bound into the arguments of a call.
    ///
    /// # Errors
    /// For the model, when an argument that the tool needs is bound to something that is not there.
    pub(crate) fn bind(&self, spec: &ToolSpec, args: &mut Args) -> Result<(), String> {
        let declared: Vec<&str> = arguments(spec).collect();
        for (argument, to) in self.given().bindings.of(&spec.name) {
            if !declared.contains(&argument) {
                continue;
            }
            match to {
                Bound::Constant(value) => drop(args.insert(argument.to_owned(), value.clone())),
                Bound::Ref(reference) => match self.read(reference) {
                    Ok(value) => drop(args.insert(argument.to_owned(), value)),
                    Err(error) => {
                        args.remove(argument);
                        let required = spec.schema["required"].as_array();
                        if required.is_some_and(|names| names.iter().any(|name| name == argument)) {
                            return Err(format!(
                                "{} was not run: {argument} is required, and is filled in from {reference}. {} Do first what gives it \
                                 a value, then call {} again.",
                                spec.name,
                                error.for_model(),
                                spec.name
                            ));
                        }
                    }
                },
                Bound::Model => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
