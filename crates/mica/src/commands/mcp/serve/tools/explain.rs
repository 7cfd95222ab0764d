//! `explain_finding`: the page of a code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use synapse_lang::pages;

use crate::commands::explain::unknown;
use crate::commands::mcp::serve::answer::{Answer, Offered, Refusal};
use crate::commands::mcp::serve::resources;
use crate::commands::mcp::serve::site::Site;

/// What to explain.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The code or the name of a finding: SYN0201, 201 or bare-expression.
    code: String,
}

/// What it means.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    code: String,
    name: String,
    title: String,
    severity: &'static str,
    /// What the runtime does with it.
    class: String,
    /// The page, as Markdown, with a bad and a good example.
    page: String,
    uri: String,
}

/// The tool.
pub fn tool() -> Offered {
    Offered::new(
        "explain_finding",
        "Explain a finding",
        "Explains a finding of `check` by its code: what it means, what the runtime does, and a bad and a good example.",
        run,
    )
}

fn run(_: &Site, input: &Input) -> Result<Answer<Output>, Refusal> {
    let Some(page) = pages::find(&input.code) else {
        let text = unknown(&input.code).to_string();
        return Err(Refusal::new(text.replace(" `mica explain --list` lists all", "")));
    };
    let text = resources::finding_page(page);
    let data = Output {
        code: page.code.to_string(),
        name: page.name.to_owned(),
        title: page.title.to_owned(),
        severity: page.severity.word(),
        class: page.class.word().to_uppercase(),
        page: text.clone(),
        uri: resources::finding_uri(page),
    };
    Ok(Answer { text, data })
}
