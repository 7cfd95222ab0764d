//! `call_tool`: calls a tool that is not among those that the model is sent.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Access, Args, Effect, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use serde_json::{Value, json};

use super::{CALL, Deferred, LOAD};

/// Calls deferred tools. It does nothing itself: what it is called with stands for another call.
pub struct CallTool {
    deferred: Deferred,
    spec: ToolSpec,
}

impl CallTool {
    /// A tool that calls these.
    pub fn new(deferred: &Deferred) -> Self {
        let description = format!(
            "Calls one of the tools that are listed in the prompt and not defined here. {LOAD} tells what they take; what \
             does not fit is answered with it, too. A call is the same as if the tool were called itself."
        );
        let schema = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "description": "The name of the tool." },
                "arguments": {
                    "type": "object",
                    "description": "What that tool takes.",
                    "additionalProperties": true,
                },
            },
            "required": ["name", "arguments"],
            "additionalProperties": false,
        });
        let mut spec = ToolSpec::new(CALL, description, schema);
        spec.label = "Call".to_owned();
        // Nothing goes by these, because what is called has its own. For whoever looks all the same, it may be anything.
        spec.access = Access::Write;
        spec.effect = Effect::Unsafe;
        Self { deferred: deferred.clone(), spec }
    }
}

#[async_trait]
impl Tool for CallTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn behind(&self) -> Arc<[Arc<dyn Tool>]> {
        self.deferred.now()
    }

    fn stands_for(&self, args: &Args) -> Option<Result<(String, Args), ToolError>> {
        Some(inner(args))
    }

    async fn call(&self, _: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        Err(ToolError::new(format!("{CALL} does nothing itself. Nothing was done.")))
    }
}

/// The name and the arguments of the tool that a call is for. Models write the arguments as text, leave them out when there
/// are none, or write them beside the name: all of it is plain.
pub(super) fn inner(args: &Args) -> Result<(String, Args), ToolError> {
    let wrong = |what: String| Err(ToolError::new(format!("{what} Nothing was done.")));
    let Some(Value::String(name)) = args.get("name") else {
        return wrong(format!("{CALL} needs the `name` of a tool and its `arguments`."));
    };
    let beside = || args.iter().filter(|(key, _)| !["name", "arguments"].contains(&key.as_str()));
    let inner = match args.get("arguments") {
        None | Some(Value::Null) => beside().map(|(key, value)| (key.clone(), value.clone())).collect(),
        Some(_) if beside().next().is_some() => {
            let names: Vec<&str> = beside().map(|(key, _)| key.as_str()).collect();
            return wrong(format!(
                "{CALL} takes `name` and `arguments`; put {} into the arguments.",
                names.join(", ")
            ));
        }
        Some(Value::Object(inner)) => inner.clone(),
        Some(Value::String(text)) if text.trim().is_empty() => Args::new(),
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Object(inner)) => inner,
            _ => return wrong(format!("The `arguments` of {name} are a text that is no JSON object.")),
        },
        Some(_) => return wrong(format!("The `arguments` of {name} are no object.")),
    };
    Ok((name.trim().to_owned(), inner))
}
