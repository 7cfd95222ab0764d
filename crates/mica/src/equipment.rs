//! What an agent can do besides what its pack brings: each part gives tools, and has a say about their calls.

pub mod people;
pub mod web;

use std::sync::Arc;

use mica_agent::Hooks;
use mica_domain::Capability;

/// Tools that depend on where the agent runs, and the hooks that belong to them.
#[derive(Default)]
pub struct Equipment {
    /// The tools.
    pub capabilities: Vec<Capability>,
    /// Who has a say, before the rules that the person gave.
    pub hooks: Vec<Arc<dyn Hooks>>,
}
