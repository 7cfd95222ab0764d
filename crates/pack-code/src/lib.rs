//! The default domain: a small coding agent for any folder.
//!
//! It must not know: other packs, user interfaces, hosts. It reads no environment, no home folder and no clock.
//!
//! Its noun: a [`CodePack`] is the domain.
//!
//! ```
//! use mica_domain::{DomainHooks, Facts, Instructions, Surroundings};
//! use mica_tools::{Sight, Workspace};
//! use pack_code::CodePack;
//! use std::sync::Arc;
//!
//! let workspace = Workspace::new(".").unwrap();
//! let pack = Arc::new(CodePack::new(&workspace, Sight::Blind, Facts::default(), Instructions::default()));
//! let hooks = DomainHooks::new(pack, &Surroundings::default());
//! let tools = hooks.resolve(&|_| true)?;
//! let prompt = hooks.prompt(&tools)?;
//! assert!(prompt.system()[0].starts_with("You are mica"));
//! # Ok::<(), mica_domain::DomainError>(())
//! ```

mod prompt;

use std::path::Path;

use mica_domain::{
    Capability, Confidence, Domain, Facts, Instructions, Org, OrgView, Page, Section, State, Static,
    Surroundings, Turn, TurnView, editor,
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

    fn statics(&self) -> Vec<Section<Static>> {
        prompt::statics()
    }

    fn org(&self, _: &OrgView<'_>) -> Vec<Section<Org>> {
        prompt::org(&self.facts, &self.instructions)
    }

    fn turn(&self, view: &TurnView<'_>) -> Vec<Section<Turn>> {
        let now = self.facts.passing().map(|text| Section::<Turn>::new("now", text));
        now.into_iter().chain([editor::section(view.state)]).collect()
    }

    fn apply_context(&self, state: &mut State, surroundings: &Surroundings) {
        state.page.clone_from(&surroundings.page);
        state.refs.clone_from(&surroundings.refs);
        editor::keep(state, surroundings);
    }
}
