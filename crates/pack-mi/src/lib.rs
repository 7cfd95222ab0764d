//! The domain of WSO2 Micro Integrator: an agent that knows Synapse, and checks what it writes.
//!
//! It must not know: other packs, user interfaces, hosts. It reads no environment, no home folder and no clock.
//!
//! Its nouns: an [`MiPack`] is the domain, a [`Checker`] knows the project as it is on disk, and [`knowledge`] is what it
//! can look up.
//!
//! ```
//! use mica_domain::{DomainHooks, Facts, Instructions, Surroundings};
//! use mica_tools::{Sight, Workspace};
//! use pack_mi::{Checker, MiPack};
//! use std::sync::Arc;
//!
//! let workspace = Workspace::new(".").unwrap();
//! let checker = Checker::new(workspace.root());
//! let pack = MiPack::new(&workspace, Sight::Blind, Facts::default(), Instructions::default(), checker);
//! let hooks = DomainHooks::new(Arc::new(pack), &Surroundings::default());
//! let tools = hooks.resolve(&|_| true)?;
//! let prompt = hooks.prompt(&tools)?;
//! assert!(prompt.system()[0].starts_with("You are mica"));
//! # Ok::<(), mica_domain::DomainError>(())
//! ```

pub mod apply_code_action;
pub mod checking;
pub mod connectors;
mod context;
pub mod datamapper;
pub mod knowledge;
pub mod pom;
pub mod project;
mod prompt;
pub mod runtime;
pub mod scaffold;
pub mod second_opinion;
pub mod validate_code;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::Tool;
use mica_domain::{
    Capability, Confidence, Domain, Facts, Instructions, Org, OrgView, Page, Remark, Section, State, Static,
    Surroundings, Turn, TurnView, editor,
};
use mica_tools::{Sight, Workspace, file_tools};
use synapse_lang::project::disk;

pub use apply_code_action::ApplyCodeAction;
pub use checking::Checker;
pub use second_opinion::SecondOpinion;
pub use validate_code::ValidateCode;

use checking::Report;

/// The agent for Micro Integrator projects.
pub struct MiPack {
    capabilities: Vec<Capability>,
    facts: Facts,
    instructions: Instructions,
    checker: Checker,
    second: Option<SecondOpinion>,
}

impl MiPack {
    /// The name of the pack.
    pub const NAME: &str = "mi";

    /// The kinds of subagents that it brings.
    pub const PROFILES: &str = include_str!("profiles.toml");

    /// An agent for a workspace. The checker is of the same folder.
    pub fn new(
        workspace: &Workspace,
        sight: Sight,
        facts: Facts,
        instructions: Instructions,
        checker: Checker,
    ) -> Self {
        let files = file_tools(workspace, sight);
        let checks: Vec<Arc<dyn Tool>> = vec![
            Arc::new(ValidateCode::new(workspace, &checker)),
            Arc::new(ApplyCodeAction::new(workspace, &checker)),
        ];
        let runtime = checker.clone();
        let references = knowledge::tools(Arc::new(move || runtime.runtime()));
        let capabilities = vec![
            Capability::new(Page::Global, "reads, searches and changes the files of the project", files),
            Capability::new(Page::Global, "looks up Synapse and Micro Integrator in references", references),
            Capability::new(Page::Global, "checks Synapse artifacts and repairs them", checks),
        ];
        Self { capabilities, facts, instructions, checker, second: None }
    }

    /// With more that it can do: what depends on where the agent runs.
    #[must_use]
    pub fn with(mut self, more: impl IntoIterator<Item = Capability>) -> Self {
        self.capabilities.extend(more);
        self
    }

    /// With another language server that is asked about what was written.
    #[must_use]
    pub fn with_second_opinion(mut self, second: Option<SecondOpinion>) -> Self {
        self.second = second;
        self
    }

    /// Whether a folder is, or lies in, or holds a project of this domain.
    #[must_use]
    pub fn claims(folder: &Path) -> Option<Confidence> {
        if disk::root_of(folder).is_some() {
            return Some(Confidence::Certain);
        }
        (!Checker::new(folder).roots_below().is_empty()).then_some(Confidence::Likely)
    }
}

#[async_trait]
impl Domain for MiPack {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn detect(&self, folder: &Path) -> Option<Confidence> {
        Self::claims(folder)
    }

    fn capabilities(&self) -> Vec<Capability> {
        self.capabilities.clone()
    }

    fn subagent_profiles(&self) -> Option<&str> {
        Some(Self::PROFILES)
    }

    fn statics(&self) -> Vec<Section<Static>> {
        prompt::statics()
    }

    fn org(&self, view: &OrgView<'_>) -> Vec<Section<Org>> {
        prompt::org(view.tools, self.checker.runtime(), &self.facts, &self.instructions)
    }

    fn turn(&self, view: &TurnView<'_>) -> Vec<Section<Turn>> {
        let mut sections = context::sections(&self.checker, view.state);
        sections.extend(self.facts.passing().map(|text| Section::<Turn>::new("now", text)));
        sections
    }

    fn apply_context(&self, state: &mut State, surroundings: &Surroundings) {
        state.page.clone_from(&surroundings.page);
        state.refs.clone_from(&surroundings.refs);
        editor::keep(state, surroundings);
    }

    async fn after_write(&self, files: &[PathBuf], _: &State) -> Option<Remark> {
        let (checker, files) = (self.checker.clone(), files.to_vec());
        let can_apply = true;
        let checking = tokio::task::spawn_blocking(move || {
            let checked = checker.changed(&files);
            let report = Report { files: &checked, can_apply };
            let remark =
                (!checked.is_empty()).then(|| Remark { text: report.text(), checks: Some(report.checks()) });
            (remark, checked)
        });
        let (mut remark, checked) = match checking.await {
            Ok(done) => done,
            Err(error) => {
                return Some(Remark::from(format!("The check of what was written broke: {error}.")));
            }
        };
        if let (Some(second), Some(remark)) = (&self.second, &mut remark)
            && let Some(more) = second.about(&checked).await
        {
            remark.text = format!("{}\n{more}", remark.text.trim_end());
        }
        remark
    }
}
