//! What the model is told: who it is, how to work on an integration, what Synapse does that other languages do not. The
//! texts are in `prompt/`.
//!
//! A line of a text that names a tool is said only when the tool is there, so no text can promise what is not.

use mica_domain::{Facts, Instructions, Section, Tier, ToolNames, advice};
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

/// The sections, from the tools that are really there.
pub(crate) fn sections(
    tools: &ToolNames,
    runtime: Option<Version>,
    facts: &Facts,
    instructions: &Instructions,
) -> Vec<Section> {
    let writes = tools.has("file_write") || tools.has("file_edit");
    let modern = runtime.is_none_or(|version| version >= Version::EXPRESSIONS);
    let mut sections = vec![
        Section::new("identity", Tier::Static, IDENTITY),
        Section::new("layout", Tier::Static, LAYOUT),
        Section::new("tools", Tier::Static, advice::text(tools)),
        Section::new("environment", Tier::Org, facts.lasting()),
    ];
    // Those who only look need not know how to write.
    if writes {
        sections.extend([
            Section::new("workflow", Tier::Static, true_lines(WORKFLOW, tools)),
            Section::new("synapse", Tier::Static, true_lines(SYNAPSE, tools)),
            Section::new("connectors", Tier::Static, true_lines(CONNECTORS, tools)),
            Section::new("debugging", Tier::Static, true_lines(DEBUGGING, tools)),
            Section::new(
                "expressions",
                Tier::Org,
                true_lines(if modern { EXPRESSIONS } else { OLDER }, tools),
            ),
        ]);
    }
    if tools.has("load_context_reference") {
        let text = format!("{}\n\n{}", true_lines(REFERENCES, tools), knowledge::index(runtime).trim_end());
        sections.push(Section::new("references", Tier::Org, text));
    }
    sections.push(Section::new("instructions", Tier::Org, instructions.text()));
    sections
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
