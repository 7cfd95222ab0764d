//! What a domain is made from, so that it can be made again for another model.

use std::path::Path;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use anyhow::{Context as _, Result};
use mica_agent::ToolSpec;
use mica_ai::endpoint::Choice;
use mica_context::keeper::TurnSections;
use mica_context::section::{Rendered, ToolNames};
use mica_domain::{Capability, Domain, DomainHooks, Facts, Instructions, Packs, Prompt, Resolved, Trust};
use mica_policy::rules::Rule;
use mica_tools::{Sight, Workspace};
use pack_code::CodePack;
use pack_mi::MiPack;

use crate::config::Values;
use crate::equipment::mi::Mi;
use crate::equipment::words::Words;
use crate::surroundings::Surroundings;

/// Bytes of project instructions at most: what a careful person writes, several times over.
const INSTRUCTIONS: usize = 32 << 10;

/// What a domain is made from. Found once: a model that is switched to is told what the one before was told.
pub struct Makes {
    workspace: Workspace,
    /// What every pack can do here, besides what it brings itself.
    equipment: Vec<Capability>,
    /// What extensions bring. It changes when they are loaded anew.
    brought: RwLock<Vec<Capability>>,
    facts: Facts,
    instructions: Instructions,
    /// What people put into the system prompt.
    words: Words,
    /// What the pack of Micro Integrator projects can do here.
    mi: Arc<Mi>,
    /// The pack that was asked for.
    wanted: Option<String>,
    /// Whether the folder is of Micro Integrator projects. Looked at once: it takes a walk.
    is_mi: OnceLock<bool>,
    /// Tools that are listed and loaded instead of being sent with every request.
    defers: Vec<Rule>,
}

impl Makes {
    /// Looks at the folder.
    ///
    /// # Errors
    /// Instructions that cannot be read.
    #[allow(clippy::disallowed_methods, reason = "the binary knows what day it is")]
    pub fn find(workspace: Workspace, mi: Mi, values: &Values, surroundings: &Surroundings) -> Result<Self> {
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
        let defers = values.defer.iter().map(|tools| deferring(tools)).collect::<Result<_>>()?;
        let equipment = Vec::new();
        Ok(Self {
            workspace,
            equipment,
            brought: RwLock::default(),
            facts,
            instructions,
            words: Words::default(),
            mi: Arc::new(mi),
            wanted,
            is_mi: OnceLock::new(),
            defers,
        })
    }

    /// The domain for a model.
    ///
    /// # Errors
    /// A pack that is not there.
    pub fn pack(&self, choice: &Choice) -> Result<Arc<dyn Domain>> {
        let sight = if choice.model.images { Sight::Sees } else { Sight::Blind };
        let (facts, instructions) = (self.facts.clone(), self.instructions.clone());
        let code = CodePack::new(&self.workspace, sight, facts.clone(), instructions.clone())
            .with(self.equipment.clone())
            .with(self.brought());
        let mut packs = Packs::default().with(Arc::new(code));
        // Most folders are none of its own, and then it is not made.
        let is_mi = || *self.is_mi.get_or_init(|| MiPack::claims(&self.facts.folder).is_some());
        if self.wanted.is_some() || is_mi() {
            let mi = MiPack::new(&self.workspace, sight, facts, instructions, self.mi.checker().clone());
            let mi = mi
                .with(self.mi.capabilities(&self.workspace))
                .with(self.equipment.clone())
                .with(self.brought())
                .with_second_opinion(self.mi.second_opinion().cloned());
            packs = packs.with(Arc::new(mi));
        }
        packs.pick(self.wanted.as_deref(), &self.facts.folder).context("the pack cannot be used")
    }

    /// With tools that depend on where the agent runs.
    #[must_use]
    pub fn equipped(mut self, equipment: Vec<Capability>) -> Self {
        self.equipment = equipment;
        self
    }

    /// With what people put into the system prompt, and whether the folder is of Micro Integrator projects.
    #[must_use]
    pub fn told(mut self, words: Words, is_mi: bool) -> Self {
        self.words = words;
        let _ = self.is_mi.set(is_mi);
        self
    }

    /// Tells what the project asks of agents when it is not what the prompt says any more. Looked at before every message:
    /// the files are few and small.
    pub fn new_instructions(&self) -> TurnSections {
        let (folder, began) = (self.facts.folder.clone(), self.instructions.clone());
        Arc::new(move |_: &ToolNames| {
            let now =
                Instructions::read(&folder, Trust::Trusted, INSTRUCTIONS).ok().filter(|now| *now != began);
            let text = now.map(|now| {
                let none = || "There are none any more.".to_owned();
                let text = Some(now.text()).filter(|text| !text.is_empty()).unwrap_or_else(none);
                format!("The project's instructions have changed since this session began. These count now.\n\n{text}")
            });
            vec![Rendered::turn("new-instructions", text)]
        })
    }

    /// With what extensions bring now, in place of what they brought before. Answers what that was.
    pub fn bring(&self, brought: Vec<Capability>) -> Vec<Capability> {
        std::mem::replace(&mut *self.brought.write().unwrap_or_else(PoisonError::into_inner), brought)
    }

    fn brought(&self) -> Vec<Capability> {
        self.brought.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the pack of Micro Integrator projects can do here.
    pub fn mi(&self) -> &Mi {
        &self.mi
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
            brought: RwLock::new(self.brought()),
            facts: self.facts.clone(),
            instructions: self.instructions.clone(),
            words: self.words.for_subagent(),
            mi: Arc::clone(&self.mi),
            wanted: self.wanted.clone(),
            is_mi: self.is_mi.clone(),
            defers: self.defers.clone(),
        }
    }

    /// What a domain gives a model: those of its tools that are kept, and what it says about them.
    ///
    /// # Errors
    /// Mistakes in the domain.
    pub fn texts(
        &self,
        domain: &DomainHooks,
        keep: &dyn Fn(&ToolSpec) -> bool,
    ) -> Result<(Resolved, Prompt)> {
        let defers = |spec: &ToolSpec| self.defers.iter().any(|tools| tools.names(&spec.name));
        let tools = domain.resolve_deferring(keep, &defers)?;
        let mut prompt = domain.prompt(&tools)?;
        self.words.put(&mut prompt, &tools.names);
        Ok((tools, prompt))
    }
}

/// The pack that a session of this folder has, by name, and the subagents that it brings; none when it brings none. For
/// whoever only wants to know, without making it.
pub fn profiles_of(wanted: Option<&str>, folder: &Path) -> Option<(&'static str, &'static str)> {
    let is_mi = match wanted {
        Some(wanted) => wanted == MiPack::NAME,
        None => MiPack::claims(folder).is_some(),
    };
    is_mi.then_some((MiPack::NAME, MiPack::PROFILES))
}

/// Which tools are deferred.
fn deferring(tools: &str) -> Result<Rule> {
    let rule: Rule = tools.parse().context("the setting `defer` is wrong")?;
    anyhow::ensure!(
        rule.is_of_tools(),
        "the setting `defer` takes names of tools, without arguments: {tools:?} has some"
    );
    Ok(rule)
}
