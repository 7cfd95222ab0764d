//! What the model is told: who it is, how to work, what is around it. The texts are in `prompt/`.

use mica_domain::{Facts, Instructions, Org, Section, Static, advice};

const IDENTITY: &str = include_str!("prompt/identity.md");
const STYLE: &str = include_str!("prompt/style.md");

/// What is the same everywhere, from the tools that are really there.
pub(crate) fn statics() -> Vec<Section<Static>> {
    vec![
        Section::<Static>::fixed("identity", IDENTITY),
        Section::<Static>::made("tools", |view| Some(advice::text(view.tools))),
        Section::<Static>::fixed("style", STYLE),
    ]
}

/// What is true of the folder.
pub(crate) fn org(facts: &Facts, instructions: &Instructions) -> Vec<Section<Org>> {
    vec![
        Section::<Org>::new("environment", facts.lasting()),
        Section::<Org>::new("instructions", instructions.text()),
    ]
}
