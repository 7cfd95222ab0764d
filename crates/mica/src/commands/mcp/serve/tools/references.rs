//! `list_references`, `load_references` and `search_references`: what the agent of mica reads.

use pack_mi::knowledge::tools::shown;
use pack_mi::knowledge::{Index, Library, SearchLimits, index};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::commands::knowledge::{as_json, found};
use crate::commands::mcp::serve::answer::{Answer, Offered, Refusal};
use crate::commands::mcp::serve::site::Site;

/// References of one call at most.
const MOST: usize = 12;

/// Which runtime.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListInput {
    /// Only what is true for this runtime, for example 4.4.0. Left out: what the project says, else all.
    runtime: Option<String>,
}

/// All references.
#[derive(Debug, Serialize, JsonSchema)]
struct ListOutput {
    /// name, title, description, tokens, minRuntime, maxRuntime, aliases, and sections with the same.
    references: Vec<Value>,
}

/// What to load.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LoadInput {
    /// Names of references, each alone for all of it or with a section: "synapse-expression-spec:type_coercion".
    names: Vec<String>,
    /// The runtime, for example 4.4.0. Left out: what the project says.
    runtime: Option<String>,
}

/// What was loaded.
#[derive(Debug, Serialize, JsonSchema)]
struct LoadOutput {
    /// The text, as Markdown.
    text: String,
    /// What is in it.
    given: Vec<String>,
    tokens: u64,
    /// What is not in it, and why.
    errors: Vec<String>,
}

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchInput {
    /// Identifiers, operators, messages or words: "integer + double", "SC_ACCEPTED", "foreach counter-variable".
    query: String,
    /// Hits at most; 8 when left out.
    limit: Option<usize>,
    /// The runtime, for example 4.4.0. Left out: what the project says.
    runtime: Option<String>,
}

/// What fits.
#[derive(Debug, Serialize, JsonSchema)]
struct SearchOutput {
    /// selector (what `load_references` takes), reference, section, under, header, text and score of each.
    hits: Vec<Value>,
    /// Rows that fit less well.
    more: u64,
}

/// The tool that lists.
pub fn list() -> Offered {
    Offered::new(
        "list_references",
        "List references",
        "Lists the reference documents on Synapse and Micro Integrator, with their sections and what they cost in tokens.",
        |site, input: &ListInput| {
            let version = site.runtime(input.runtime.as_deref())?;
            let fits = |one: &&pack_mi::knowledge::Reference| {
                version.is_none_or(|version| one.runtimes.has(version))
            };
            let references = Library::builtin().references().iter().filter(fits).map(as_json).collect();
            Ok(Answer { text: index(version).trim_end().to_owned(), data: ListOutput { references } })
        },
    )
}

/// The tool that loads.
pub fn load() -> Offered {
    Offered::new(
        "load_references",
        "Read references",
        "Loads reference documents on Synapse and Micro Integrator, or single sections of them. Ask for sections when you know \
         which one you need: a whole document takes 3,000 to 6,000 tokens, a section a few hundred. Their examples are verified; \
         prefer them to what you remember.",
        give,
    )
}

fn give(site: &Site, input: &LoadInput) -> Result<Answer<LoadOutput>, Refusal> {
    if input.names.len() > MOST {
        let count = input.names.len();
        return Err(Refusal::new(format!(
            "{count} references in one call are too many; ask for at most {MOST}."
        )));
    }
    let version = site.runtime(input.runtime.as_deref())?;
    let loaded = Library::builtin().load(&input.names, version).map_err(|errors| {
        Refusal::new(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })?;
    let errors = loaded.errors.iter().map(ToString::to_string).collect();
    let data = LoadOutput { text: loaded.text.clone(), given: loaded.given, tokens: loaded.tokens, errors };
    Ok(Answer { text: loaded.text, data })
}

/// The tool that searches.
pub fn search() -> Offered {
    Offered::new(
        "search_references",
        "Search references",
        "Searches the reference documents on Synapse and Micro Integrator by words and gives the rows that fit: a row of a table \
         with its header, an item, an example, each with the section it is from. The cheapest way to look up one attribute, \
         function, property, operator or error message.",
        look,
    )
}

fn look(site: &Site, input: &SearchInput) -> Result<Answer<SearchOutput>, Refusal> {
    if input.query.trim().is_empty() {
        return Err(Refusal::new("The query is empty. Give identifiers, operators or words to look for."));
    }
    let version = site.runtime(input.runtime.as_deref())?;
    let limits = input.limit.map_or_else(SearchLimits::default, SearchLimits::of_hits);
    let hits = Index::builtin().search(&input.query, version, limits);
    let text = shown(&input.query, &hits);
    let mut data = found(&input.query, &hits);
    let listed = data.get_mut("hits").and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default();
    let more = data.get("more").and_then(Value::as_u64).unwrap_or_default();
    Ok(Answer { text, data: SearchOutput { hits: listed, more } })
}
