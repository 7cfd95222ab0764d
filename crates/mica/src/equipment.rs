//! What an agent can do besides what its pack brings: each part gives tools, and has a say about their calls.

use std::sync::Arc;

use anyhow::Result;
use mica_agent::Hooks;
use mica_context::{Clock, SpillFolder};
use mica_domain::Capability;
use mica_policy::Mode;
use mica_policy::mode::{Cell, Exception, ModeSwitch};
use mica_policy::shell::ShellGate;
use mica_tools::tasks::TaskNews;
use mica_tools::{Tasks, Workspace};

use crate::cli::RunFlags;
use crate::config::Values;
use crate::surroundings::Surroundings;

pub mod scratch;
mod shell;

pub use shell::of_commands;

/// Tools that depend on where the agent runs, and the hooks that belong to them.
pub struct Equipment {
    /// The tools.
    pub capabilities: Vec<Capability>,
    /// Who has a say, before the rules that the person gave.
    pub hooks: Vec<Arc<dyn Hooks>>,
    /// Tools that modes treat otherwise than by what they declare.
    pub exceptions: Vec<Exception>,
    /// Tools that are meant to be called again and again.
    pub polls: Vec<&'static str>,
    /// The tasks of the session, for all that begin some.
    #[allow(dead_code, reason = "for those who begin tasks besides commands")]
    pub tasks: Tasks,
    /// The judge of commands, for whoever remembers approvals.
    #[allow(dead_code, reason = "for those who remember approvals")]
    pub shell: ShellGate,
}

/// What equipment is found with.
pub struct Outfit<'a> {
    /// The folder that tools work in.
    pub workspace: &'a Workspace,
    /// Settings.
    pub values: &'a Values,
    /// Flags.
    pub flags: &'a RunFlags,
    /// The world around.
    pub surroundings: &'a Surroundings,
    /// How much a run may do.
    pub mode: &'a ModeSwitch,
    /// Where logs go.
    pub logs: Arc<SpillFolder>,
    /// What time it is.
    pub clock: Clock,
}

impl Equipment {
    /// Everything there is here. Nothing is started, and nothing is read that only a call needs.
    ///
    /// # Errors
    /// Settings that do not fit.
    pub fn find(outfit: &Outfit<'_>) -> Result<Self> {
        let tasks = Tasks::new(
            Arc::clone(&outfit.logs),
            Arc::clone(&outfit.clock),
            mica_tools::TaskLimits::default(),
        );
        let shell::Equipped { capability, mut hooks, gate } = shell::equip(outfit, &tasks)?;
        hooks.push(Arc::new(TaskNews::new(&tasks)));
        let summary = "Look after work in the background.";
        let background = Capability::new(mica_domain::Page::Global, summary, mica_tools::task_tools(&tasks));
        // Commands are judged one by one in every mode, and one's own tasks may always be stopped.
        let free = [mica_tools::shell::NAME, mica_tools::kill_task::NAME];
        let mut exceptions = Vec::new();
        for mode in [Mode::Ask, Mode::Plan] {
            for tool in free {
                exceptions.push(Exception { mode, tools: tool.parse()?, cell: Cell::Allow });
            }
        }
        let polls = vec![mica_tools::task_output::NAME];
        let capabilities = vec![capability, background];
        Ok(Self { capabilities, hooks, exceptions, polls, tasks, shell: gate })
    }
}
