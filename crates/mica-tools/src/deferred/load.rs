//! `load_tools`: tells what deferred tools do and take.

use std::fmt::Write as _;

use async_trait::async_trait;
use mica_agent::nearest::nearest;
use mica_agent::{Args, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use serde::Deserialize;
use serde_json::json;

use super::{CALL, Deferred, LOAD};
use crate::arguments::read;

/// Tools that one name with a `*` tells about. Of more, the names are told: descriptions of hundreds would fill a window.
const AT_ONCE: usize = 16;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadArgs {
    names: Vec<String>,
}

/// Tells what deferred tools do and take. It changes nothing: what it told is in the conversation.
pub struct LoadTools {
    deferred: Deferred,
    spec: ToolSpec,
}

impl LoadTools {
    /// A tool that tells about these.
    pub fn new(deferred: &Deferred) -> Self {
        let description = format!(
            "Tells what tools do and take that are listed in the prompt and not defined here: their descriptions and the \
             JSON Schemas of their arguments. Then call them with {CALL}."
        );
        let schema = json!({
            "type": "object",
            "properties": {
                "names": {
                    "type": "array",
                    "items": { "type": "string" },
                    "minItems": 1,
                    "description": "All that are needed for what is to be done.",
                },
            },
            "required": ["names"],
            "additionalProperties": false,
        });
        let mut spec = ToolSpec::new(LOAD, description, schema);
        spec.label = "Load tools".to_owned();
        Self { deferred: deferred.clone(), spec }
    }

    /// What is said of a name that is not there.
    fn unknown(&self, name: &str) -> String {
        let names = self.deferred.names();
        match nearest(name, names.iter().map(String::as_str)) {
            Some(meant) => format!("There is no tool {name:?} to load. Did you mean {meant:?}?"),
            None => {
                format!("There is no tool {name:?} to load. There are: {}.", names.join(", "))
            }
        }
    }
}

#[async_trait]
impl Tool for LoadTools {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        let mut names = read::<LoadArgs>(args)?.names;
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        let (mut text, mut loaded, mut unknown) = (String::new(), Vec::new(), Vec::new());
        for name in &names {
            let found = self.deferred.named(name.trim()).await;
            if found.is_empty() {
                unknown.push(self.unknown(name));
            }
            let (told, others) = found.split_at(found.len().min(AT_ONCE));
            for spec in told.iter().map(|tool| tool.spec()) {
                loaded.push(spec.name.clone());
                let _ = write!(
                    text,
                    "<tool name=\"{}\">\n{}\nArguments (JSON Schema): {}\n</tool>\n",
                    spec.name,
                    spec.description.trim(),
                    spec.schema
                );
            }
            if !others.is_empty() {
                let names: Vec<&str> = others.iter().map(|tool| tool.spec().name.as_str()).collect();
                let _ = writeln!(
                    text,
                    "{name} is also for these, to be loaded by their names: {}.",
                    names.join(", ")
                );
            }
        }
        if loaded.is_empty() {
            let problem =
                if unknown.is_empty() { "Say which tools to load.".to_owned() } else { unknown.join("\n") };
            return Err(ToolError::new(problem));
        }
        for problem in &unknown {
            let _ = writeln!(text, "{problem}");
        }
        let _ = write!(text, "Call them with {CALL}: {{\"name\": …, \"arguments\": {{…}}}}.");
        Ok(ToolOutput::text(text).with_details(json!({ "loaded": loaded })))
    }
}
