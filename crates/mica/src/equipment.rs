//! What an agent can do besides what its pack brings: each part gives tools, and has a say about their calls.

pub mod begun;
pub mod extensions;
pub mod hooks;
pub mod mcp;
pub mod memory;
pub mod mi;
pub mod people;
pub mod scratch;
mod shell;
pub mod skills;
pub mod subagents;
mod web;
pub mod words;

use std::sync::Arc;

use anyhow::Result;
use mica_agent::{Hooks, Listener};
use mica_context::keeper::TurnSections;
use mica_context::{Clock, SpillFolder};
use mica_domain::{Capability, Page};
use mica_ext::mcp::Servers;
use mica_ext::{Factory, Origin};
use mica_policy::Mode;
use mica_policy::mode::{Cell, Exception, ModeSwitch};
use mica_policy::shell::ShellGate;
use mica_tools::web::Web;
use mica_tools::{Ground, TaskLimits, Tasks, Workspace, kill_task, task_output, task_tools};

use crate::approvals::KeptApprovals;
use crate::cli::RunFlags;
use crate::config::Values;
use crate::docs;
use crate::surroundings::Surroundings;
use begun::Begun;
use memory::Remembered;
use mica_domain::keeping::Keeper;
use people::People;
use skills::Knowhow;

pub use shell::of_commands;

/// A part of it.
#[derive(Default)]
struct Part {
    /// Tools.
    capabilities: Vec<Capability>,
    /// Who has a say about their calls.
    hooks: Vec<Arc<dyn Hooks>>,
    /// How the same is made for a subagent.
    anew: Option<Anew>,
    /// Who is told what happens.
    listeners: Vec<Arc<dyn Listener>>,
    /// Who has a say in more than calls: asked to register each time that extensions are loaded, at the start and by
    /// `/reload`.
    factories: Vec<(Origin, Arc<dyn Factory>)>,
    /// What it tells at the tail of the conversation.
    tail: Vec<TurnSections>,
}

/// Tools that depend on where the agent runs, and the hooks that belong to them.
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
    /// The tasks of the session, for all that begin some.
    pub tasks: Tasks,
    /// Who is told what happens.
    pub listeners: Vec<Arc<dyn Listener>>,
    /// Where programs run.
    pub ground: Arc<dyn Ground>,
    /// What is told at the tail of the conversation with a person.
    pub tail: Vec<TurnSections>,
    /// Who judges commands.
    pub commands: ShellGate,
    /// The way to the web, when it may be read.
    pub web: Option<Web>,
    /// Extensions that are part of the program, and others that are no scripts.
    pub factories: Vec<(Origin, Arc<dyn Factory>)>,
    /// What command hooks tell people.
    pub hooks_tell: hooks::Teller,
    /// Servers of the Model Context Protocol.
    pub mcp: Servers,
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
    /// The session, when it is kept.
    pub keeper: Option<&'a Keeper>,
    /// What is done together with a person.
    pub people: &'a People,
    /// What it knows how to do, and what people can type.
    pub knowhow: &'a Knowhow,
    /// What was remembered in earlier sessions.
    pub remembered: &'a Remembered,
    /// What the session was begun with, when it goes on.
    pub begun: Option<&'a Begun>,
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
        let tasks = outfit.tasks();
        let ground = shell::ground(outfit.values, outfit.surroundings)?;
        let (shell, commands) = shell::equip(outfit, &tasks, &ground)?;
        let (pages, web) = web::equip(outfit.values, outfit.surroundings, notices)?;
        let (hooked, hooks_tell) = hooks::equip(outfit, Arc::clone(&ground) as Arc<dyn Ground>);
        let (servers, mcp) = mcp::equip(outfit, Arc::clone(&ground) as Arc<dyn Ground>, notices)?;
        let mut equipment = Self {
            capabilities: vec![background(&tasks), docs::capability()],
            hooks: Vec::new(),
            exceptions: [People::exceptions()?, Remembered::exceptions()?].concat(),
            polls: vec![task_output::NAME],
            anew: Vec::new(),
            tasks,
            listeners: Vec::new(),
            ground: Arc::clone(&ground) as Arc<dyn Ground>,
            commands,
            web: outfit.values.web.fetch.unwrap_or(true).then_some(web),
            factories: Vec::new(),
            hooks_tell,
            mcp,
            tail: Vec::new(),
        };
        let (knowhow, remembered) = (outfit.knowhow.part(), outfit.remembered.part(outfit.people.asking()));
        for part in [shell, outfit.people.part(), knowhow, remembered, pages, hooked, servers] {
            equipment.capabilities.extend(part.capabilities);
            equipment.hooks.extend(part.hooks);
            equipment.anew.extend(part.anew);
            equipment.listeners.extend(part.listeners);
            equipment.factories.extend(part.factories);
            equipment.tail.extend(part.tail);
        }
        // Commands are judged one by one in every mode, and one's own tasks may always be stopped.
        for mode in [Mode::Ask, Mode::Plan] {
            for tool in [mica_tools::shell::NAME, kill_task::NAME] {
                equipment.exceptions.push(Exception { mode, tools: tool.parse()?, cell: Cell::Allow });
            }
        }
        Ok(equipment)
    }
}

impl Outfit<'_> {
    /// The session's table of tasks. Those of subagents are made beside it, and give other ids.
    fn tasks(&self) -> Tasks {
        Tasks::new(Arc::clone(&self.logs), Arc::clone(&self.clock), TaskLimits::default())
    }
}

/// The sandbox of this machine, for those who run programs without an agent.
///
/// # Errors
/// Settings that do not fit.
pub fn ground_of(values: &Values, surroundings: &Surroundings) -> Result<Arc<dyn Ground>> {
    Ok(shell::ground(values, surroundings)?)
}

/// What looks after work in the background.
fn background(tasks: &Tasks) -> Capability {
    Capability::new(Page::Global, "reads and stops what works in the background", task_tools(tasks))
}
