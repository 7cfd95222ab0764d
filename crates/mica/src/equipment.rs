//! What an agent can do besides what its pack brings: each part gives tools, and has a say about their calls.

pub mod subagents;

use std::sync::Arc;

use mica_agent::Hooks;
use mica_domain::{Capability, Page};
use mica_policy::mode::Exception;
use mica_tools::{Tasks, Workspace, task_output, task_tools};

/// Tools that depend on where the agent runs, and the hooks that belong to them.
#[derive(Default)]
pub struct Equipment {
    /// The tools.
    pub capabilities: Vec<Capability>,
    /// Who has a say, before the rules that the person gave. What their gates say holds for subagents, too.
    pub hooks: Vec<Arc<dyn Hooks>>,
    /// Tools that modes treat otherwise than by what they declare.
    pub exceptions: Vec<Exception>,
    /// Tools that are meant to be called again and again.
    pub polls: Vec<&'static str>,
    /// How the part of it is made that subagents have. What is not here, they do not have.
    pub anew: Vec<Anew>,
}

impl Equipment {
    /// Adds what looks after work in the background.
    pub fn look_after(&mut self, tasks: &Tasks) {
        let summary = "reads and stops what works in the background";
        self.capabilities.push(Capability::new(Page::Global, summary, task_tools(tasks)));
        self.polls.push(task_output::NAME);
    }
}

/// Makes tools for a subagent that works in this workspace, and what belongs to them beside the gates that hold for all.
/// Nothing of them is shared with those of another agent, except what is meant for all.
pub type Anew = Arc<dyn Fn(&Workspace) -> Fresh + Send + Sync>;

/// Equipment of one subagent.
#[derive(Default)]
pub struct Fresh {
    /// The tools.
    pub capabilities: Vec<Capability>,
    /// The hooks.
    pub hooks: Vec<Arc<dyn Hooks>>,
}
