//! The default domain: a small coding agent for any folder.
//!
//! It must not know: other packs, user interfaces, hosts. It reads no environment, no home folder and no clock.
//!
//! Its noun: a [`CodePack`] is the domain.
//!
//! ```
//! use mica_domain::{Domain, DomainHooks, Facts, Instructions, Prompt, Surroundings};
//! use mica_tools::{Sight, Workspace};
//! use pack_code::CodePack;
//! use std::sync::Arc;
//!
//! let workspace = Workspace::new(".").unwrap();
//! let pack = Arc::new(CodePack::new(&workspace, Sight::Blind, Facts::default(), Instructions::default()));
//! let hooks = DomainHooks::new(pack.clone(), &Surroundings::default());
//! let tools = hooks.resolve(&|_| true)?;
//! let prompt = Prompt::of(&*pack, &tools, &hooks.snapshot())?;
//! assert!(prompt.system()[0].starts_with("You are mica"));
//! # Ok::<(), mica_domain::DomainError>(())
//! ```

mod prompt;

use std::path::Path;

use mica_domain::{
    Capability, Confidence, Domain, Facts, Instructions, Page, Section, State, Surroundings, Tier, ToolNames,
    editor,
};
use mica_tools::{Sight, Workspace, file_tools};

/// The coding agent.
pub struct CodePack {
    capabilities: Vec<Capability>,
    facts: Facts,
    instructions: Instructions,
}

impl CodePack {
    /// The name of the pack.
    pub const NAME: &str = "code";

    /// A coding agent for a workspace.
    pub fn new(workspace: &Workspace, sight: Sight, facts: Facts, instructions: Instructions) -> Self {
        let summary = "reads, searches and changes the files of the project";
        let files = Capability::new(Page::Global, summary, file_tools(workspace, sight));
        Self { capabilities: vec![files], facts, instructions }
    }

    /// With more that it can do: what depends on where the agent runs, such as commands.
    #[must_use]
    pub fn with(mut self, more: impl IntoIterator<Item = Capability>) -> Self {
        self.capabilities.extend(more);
        self
    }
}

impl Domain for CodePack {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn detect(&self, folder: &Path) -> Option<Confidence> {
        folder.is_dir().then_some(Confidence::Fallback)
    }

    fn capabilities(&self) -> Vec<Capability> {
        self.capabilities.clone()
    }

    fn sections(&self, tools: &ToolNames, _: &State) -> Vec<Section> {
        prompt::sections(tools, &self.facts, &self.instructions)
    }

    fn turn(&self, tools: &ToolNames, state: &State) -> Vec<Section> {
        let mut sections = self.sections(tools, state);
        sections.retain(|section| section.tier == Tier::Turn);
        // Not among the sections, whose words are held to the tools that are there: these are the user's.
        sections.push(editor::section(state));
        sections
    }

    fn apply_context(&self, state: &mut State, surroundings: &Surroundings) {
        if surroundings.page.is_some() {
            state.page.clone_from(&surroundings.page);
        }
        editor::keep(state, surroundings);
    }
}
