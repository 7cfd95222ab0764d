//! Subagents of a session: put together like the agent that sends them, from parts of their own.
//!
//! Shared with it are the mode, the rules and gates, the person, and the limits. Their own are the model, the tools, what
//! they have read, the window, the session, and the number of turns.

mod asking;
pub mod links;
mod listing;
mod news;
mod unkept;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use mica_agent::{Agent, Context, Event, EventKind, Hooks, Listener, Relay, Settings, ToolError};
use mica_ai::Message;
use mica_domain::{Capability, DomainHooks, Page};
use mica_ext::Extensions;
use mica_policy::budget::{Budget, Limits};
use mica_policy::mode::{Cell, Exception, Mode};
use mica_policy::rules::Headless;
use mica_session::Sessions;
use mica_tools::CreateSubagent;
use mica_tools::subagent::{NAME, Place, Profile, Profiles, Subagent, Subagents, Wanted, Who};

use crate::assembly::{self, Own, Shared};
use crate::config::Values;
use crate::equipment::extensions::world::Steering;
use crate::equipment::{Anew, Equipment, Fresh};
use crate::makes::Makes;
use crate::switching::Models;
use asking::{Asking, GateOnly, GuardsOnly, Waiting};
use links::Link;
use mica_domain::keeping::Keeper;
use news::News;
use unkept::Unkept;

pub use listing::listing;

/// How long a subagent that has ended can be resumed. Then its session is deleted.
pub const KEPT: Duration = Duration::from_secs(60 * 60);

/// Those who are sent, and what they are made from.
pub struct Crew {
    profiles: Profiles,
    /// Set once the agent that sends them is there.
    base: OnceLock<Base>,
    waiting: Arc<Waiting>,
    unkept: Unkept,
}

/// What subagents are made from.
pub struct Base {
    /// What all agents of the session share.
    pub shared: Shared,
    /// The models within reach.
    pub models: Arc<Models>,
    /// What the domain of the agent that sends them is made from. It has the tool that sends them.
    pub makes: Weak<Makes>,
    /// Where sessions are.
    pub sessions: Sessions,
    /// The folder that is worked in.
    pub folder: PathBuf,
    /// The session of the agent that sends them.
    pub keeper: Option<Keeper>,
    /// Who answers questions.
    pub approver: Option<Arc<dyn Hooks>>,
    /// Gates that hold for all.
    pub gates: Vec<Arc<dyn Hooks>>,
    /// Whose guards hold for them, too.
    pub extensions: Extensions,
    /// What extensions turned off is off for them, too.
    pub steering: Arc<Steering>,
    /// How their equipment is made.
    pub anew: Vec<Anew>,
    /// Settings of every request.
    pub settings: Settings,
    /// Where it is told what they do.
    pub relay: Relay,
}

impl Crew {
    /// Adds what sends subagents to an agent's equipment, of the kinds that the pack and the settings have. It can be used
    /// once [`Crew::ready`] was called.
    ///
    /// # Errors
    /// Settings of a subagent that are wrong.
    pub fn equip(equipment: &mut Equipment, values: &Values, pack: Option<&str>) -> Result<Arc<Self>> {
        let tasks = equipment.tasks.clone();
        let profiles =
            Profiles::layered(pack, &values.subagents).context("the settings under [subagents] are wrong")?;
        let crew = Arc::new(Self {
            profiles: profiles.clone(),
            base: OnceLock::new(),
            waiting: Arc::default(),
            unkept: Unkept::default(),
        });
        equipment.hooks.push(Arc::new(News::new(Arc::downgrade(&crew), tasks.downgrade())));
        if profiles.is_empty() {
            return Ok(crew);
        }
        let tool = CreateSubagent::new(Arc::clone(&crew) as Arc<dyn Subagents>, profiles, Some(tasks));
        let summary = "sends other agents to look something up or to do a piece of work";
        equipment.capabilities.push(Capability::new(Page::Global, summary, vec![Arc::new(tool)]));
        // One is under the mode itself, call by call, so sending it is fine in all.
        for mode in [Mode::Ask, Mode::Plan] {
            equipment.exceptions.push(Exception { mode, tools: NAME.parse()?, cell: Cell::Allow });
        }
        Ok(crew)
    }

    /// The kinds of subagents, those that only tools send among them.
    pub fn profiles(&self) -> &Profiles {
        &self.profiles
    }

    /// Says what subagents are made from.
    pub fn ready(&self, base: Base) {
        // The second one would be of another agent, which has its own crew.
        let _ = self.base.set(base);
    }
}

#[async_trait]
impl Subagents for Crew {
    async fn make(&self, wanted: Wanted<'_>) -> Result<Subagent, ToolError> {
        let base = self
            .base
            .get()
            .ok_or_else(|| ToolError::new("Subagents are not ready yet. Nothing was begun."))?;
        self.made(base, wanted).await.map_err(|error| {
            ToolError::new(format!("The subagent cannot be sent: {error:#}. Nothing was begun."))
        })
    }
}

/// What a subagent begins with.
struct Begins {
    id: String,
    profile: Profile,
    keeper: Option<Keeper>,
    messages: Vec<Message>,
}

