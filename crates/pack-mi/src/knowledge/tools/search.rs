//! `search_references`: gives the rows of the references that answer a question.

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::typed::schema_of;
use mica_agent::{Args, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::RuntimeVersion;
use crate::knowledge::search::{Hit, Hits, Index, SearchLimits};

/// The name models call it by.
pub(super) const NAME: &str = "search_references";

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchArgs {
    /// Identifiers, operators, messages or words: "integer + double", "SC_ACCEPTED", "foreach counter-variable".
    query: String,
    /// Hits at most; 8 when left out.
    limit: Option<usize>,
}

/// Searches the references.
pub struct SearchReferences {
    version: RuntimeVersion,
    spec: ToolSpec,
}

impl SearchReferences {
    /// For a project whose runtime is told by `version`.
    #[must_use]
    pub fn new(version: RuntimeVersion) -> Self {
        let description = "Searches the reference documents on Synapse and Micro Integrator by words and gives the rows that \
                           fit: a row of a table with its header, an item, an example, each with the section it is from. \
                           The cheapest way to look up one attribute, function, property, operator or error message.";
        let mut spec = ToolSpec::new(NAME, description, schema_of::<SearchArgs>());
        spec.label = "Search references".to_owned();
        Self { version, spec }
    }
}

#[async_trait]
impl Tool for SearchReferences {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: SearchArgs = serde_json::from_value(Value::Object(args))
            .map_err(|error| ToolError::new(format!("The arguments do not fit the tool: {error}.")))?;
        if args.query.trim().is_empty() {
            return Err(ToolError::new(
                "The query is empty. Give identifiers, operators or words to look for.",
            ));
        }
        let limits = args.limit.map_or_else(SearchLimits::default, SearchLimits::of_hits);
        let version = Arc::clone(&self.version);
        let query = args.query.clone();
        // The runtime is read from a file, and the first call makes the index.
        let searching =
            tokio::task::spawn_blocking(move || Index::builtin().search(&query, version(), limits));
        let hits = searching.await.map_err(|error| ToolError::new(format!("The tool broke: {error}.")))?;
        let text = shown(&args.query, &hits);
        let found: Vec<String> = hits.hits.iter().map(Hit::selector).collect();
        Ok(ToolOutput::text(text).with_details(json!({ "found": found })))
    }
}

/// The hits as text, as models read them. A place or a header that the hit before has too is not repeated.
pub fn shown(query: &str, hits: &Hits) -> String {
    let mut out = String::new();
    let mut before: Option<&Hit> = None;
    for hit in &hits.hits {
        let same = before.filter(|before| before.selector() == hit.selector() && before.under == hit.under);
        if same.is_none() {
            let under =
                if hit.under.is_empty() { String::new() } else { format!(" > {}", hit.under.join(" > ")) };
            let _ = writeln!(out, "[{}{under}]", hit.selector());
        }
        if same.is_none_or(|before| before.header != hit.header) {
            out.push_str(&hit.header);
        }
        let _ = writeln!(out, "{}", hit.text);
        before = Some(hit);
    }
    if hits.hits.is_empty() {
        let _ = write!(out, "[nothing in the references fits {query:?}");
        if hits.other_runtimes > 0 {
            let _ = write!(out, " for this project's runtime; {} rows are about others", hits.other_runtimes);
        }
        out.push_str("; try other words, or load a reference]\n");
    } else if hits.more > 0 {
        let _ = writeln!(out, "[{} more rows fit less well; load a section for all of it]", hits.more);
    }
    let tokens = mica_context::tokens::of_text(&out);
    let _ = write!(out, "[{tokens} tokens]");
    out
}
