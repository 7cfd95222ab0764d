//! What the model is told: who it is, how to work on an integration, what Synapse does that other languages do not. The
//! texts are in `prompt/`.
//!
//! A line of a text that names a tool is said only when the tool is there, so no text can promise what is not.

use mica_domain::{Facts, Instructions, Org, Section, Static, ToolNames, advice};
use synapse_lang::model::Version;

use crate::knowledge;

const IDENTITY: &str = include_str!("prompt/identity.md");
const WORKFLOW: &str = include_str!("prompt/workflow.md");
const SYNAPSE: &str = include_str!("prompt/synapse.md");
const EXPRESSIONS: &str = include_str!("prompt/expressions.md");
const OLDER: &str = include_str!("prompt/older.md");
const CONNECTORS: &str = include_str!("prompt/connectors.md");
const DEBUGGING: &str = include_str!("prompt/debugging.md");
const REFERENCES: &str = include_str!("prompt/references.md");
const LAYOUT: &str = include_str!("prompt/layout.md");

/// What is the same everywhere, from the tools that are really there.
pub(crate) fn statics() -> Vec<Section<Static>> {
    vec![
        Section::<Static>::fixed("identity", IDENTITY),
        Section::<Static>::fixed("layout", LAYOUT),
        Section::<Static>::made("tools", |view| Some(advice::text(view.tools))),
        Section::<Static>::made("workflow", |view| writing(WORKFLOW, view.tools)),
        Section::<Static>::made("synapse", |view| writing(SYNAPSE, view.tools)),
        Section::<Static>::made("connectors", |view| writing(CONNECTORS, view.tools)),
        Section::<Static>::made("debugging", |view| writing(DEBUGGING, view.tools)),
    ]
}

/// What is true of the project.
pub(crate) fn org(
    tools: &ToolNames,
    runtime: Option<Version>,
    facts: &Facts,
    instructions: &Instructions,
) -> Vec<Section<Org>> {
    let modern = runtime.is_none_or(|version| version >= Version::EXPRESSIONS);
    let expressions = writing(if modern { EXPRESSIONS } else { OLDER }, tools);
    let mut sections = vec![
        Section::<Org>::new("environment", facts.lasting()),
        Section::<Org>::new("expressions", expressions.unwrap_or_default()),
    ];
    if tools.has("load_context_reference") {
        let text = format!("{}\n\n{}", true_lines(REFERENCES, tools), knowledge::index(runtime).trim_end());
        sections.push(Section::<Org>::new("references", text));
    }
    sections.push(Section::<Org>::new("instructions", instructions.text()));
    sections
}

/// A text for those who write. Those who only look need not know how to.
fn writing(text: &str, tools: &ToolNames) -> Option<String> {
    let writes = tools.has("file_write") || tools.has("file_edit");
    writes.then(|| true_lines(text, tools))
}

/// The lines of a text that name no tool that is missing. Tools are named as `[[name]]`.
fn true_lines(text: &str, tools: &ToolNames) -> String {
    let lines = text.lines().filter(|line| named(line).all(|name| tools.has(name)));
    lines.collect::<Vec<_>>().join("\n").replace("[[", "`").replace("]]", "`")
}

/// The tools that a line names.
fn named(line: &str) -> impl Iterator<Item = &str> {
    line.split("[[").skip(1).filter_map(|rest| rest.split_once("]]")).map(|(name, _)| name)
}

#[cfg(test)]
mod tests;