impl Crew {
    async fn made(&self, base: &Base, wanted: Wanted<'_>) -> Result<Subagent> {
        let begins = match (&base.keeper, wanted.who) {
            (Some(keeper), Who::Fresh(profile)) => links::fresh(base, keeper, profile, &wanted).await?,
            (Some(keeper), Who::Again { id, profile }) => {
                links::again(base, keeper, &self.profiles, id, profile).await?
            }
            (None, Who::Fresh(profile)) => self.unkept.fresh(profile),
            (None, Who::Again { id, profile }) => self.unkept.again(&self.profiles, id, profile)?,
        };
        let (id, name) = (begins.id.clone(), begins.profile.name.clone());
        // Before anything of it is kept: one that goes on says its profile only now.
        if wanted.place == Place::Background && !begins.profile.background {
            anyhow::bail!("{name} does not work in the background; send it without `background`");
        }
        let link = base.keeper.as_ref().map(|keeper| (keeper, Link::new(keeper, &begins, &wanted)));
        let agent = self.agent(base, begins, &wanted)?;
        if let Some((keeper, link)) = link {
            // Before it does anything: whoever opens the session after a crash must know of it.
            links::keep(keeper, &link).await.map_err(anyhow::Error::msg)?;
        }
        Ok(Subagent { id, profile: name, agent })
    }

    fn agent(&self, base: &Base, begins: Begins, wanted: &Wanted<'_>) -> Result<Agent> {
        let follower = begins.keeper.is_none().then(|| self.unkept.follow(&begins));
        let Begins { id, profile, keeper, messages } = begins;
        let makes = base.makes.upgrade().context("the session is over")?;
        let choice = base.models.wished(&profile.model)?;
        let spill = assembly::spill(keeper.as_ref())?;
        let mut workspace = makes.workspace().for_another();
        if let Some(spill) = &spill {
            workspace = workspace.with_readable(spill.root())?;
        }
        let mut equipment: Vec<Arc<dyn Hooks>> =
            base.gates.iter().map(|gate| Arc::new(GateOnly(Arc::clone(gate))) as Arc<dyn Hooks>).collect();
        let mut capabilities = Vec::new();
        for anew in &base.anew {
            let Fresh { capabilities: tools, hooks } = anew(&workspace);
            capabilities.extend(tools);
            equipment.extend(hooks);
        }
        equipment.extend(follower);
        let makes = Arc::new(makes.anew(workspace, capabilities));
        let domain = Arc::new(mica_domain::copilot::remembering(
            makes.pack(&choice)?,
            keeper.as_ref(),
            &mut Vec::new(),
        ));
        let (tools, prompt) = makes.texts(&domain, &|spec| profile.allows(spec))?;
        let window = base.shared.window_of_subagent(&domain, keeper.as_ref());

        let mut context = Context::new(base.models.provider(&choice), Arc::clone(&choice.model));
        context.settings = Settings { cache_key: Some(id.clone()), ..base.settings.clone() };
        let part = tools.truthful(&profile.prompt);
        context.tools = tools.tools;
        context.system = prompt.system();
        context.system.push(part);
        context.messages = messages;

        let share = match wanted.place {
            Place::Foreground => base.shared.meter.share(),
            Place::Background => base.shared.meter.share_beside(),
        };
        let share = Arc::new(share);
        let limits = Limits { turns: Some(profile.max_turns), ..base.shared.limits.clone() };
        let budget = Budget::new(limits, base.shared.polls.clone());
        let meter = (wanted.place == Place::Foreground).then(|| base.shared.meter.clone());
        let asking = base.approver.as_ref().map(|approver| {
            let who = format!("{id} ({})", wanted.description.trim());
            let asking = Asking::new(Arc::clone(approver), who, Arc::clone(&self.waiting), meter);
            Arc::new(asking) as Arc<dyn Hooks>
        });
        let approvers = asking.into_iter().chain([Arc::new(Headless) as Arc<dyn Hooks>]).collect();
        let ending = Arc::clone(&domain);
        let hooks = base.shared.hooks(Own {
            domain,
            equipment,
            extensions: vec![Arc::new(GuardsOnly(base.extensions.clone())), Arc::clone(&base.steering) as _],
            approvers,
            keeper: keeper.clone(),
            spill,
            budgets: vec![Arc::clone(&share) as Arc<dyn Hooks>, Arc::new(budget)],
            window,
            plan_folder: None,
        });
        let agent = Agent::new(context, hooks);
        agent.listen(Arc::new(DomainEnd(ending)));
        if let Some(keeper) = keeper {
            agent.listen(Arc::new(keeper));
        }
        agent.listen(share);
        agent.listen(base.relay.of(id));
        Ok(agent)
    }
}

/// Tells the domain of a subagent that its run has ended. The program does so for its own.
struct DomainEnd(Arc<DomainHooks>);

#[async_trait]
impl Listener for DomainEnd {
    fn hears(&self, kind: &EventKind) -> bool {
        matches!(kind, EventKind::RunEnd { .. })
    }

    async fn event(&self, event: Event) {
        if let EventKind::RunEnd { outcome } = event.kind {
            // What it remembers and cannot keep, it keeps before the next model call.
            let _ = self.0.run_ended(&outcome).await;
        }
    }
}

/// The end of an id, which names a session: the beginning says the profile, for people.
fn session_part(id: &str) -> &str {
    id.rsplit('-').next().unwrap_or(id)
}

/// The profile of a subagent that goes on.
fn profile_of(profiles: &Profiles, id: &str, was: &str, taken: Option<&str>) -> Result<Profile> {
    if let Some(taken) = taken.filter(|taken| *taken != was) {
        anyhow::bail!("{id} was sent as {was:?} and stays that, not {taken:?}; leave the profile out");
    }
    let profile = profiles.get(was);
    profile
        .cloned()
        .with_context(|| format!("{id} was sent as {was:?}, and there is no such profile any more"))
}
