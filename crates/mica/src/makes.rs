//! What a domain is made from, so that it can be made again for another model.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use mica_agent::{ToolSet, ToolSpec};
use mica_ai::endpoint::Choice;
use mica_domain::{Capability, Domain, DomainHooks, Facts, Instructions, Packs, Prompt, Trust};
use mica_tools::{Sight, Workspace};
use pack_code::CodePack;
use pack_mi::MiPack;

use crate::config::Values;
use crate::equipment::mi::Mi;
use crate::surroundings::Surroundings;

/// Bytes of project instructions at most: what a careful person writes, several times over.
const INSTRUCTIONS: usize = 32 << 10;

/// What a domain is made from. Found once: a model that is switched to is told what the one before was told.
pub struct Makes {
    workspace: Workspace,
    /// What every pack can do here, besides what it brings itself.
    equipment: Vec<Capability>,
    facts: Facts,
    instructions: Instructions,
    /// What the pack of Micro Integrator projects can do here.
    mi: Arc<Mi>,
    /// The pack that was asked for.
    wanted: Option<String>,
}

impl Makes {
    /// Looks at the folder.
    ///
    /// # Errors
    /// Instructions that cannot be read.
    #[allow(clippy::disallowed_methods, reason = "the binary knows what day it is")]
    pub fn find(
        workspace: Workspace,
        equipment: Vec<Capability>,
        mi: Mi,
        values: &Values,
        surroundings: &Surroundings,
    ) -> Result<Self> {
        let folder = &surroundings.folder;
        let facts = Facts {
            folder: folder.clone(),
            system: format!("{} ({})", std::env::consts::OS, std::env::consts::ARCH),
            under_git: folder.ancestors().any(|folder| folder.join(".git").exists()),
            date: Some(jiff::Zoned::now().strftime("%A, %Y-%m-%d").to_string()),
        };
        // What a project says to agents is fenced as its words, and needs no more trust than its files do.
        let instructions = Instructions::read(folder, Trust::Trusted, INSTRUCTIONS)?;
        let wanted = values.pack.clone();
        Ok(Self { workspace, equipment, facts, instructions, mi: Arc::new(mi), wanted })
    }

    /// The domain for a model.
    ///
    /// # Errors
    /// A pack that is not there.
    pub fn pack(&self, choice: &Choice) -> Result<Arc<dyn Domain>> {
        let sight = if choice.model.images { Sight::Sees } else { Sight::Blind };
        let (facts, instructions) = (self.facts.clone(), self.instructions.clone());
        let code = CodePack::new(&self.workspace, sight, facts.clone(), instructions.clone())
            .with(self.equipment.clone());
        let mut packs = Packs::default().with(Arc::new(code));
        // Most folders are none of its own, and then it is not made.
        if self.wanted.is_some() || MiPack::claims(&self.facts.folder).is_some() {
            let mi = MiPack::new(&self.workspace, sight, facts, instructions, self.mi.checker().clone());
            let mi = mi
                .with(self.mi.capabilities(&self.workspace))
                .with(self.equipment.clone())
                .with_second_opinion(self.mi.second_opinion().cloned());
            packs = packs.with(Arc::new(mi));
        }
        packs.pick(self.wanted.as_deref(), &self.facts.folder).context("the pack cannot be used")
    }

    /// The folder that tools work in.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The same for another agent, with tools of its own.
    pub fn anew(&self, workspace: Workspace, equipment: Vec<Capability>) -> Self {
        Self {
            workspace,
            equipment,
            facts: self.facts.clone(),
            instructions: self.instructions.clone(),
            mi: Arc::clone(&self.mi),
            wanted: self.wanted.clone(),
        }
    }

    /// What a domain gives a model: those of its tools that are kept, and what it says about them.
    ///
    /// # Errors
    /// Mistakes in the domain.
    pub fn texts(domain: &DomainHooks, keep: &dyn Fn(&ToolSpec) -> bool) -> Result<(ToolSet, Prompt)> {
        let tools = domain.resolve(keep)?;
        let prompt = Prompt::of(&*domain.domain(), &tools, &domain.snapshot())?;
        Ok((tools.tools, prompt))
    }
}
