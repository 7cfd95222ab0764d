//! Schemas that would fail every call, found when tools are registered and not when they are called.

use std::fmt;

use mica_agent::{ToolSet, ToolSpec};
use serde_json::Value;

use super::Schema;
use super::kinds::required;

/// What is wrong with the schema of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaProblem {
    /// The tool.
    pub tool: String,
    /// What is wrong, and where.
    pub message: String,
}

impl fmt::Display for SchemaProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.tool, self.message)
    }
}

/// All that is wrong with the schemas of a tool set, by tool.
pub fn check_tools(tools: &ToolSet) -> Vec<SchemaProblem> {
    tools.iter().flat_map(|tool| check_spec(tool.spec())).collect()
}

/// All that is wrong with the schema of one tool.
pub fn check_spec(spec: &ToolSpec) -> Vec<SchemaProblem> {
    let problem = |message: String| SchemaProblem { tool: spec.name.clone(), message };
    let mut problems = Vec::new();
    if let Err(bad) = Schema::compile(&spec.schema) {
        problems.push(problem(bad.to_string()));
    }
    let Some(schema) = spec.schema.as_object() else {
        problems.push(problem("the schema must be an object, because arguments are".to_owned()));
        return problems;
    };
    // Providers refuse a tool whose schema does not say that it takes an object.
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        problems.push(problem("the schema must have \"type\": \"object\" at its root".to_owned()));
    }
    let known = schema.get("properties").and_then(Value::as_object);
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    for name in required(schema) {
        if closed && known.is_none_or(|known| !known.contains_key(name)) {
            let message =
                format!("{name:?} is required, but no property and others are not allowed: no call can fit");
            problems.push(problem(message));
        }
    }
    problems
}
