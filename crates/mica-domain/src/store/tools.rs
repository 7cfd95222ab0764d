//! The tool with which a model keeps something for later.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::tool::{Access, Effect};
use mica_agent::{Args, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use serde_json::{Value, json};

use super::Store;
use super::path::is_name;
use super::reference::Reference;
use crate::plan::VARIABLE;

/// Its name.
pub const SET_VARIABLE: &str = "set_variable";

/// A tool that sets a variable of the session. A product puts it among its own; it works wherever tools are
/// [`equipped`](super::equipped).
pub fn set_variable() -> Arc<dyn Tool> {
    let mut spec = ToolSpec::new(
        SET_VARIABLE,
        "Keeps a value for the rest of the conversation under a name, as var:NAME. What had that name is replaced. Use it for \
         what later steps or later messages need, such as a decision of the user.",
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["name", "value"],
            "properties": {
                "name": { "type": "string", "description": "A letter or _, then letters, digits, _ and -." },
                "value": { "description": "Any value." },
            },
        }),
    );
    spec.label = "Remember".to_owned();
    spec.access = Access::Write;
    spec.effect = Effect::Idempotent;
    Arc::new(SetVariable(spec))
}

/// What a tool says that was not given a store.
pub(crate) const NO_STORE: &str = "Nothing can be kept here: this conversation has no store.";

struct SetVariable(ToolSpec);

#[async_trait]
impl Tool for SetVariable {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, mut args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        let store = Store::here().ok_or_else(|| ToolError::new(NO_STORE))?;
        let name = args.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let name = name.strip_prefix("var:").unwrap_or(&name).to_owned();
        if !is_name(&name) {
            return Err(ToolError::new(format!(
                "{name:?} is no name for a variable: use a letter or _, then letters, digits, _ and -."
            )));
        }
        if name == VARIABLE {
            return Err(ToolError::new(
                "var:plan belongs to the plan: it changes with the tools for plans only.",
            ));
        }
        let value = args.remove("value").unwrap_or(Value::Null);
        let kept = store.write(&Reference::var(&name), value.clone()).await;
        kept.map_err(|error| ToolError::new(error.for_model()))?;
        let details = json!({ "variable": { "name": name, "value": value } });
        Ok(ToolOutput::text(format!("Kept as var:{name}.")).with_details(details))
    }
}

#[cfg(test)]
mod tests;
