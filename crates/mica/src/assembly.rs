//! What is the same for every agent of a session, the person's own and those that it sends: the order of those who have a
//! say, how a window is kept, where long results go.

use std::sync::Arc;

use anyhow::Result;
use async_trait::async_trait;
use mica_agent::hooks::Point;
use mica_agent::{Hooks, ToolError, ToolOutput, ToolSpec};
use mica_ai::ToolResult;
use mica_ai::message::ToolCall;
use mica_context::compact::{FileFact, FileFacts, NamedArguments};
use mica_context::keeper::{Announce, TurnSections};
use mica_context::section::{Rendered, ToolNames};
use mica_context::spill::{Clock, SpillLimits};
use mica_context::{Spill, SpillFolder, WindowKeeper};
use mica_domain::DomainHooks;
use mica_ext::mcp::Servers;
use mica_policy::FileGate;
use mica_policy::budget::{Limits, Meter};
use mica_policy::mode::{ModeGate, ModeSwitch, ModeTable, PlanFolder};
use mica_policy::repeats::{Patience, RepeatGuard};
use mica_policy::rules::{RuleGate, RuleSet};
use mica_policy::validate::SchemaGate;
use mica_tools::{Redaction, deferred, plan, subagent};

use crate::approvals::KeptApprovals;
use crate::equipment::extensions::added::Added;
use crate::equipment::people::People;
use crate::undoing::Undoing;
use mica_domain::keeping::Keeper;

/// What all agents of a session share.
#[derive(Clone)]
pub struct Shared {
    /// How much they may do, as it is now.
    pub mode: ModeSwitch,
    /// What each mode does with each tool.
    pub modes: ModeTable,
    /// Calls that may be made again and again.
    pub polls: RuleSet,
    /// What the person allowed and forbade beforehand.
    pub rules: RuleSet,
    /// What they allowed for longer than once.
    pub approvals: KeptApprovals,
    /// Who offers to remember a yes to a change of a file.
    pub files: FileGate,
    /// What is done together with them.
    pub people: Arc<People>,
    /// The ends of a run.
    pub limits: Limits,
    /// What they take together.
    pub meter: Meter,
    /// What is told at the tail of the conversation with a person.
    pub tail: Arc<[TurnSections]>,
    /// What extensions add to prompts.
    pub added: Arc<Added>,
    /// Who is told before a window is compacted.
    pub announce: Announce,
    /// Servers of the Model Context Protocol.
    pub mcp: Servers,
    /// What takes values of secrets out of results.
    pub redaction: Redaction,
    /// What tells the time.
    pub clock: Clock,
}

/// What one agent has for itself.
pub struct Own {
    /// Its domain.
    pub domain: Arc<DomainHooks>,
    /// Those that belong to its equipment.
    pub equipment: Vec<Arc<dyn Hooks>>,
    /// Who answers its questions.
    pub approvers: Vec<Arc<dyn Hooks>>,
    /// Its session.
    pub keeper: Option<Keeper>,
    /// Where its long results go.
    pub spill: Option<Arc<SpillFolder>>,
    /// What ends it.
    pub budgets: Vec<Arc<dyn Hooks>>,
    /// Extensions, as far as they have a say about it.
    pub extensions: Vec<Arc<dyn Hooks>>,
    /// What keeps its window.
    pub window: Arc<WindowKeeper>,
    /// The one place that plan mode may write to.
    pub plan_folder: Option<PlanFolder>,
}

impl Shared {
    /// Everyone who has a say about one agent, in order.
    pub fn hooks(&self, own: Own) -> Vec<Arc<dyn Hooks>> {
        let mut hooks: Vec<Arc<dyn Hooks>> = vec![
            Arc::new(SchemaGate::new()),
            Arc::new(RepeatGuard::new(Patience::default(), self.polls.clone())),
            Arc::new(ModeGate::new(self.mode.clone(), self.modes.clone(), own.plan_folder)),
            Arc::new(self.files.clone()),
        ];
        // Before anybody keeps, shows or shortens what a call came to.
        hooks.push(Arc::new(self.redaction.clone()));
        hooks.extend(own.equipment);
        hooks.push(Arc::new(RuleGate::new(self.rules.clone())));
        hooks.push(own.domain);
        // Behind the program's own gates, which judge again what an extension changes. What it makes of a result is looked at
        // like the result was: commands of its own may have read what nobody should.
        if !own.extensions.is_empty() {
            hooks.extend(own.extensions.iter().cloned());
            hooks.push(Arc::new(Reviewed { redaction: self.redaction.clone(), by: own.extensions }));
        }
        // Behind all gates: it keeps what one of them remembers.
        hooks.push(Arc::new(self.approvals.clone()));
        hooks.extend(own.approvers);
        if let Some(spill) = own.spill {
            hooks.push(Arc::new(Spill::new(spill, Arc::clone(&self.clock))));
        }
        if let Some(keeper) = own.keeper {
            hooks.push(Arc::new(keeper));
        }
        hooks.extend(own.budgets);
        hooks.push(own.window);
        hooks
    }

