//! What the agent of a Micro Integrator project can do here: what of its pack depends on where the agent runs.

use std::sync::Arc;

use anyhow::Result;
use mica_domain::{Capability, Page};
use mica_tools::Workspace;
use pack_mi::Checker;

mod runtime;

use pack_mi::runtime::{Runtime, RuntimeGate, exceptions};
use pack_mi::second_opinion::SecondOpinion;

use super::{Equipment, Outfit};

/// What the tools of the pack are made from. Nothing is read or started until a call needs it.
pub struct Mi {
    checker: Checker,
    runtime: Runtime,
    second: Option<SecondOpinion>,
}

impl Mi {
    /// What there is here. Adds to the equipment what the pack's tools need there.
    ///
    /// # Errors
    /// Settings that do not fit.
    pub fn find(outfit: &Outfit<'_>, equipment: &mut Equipment) -> Result<Self> {
        let settings = runtime::settings(outfit)?;
        let gate = RuntimeGate::new(outfit.mode.clone(), settings.hosts.clone());
        equipment.hooks.push(Arc::new(gate.allowing_everything(outfit.flags.yes)));
        equipment.exceptions.extend(exceptions()?);
        Ok(Self {
            checker: Checker::new(outfit.workspace.root()),
            runtime: runtime::runtime(outfit, equipment, settings),
            second: runtime::second_opinion(outfit, equipment)?,
        })
    }

    /// Another language server, if one is configured.
    pub fn second_opinion(&self) -> Option<&SecondOpinion> {
        self.second.as_ref()
    }

    /// The project as it is on disk, for all that look at it.
    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    /// The tools, for an agent that works in this workspace.
    pub fn capabilities(&self, workspace: &Workspace) -> Vec<Capability> {
        let tools = self.runtime.for_another(workspace).tools();
        let summary = "builds the project, tests it, and runs it on the Micro Integrator";
        vec![Capability::new(Page::Global, summary, tools)]
    }
}
