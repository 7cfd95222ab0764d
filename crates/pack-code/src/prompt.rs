//! What the model is told: who it is, how to work, what is around it. The texts are in `prompt/`.

use mica_domain::{Facts, Instructions, Section, Tier, ToolNames, advice};

const IDENTITY: &str = include_str!("prompt/identity.md");
const STYLE: &str = include_str!("prompt/style.md");

/// The sections, from the tools that are really there.
pub(crate) fn sections(tools: &ToolNames, facts: &Facts, instructions: &Instructions) -> Vec<Section> {
    let mut sections = vec![
        Section::new("identity", Tier::Static, IDENTITY),
        Section::new("tools", Tier::Static, advice::text(tools)),
        Section::new("style", Tier::Static, STYLE),
        Section::new("environment", Tier::Org, facts.lasting()),
        Section::new("instructions", Tier::Org, instructions.text()),
    ];
    sections.extend(facts.passing().map(|text| Section::new("now", Tier::Turn, text)));
    sections
}