    /// What keeps the window of the agent that a person talks with. With an undo, it is told what was taken back.
    pub fn window(
        &self,
        domain: &Arc<DomainHooks>,
        keeper: Option<&Keeper>,
        undoing: Option<Undoing>,
    ) -> Arc<WindowKeeper> {
        let (domain, together) = (Arc::clone(domain), Arc::clone(&self.people));
        let (added, tail) = (Arc::clone(&self.added), Arc::clone(&self.tail));
        let mcp = self.mcp.clone();
        let sections = move |tools: &ToolNames| {
            let mut sections = domain.turn(tools);
            sections.extend(together.sections(tools));
            sections.extend(tail.iter().flat_map(|tail| tail(tools)));
            sections.extend(added.sections());
            sections.extend(mcp.sections());
            sections.extend(undoing.as_ref().map(|undoing| Rendered::turn("undo", undoing.note())));
            sections
        };
        Arc::new(self.window_with(Arc::new(sections), keeper).announcing(Arc::clone(&self.announce)))
    }

    /// What keeps the window of a subagent. It makes no plans and no list: it answers whoever sent it.
    pub fn window_of_subagent(
        &self,
        domain: &Arc<DomainHooks>,
        keeper: Option<&Keeper>,
    ) -> Arc<WindowKeeper> {
        let (domain, mode) = (Arc::clone(domain), self.mode.clone());
        let sections = move |tools: &ToolNames| {
            let mode = plan::subagent_section(mode.get());
            let mut sections = domain.turn(tools);
            sections.push(Rendered::turn("mode", Some(mode)));
            sections
        };
        Arc::new(self.window_with(Arc::new(sections), keeper))
    }

    fn window_with(&self, sections: TurnSections, keeper: Option<&Keeper>) -> WindowKeeper {
        let mut window = WindowKeeper::new(Arc::clone(&self.clock))
            .files(Arc::new(Files::default()))
            .turn_sections(sections);
        if let Some(keeper) = keeper {
            window = window.journal(Arc::new(keeper.clone()));
        }
        window
    }
}

/// Takes values of secrets out of what extensions make of results, which comes after everything else.
struct Reviewed {
    redaction: Redaction,
    by: Vec<Arc<dyn Hooks>>,
}

#[async_trait]
impl Hooks for Reviewed {
    fn says(&self, at: Point) -> bool {
        at == Point::AfterCall && self.by.iter().any(|hooks| hooks.says(at))
    }

    async fn after_call(&self, call: &ToolCall, spec: &ToolSpec, made: &mut Result<ToolOutput, ToolError>) {
        match made {
            Ok(output) => self.redaction.after_tool(call, spec, output).await,
            Err(error) => self.redaction.after_failure(call, spec, error).await,
        }
    }
}

/// Where the long results of an agent go.
///
/// # Errors
/// When there is no current folder any more.
pub fn spill(keeper: Option<&Keeper>) -> Result<Option<Arc<SpillFolder>>> {
    let Some(keeper) = keeper else { return Ok(None) };
    let folder = std::path::absolute(keeper.session().path().with_extension("spill"))?;
    Ok(Some(Arc::new(SpillFolder::new(folder, SpillLimits::default()))))
}

/// What calls do to files, for the ledger that outlives a compaction.
struct Files {
    named: NamedArguments,
}

impl Default for Files {
    fn default() -> Self {
        let named = NamedArguments::default()
            .reads("file_read", "path")
            .changes("file_write", "path")
            .changes("file_edit", "path")
            .changes(pack_mi::apply_code_action::NAME, "path");
        Self { named }
    }
}

impl FileFacts for Files {
    fn of(&self, call: &ToolCall, result: &ToolResult) -> Vec<FileFact> {
        let call = deferred::unwrapped(call);
        if call.name != subagent::NAME {
            return self.named.of(&call, result);
        }
        let changed = subagent::changed_files(&result.content);
        changed.into_iter().map(|path| FileFact::Changed(path.display().to_string())).collect()
    }
}
