//! `load_context_reference`: gives references, or sections of them.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::typed::schema_of;
use mica_agent::{Args, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::RuntimeVersion;
use crate::knowledge::Library;

/// The name models call it by.
pub(super) const NAME: &str = "load_context_reference";

/// Selectors of one call at most; more than fits into one answer anyway.
const MOST: usize = 12;

/// What to load.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LoadArgs {
    /// Names of references, each alone for all of it or with a section: "synapse-expression-spec:type_coercion".
    names: Vec<String>,
}

/// Gives references.
pub struct LoadContextReference {
    version: RuntimeVersion,
    spec: ToolSpec,
}

impl LoadContextReference {
    /// For a project whose runtime is told by `version`.
    #[must_use]
    pub fn new(version: RuntimeVersion) -> Self {
        let description = "Loads reference documents on Synapse and Micro Integrator, or single sections of them. Ask for \
                           sections when you know which one you need: a whole document takes 3,000 to 6,000 tokens, a \
                           section a few hundred. Their examples are verified; prefer them to what you remember.";
        let mut spec = ToolSpec::new(NAME, description, schema_of::<LoadArgs>());
        spec.label = "Read reference".to_owned();
        Self { version, spec }
    }
}

#[async_trait]
impl Tool for LoadContextReference {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        let names = names(args)?;
        if names.len() > MOST {
            let message =
                format!("{} references in one call are too many; ask for at most {MOST}.", names.len());
            return Err(ToolError::new(message));
        }
        let version = Arc::clone(&self.version);
        // The runtime is read from a file, and the first call reads all documents.
        let loading = tokio::task::spawn_blocking(move || Library::builtin().load(&names, version()));
        let loaded = loading.await.map_err(|error| ToolError::new(format!("The tool broke: {error}.")))?;
        let loaded = loaded.map_err(|errors| {
            ToolError::new(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
        })?;
        let text = format!("{}[{} tokens]", loaded.text, loaded.tokens);
        Ok(ToolOutput::text(text).with_details(json!({ "given": loaded.given, "tokens": loaded.tokens })))
    }
}

/// The names that were asked for. Models give one name as a text, several with commas, or under a name that they know
/// from elsewhere; what they mean is plain.
fn names(mut args: Args) -> Result<Vec<String>, ToolError> {
    for other in ["name", "context_name", "reference"] {
        if !args.contains_key("names")
            && let Some(value) = args.remove(other)
        {
            args.insert("names".to_owned(), value);
        }
    }
    if let Some(Value::String(text)) = args.get("names") {
        let list: Vec<&str> = text.split([',', '\n']).map(str::trim).filter(|one| !one.is_empty()).collect();
        let list = json!(list);
        args.insert("names".to_owned(), list);
    }
    let read: Result<LoadArgs, _> = serde_json::from_value(Value::Object(args));
    read.map(|args| args.names).map_err(|error| {
        ToolError::new(format!("The arguments do not fit the tool: {error}. Give names as a list of texts."))
    })
}
