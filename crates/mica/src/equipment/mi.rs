//! What the agent of a Micro Integrator project can do here: what of its pack depends on where the agent runs.

use anyhow::Result;
use mica_domain::Capability;
use mica_tools::Workspace;
use pack_mi::Checker;

use super::Outfit;

/// What the tools of the pack are made from. Nothing is read or started until a call needs it.
pub struct Mi {
    checker: Checker,
}

impl Mi {
    /// What there is here.
    ///
    /// # Errors
    /// Settings that do not fit.
    pub fn find(outfit: &Outfit<'_>) -> Result<Self> {
        Ok(Self { checker: Checker::new(outfit.workspace.root()) })
    }

    /// The project as it is on disk, for all that look at it.
    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    /// The tools, for an agent that works in this workspace.
    pub fn capabilities(&self, workspace: &Workspace) -> Vec<Capability> {
        let _ = workspace;
        Vec::new()
    }
}
