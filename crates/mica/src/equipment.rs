//! What an agent can do besides what its pack brings: each part gives tools, and has a say about their calls.

use std::sync::Arc;

use anyhow::Result;
use mica_agent::Hooks;
use mica_context::{Clock, SpillFolder};
use mica_domain::Capability;
use mica_policy::Mode;
use mica_policy::mode::{Cell, Exception, ModeSwitch};
use mica_tools::tasks::TaskNews;
use mica_tools::{Tasks, Workspace};

use crate::approvals::KeptApprovals;
use crate::cli::RunFlags;
use crate::config::Values;
use crate::surroundings::Surroundings;

pub mod people;
pub mod scratch;
mod shell;
mod web;

use people::People;
pub use shell::of_commands;

/// A part of it.
#[derive(Default)]
struct Part {
    /// Tools.
    capabilities: Vec<Capability>,
    /// Who has a say about their calls.
    hooks: Vec<Arc<dyn Hooks>>,
}

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
    pub tasks: Tasks,
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
    /// What people allowed for longer than once.
    pub approvals: &'a KeptApprovals,
    /// What is done together with a person.
    pub people: &'a People,
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
    pub fn find(outfit: &Outfit<'_>, notices: &mut Vec<String>) -> Result<Self> {
        let tasks = Tasks::new(
            Arc::clone(&outfit.logs),
            Arc::clone(&outfit.clock),
            mica_tools::TaskLimits::default(),
        );
        let mut all = shell::equip(outfit, &tasks)?;
        all.hooks.push(Arc::new(TaskNews::new(&tasks)));
        let summary = "Look after work in the background.";
        let background = Capability::new(mica_domain::Page::Global, summary, mica_tools::task_tools(&tasks));
        // Commands are judged one by one in every mode, and one's own tasks may always be stopped.
        let free = [mica_tools::shell::NAME, mica_tools::kill_task::NAME];
        let mut exceptions = People::exceptions()?;
        for mode in [Mode::Ask, Mode::Plan] {
            for tool in free {
                exceptions.push(Exception { mode, tools: tool.parse()?, cell: Cell::Allow });
            }
        }
        let polls = vec![mica_tools::task_output::NAME];
        all.capabilities.push(background);
        for part in [outfit.people.part(), web::equip(outfit.values, outfit.surroundings, notices)?] {
            all.capabilities.extend(part.capabilities);
            all.hooks.extend(part.hooks);
        }
        let Part { capabilities, hooks } = all;
        Ok(Self { capabilities, hooks, exceptions, polls, tasks })
    }
}
