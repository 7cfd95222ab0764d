//! Asks a domain at the right moments of a run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use mica_agent::event::WindowChange;
use mica_agent::hooks::{Gated, Point, Record, Step};
use mica_agent::{Args, Base, Context, Hooks, Outcome, RunError, ToolOutput, ToolSpec, Verdict};
use mica_ai::Content;
use mica_ai::message::ToolCall;
use mica_context::section::{Rendered, ToolNames};
use mica_tools::FileUse;
use serde_json::Value;

use crate::act::Act;
use crate::capability::{Capability, Input, Words};
use crate::capture::is_captured;
use crate::domain::Domain;
use crate::error::DomainError;
use crate::memory::{Memory, Unreadable};
use crate::profile::{Profile, RunMode};
use crate::prompt::Prompt;
use crate::resolve::{Resolved, act_of, acts_on, arguments, is_on, resolve_deferring};
use crate::rights::Rights;
use crate::section::{OrgView, TurnView};
use crate::state::{State, Surroundings};
use crate::undeclared::undeclared;

/// A domain as hooks of a run, with what it remembers.
///
/// | moment | domain |
/// |---|---|
/// | a session begins | `initial_state` |
/// | a session goes on ([`DomainHooks::restored`]) | `restore_state` |
/// | a message comes ([`DomainHooks::message`]) | `apply_context` |
/// | before the first turn of a run | `reset_run` |
/// | before each message to the model ([`DomainHooks::turn`]) | `turn` |
/// | a call at the gate | is it a tool of this page, and is there a right to it? then `prefill` |
/// | after a call that worked | `after_write` when it changed files, then `on_result` |
/// | a run ends ([`DomainHooks::run_ended`]) | `on_run_end` |
/// | people see the answer ([`DomainHooks::finish_text`]) | `finish_text` |
///
/// With a [`Memory`], what the domain remembers is kept before each model call, before people are asked, and when a run
/// ended, if it changed.
pub struct DomainHooks {
    parts: Mutex<Arc<Parts>>,
    state: Mutex<State>,
    memory: Option<Arc<dyn Memory>>,
    /// What the memory has.
    kept: Mutex<State>,
    profile: Profile,
    rights: Rights,
}

/// A domain, and what it says of itself.
struct Parts {
    domain: Arc<dyn Domain>,
    capabilities: Vec<Capability>,
    inputs: Vec<Input>,
}

impl Parts {
    fn of(domain: Arc<dyn Domain>) -> Arc<Self> {
        let capabilities = domain.capabilities();
        let inputs = capabilities.iter().flat_map(|capability| capability.inputs.clone()).collect();
        Arc::new(Self { domain, capabilities, inputs })
    }
}

impl DomainHooks {
    /// Hooks for a session that begins.
    pub fn new(domain: Arc<dyn Domain>, surroundings: &Surroundings) -> Self {
        let state = domain.initial_state(surroundings);
        Self::with(domain, state, State::default())
    }

    /// Hooks for a session that goes on, with what the domain remembered.
    pub fn resuming(domain: Arc<dyn Domain>, state: State) -> Self {
        Self::with(domain, state.clone(), state)
    }

    /// Hooks for a session that goes on, with what a [`Memory`] kept. What cannot be read is told, and the domain begins
    /// anew. Surroundings that say nothing leave the page as it was.
    pub fn restored(
        domain: Arc<dyn Domain>,
        surroundings: &Surroundings,
        kept: &Value,
    ) -> (Self, Option<Unreadable>) {
        let read = serde_json::from_value::<State>(kept.clone()).map_err(|error| error.to_string());
        match read.and_then(|kept| Ok((domain.restore_state(kept.clone())?, kept))) {
            Ok((mut state, kept)) => {
                if !surroundings.is_empty() {
                    domain.apply_context(&mut state, surroundings);
                }
                (Self::with(domain, state, kept), None)
            }
            Err(problem) => {
                let unreadable = Unreadable { domain: domain.name().to_owned(), problem };
                (Self::new(domain, surroundings), Some(unreadable))
            }
        }
    }

    fn with(domain: Arc<dyn Domain>, state: State, kept: State) -> Self {
        Self {
            parts: Mutex::new(Parts::of(domain)),
            state: Mutex::new(state),
            memory: None,
            kept: Mutex::new(kept),
            profile: Profile::default(),
            rights: Rights::All,
        }
    }

    /// Keeps what the domain remembers.
    #[must_use]
    pub fn keeping(mut self, memory: Arc<dyn Memory>) -> Self {
        self.memory = Some(memory);
        self
    }

    /// For runs of a kind, by somebody who may do some things.
    #[must_use]
    pub fn within(mut self, profile: Profile, rights: Rights) -> Self {
        (self.profile, self.rights) = (profile, rights);
        self
    }

    /// Goes on with another make of the domain, between runs: for a model that can do less or more, for example. What
    /// was remembered stays.
    pub fn rebuild(&self, domain: Arc<dyn Domain>) {
        *self.parts.lock().unwrap_or_else(PoisonError::into_inner) = Parts::of(domain);
    }

    /// The domain.
    pub fn domain(&self) -> Arc<dyn Domain> {
        Arc::clone(&self.parts().domain)
    }

    /// The groups of tools that it has, on all pages.
    pub fn capabilities(&self) -> Vec<Capability> {
        self.parts().capabilities.clone()
    }

    /// What is said of the tools where the user is.
    pub fn acts(&self) -> Vec<Act> {
        acts_on(&self.parts().capabilities, self.state().page.as_deref())
    }

    /// What is said of a tool where the user is.
    pub fn act(&self, tool: &str) -> Option<Act> {
        let page = self.state().page.clone();
        act_of(&self.parts().capabilities, page.as_deref(), tool).cloned()
    }

    /// Has the domain remember what it did, as if nothing had come since.
    pub(crate) fn put_back(&self, state: State) {
        *self.state() = state;
    }

    /// What kind of runs these are.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// What may be done in them.
    pub fn rights(&self) -> &Rights {
        &self.rights
    }

    /// A message came. Call it before the run begins.
    pub fn message(&self, surroundings: &Surroundings) {
        self.parts().domain.apply_context(&mut self.state(), surroundings);
    }

    /// A run ended. A suspended one has not: the domain is not asked then.
    ///
    /// # Errors
    /// In words, when what the domain remembers could not be kept. It is tried again before the next model call.
    pub async fn run_ended(&self, outcome: &Outcome) -> Result<(), String> {
        if !matches!(outcome, Outcome::Suspended { .. }) {
            // No lock is held while the domain works; nobody else changes the state between runs. It works in a task of its
            // own, so that a domain that breaks costs its memory of this run and nothing else.
            let (domain, outcome, mut state) = (self.domain(), outcome.clone(), self.snapshot());
            let ending = tokio::spawn(mica_ai::id::carried(async move {
                domain.on_run_end(&outcome, &mut state).await;
                state
            }));
            match ending.await {
                Ok(state) => *self.state() = state,
                Err(error) => tracing::error!(%error, "a domain broke at the end of a run"),
            }
        }
        self.keep().await
    }

    /// Hands what the domain remembers over, if it changed since.
    async fn keep(&self) -> Result<(), String> {
        let Some(memory) = &self.memory else { return Ok(()) };
        let state = self.snapshot();
        if *self.kept.lock().unwrap_or_else(PoisonError::into_inner) == state {
            return Ok(());
        }
        let value = serde_json::to_value(&state).map_err(|error| error.to_string())?;
        memory.keep(self.domain().name(), &value).await?;
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = state;
        Ok(())
    }

    /// The model's last words as people will see them.
    pub fn finish_text(&self, text: String) -> String {
        self.parts().domain.finish_text(text, &self.state())
    }

    /// What the domain remembers, for the session to keep.
    pub fn snapshot(&self) -> State {
        self.state().clone()
    }

    /// The tools and texts of the page the user is on, as far as there is a right to them.
    ///
    /// # Errors
    /// [`DomainError`]: mistakes in the domain.
    pub fn resolve(&self, keep: &dyn Fn(&ToolSpec) -> bool) -> Result<Resolved, DomainError> {
        self.resolve_deferring(keep, &|_| false)
    }

    /// The same, with more tools deferred than the domain says.
    ///
    /// # Errors
    /// [`DomainError`]: mistakes in the domain.
    pub fn resolve_deferring(
        &self,
        keep: &dyn Fn(&ToolSpec) -> bool,
        defers: &dyn Fn(&ToolSpec) -> bool,
    ) -> Result<Resolved, DomainError> {
        let (parts, page) = (self.parts(), self.state().page.clone());
        let keep = |spec: &ToolSpec| self.withheld(&parts, page.as_deref(), spec).is_none() && keep(spec);
        resolve_deferring(&parts.capabilities, page.as_deref(), &keep, defers)
    }

    /// The system prompt for the tools that are there.
    ///
    /// # Errors
    /// [`DomainError::UntrueText`].
    pub fn prompt(&self, tools: &Resolved) -> Result<Prompt, DomainError> {
        let view = OrgView { tools: &tools.names, profile: self.profile, rights: &self.rights };
        Prompt::of(&*self.domain(), tools, &view)
    }

    /// What is true at the moment, as turn sections of a window.
    pub fn turn(&self, tools: &ToolNames) -> Vec<Rendered> {
        let (domain, state) = (self.domain(), self.snapshot());
        let view = TurnView { tools, profile: self.profile, rights: &self.rights, state: &state };
        let one = |section: crate::section::Section<_>| {
            let text = section.said(&view.fixed()).map(|piece| piece.text);
            Rendered::turn(section.id(), text)
        };
        domain.turn(&view).into_iter().map(one).collect()
    }

    /// A panic in a domain cannot leave the state half changed in a way that matters more than losing it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn parts(&self) -> Arc<Parts> {
        Arc::clone(&self.parts.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why a tool may not be called here, wherever the user is: for want of a right, or of somebody to ask.
    fn withheld(&self, parts: &Parts, page: Option<&str>, spec: &ToolSpec) -> Option<String> {
        let act = act_of(&parts.capabilities, page, &spec.name)?;
        if let Some(right) = act.needs.as_deref().filter(|right| !self.rights.allow(right)) {
            return Some(format!(
                "{} needs the right {right}, which is not given here. Nothing was done.",
                spec.name
            ));
        }
        (act.questions && self.profile.mode == RunMode::Autonomous).then(|| {
            let name = &spec.name;
            format!(
                "{name} asks somebody, and nobody is there. Nothing was asked. Decide, or say what is open."
            )
        })
    }

    /// Why a tool of this domain cannot be called where the user is. Tools of others are none of its business.
    fn elsewhere(&self, spec: &ToolSpec) -> Option<String> {
        let (parts, page) = (self.parts(), self.state().page.clone());
        let known = parts.capabilities.iter().flat_map(|capability| {
            capability.tools.iter().map(move |tool| (&capability.page, &tool.spec().name))
        });
        let home = known.filter(|(_, name)| **name == spec.name).map(|(page, _)| page.to_string()).next()?;
        if !is_on(&parts.capabilities, page.as_deref(), spec) {
            return Some(format!(
                "{} belongs to {home} and cannot be called where the user is now. Nothing was done. Say what you would do \
                 there, or use the tools of this page.",
                spec.name
            ));
        }
        self.withheld(&parts, page.as_deref(), spec)
    }

    /// What a tool of this domain would drop of a call without a word. Those of others do with it what they like.
    fn dropped(&self, gated: &Gated<'_>) -> Option<String> {
        let parts = self.parts();
        let mut own = parts.capabilities.iter().filter(|capability| capability.words == Words::Own);
        let is_own =
            own.any(|capability| capability.tools.iter().any(|tool| tool.spec().name == gated.spec.name));
        let problem = undeclared(gated.spec, &gated.args).filter(|_| is_own)?;
        Some(format!("{problem} Nothing was done. Call {} again with this put right.", gated.spec.name))
    }

    /// Why what a call would change must be saved first.
    fn unsaved(&self, gated: &Gated<'_>) -> Option<String> {
        let (parts, state) = (self.parts(), self.snapshot());
        let act = act_of(&parts.capabilities, state.page.as_deref(), &gated.spec.name)?;
        let (argument, kind) = act.saved.as_ref()?;
        let id = gated.args.get(argument)?.as_str()?;
        state.refs.is_dirty(kind, id).then(|| {
            format!(
                "The user has changes of {kind} {id} on the screen that are not saved. Nothing was done. Ask them to save or \
                 discard these first."
            )
        })
    }

    /// Fills in what the model left out and the domain knows.
    fn fill(&self, gated: &mut Gated<'_>) {
        let (parts, state) = (self.parts(), self.snapshot());
        for input in parts.inputs.iter().filter(|input| input.tool == gated.spec.name) {
            let open = match gated.args.get(&input.argument) {
                None | Some(Value::Null) => true,
                Some(Value::String(text)) => text.is_empty(),
                Some(_) => false,
            };
            if open
                && arguments(gated.spec).any(|argument| argument == input.argument)
                && let Some(value) = parts.domain.prefill(input, &state)
            {
                gated.args.insert(input.argument.clone(), value);
            }
        }
    }
}

/// Fills in what the model left out, before anybody judges a call: an argument that must be there may be one that the
/// domain knows.
pub struct Prefill(pub Arc<DomainHooks>);

#[async_trait]
impl Hooks for Prefill {
    fn says(&self, at: Point) -> bool {
        at == Point::Gate
    }

    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        self.0.fill(gated);
        Verdict::Pass
    }
}

#[async_trait]
impl Hooks for DomainHooks {
    async fn before_turn(&self, cx: &mut Context) -> Result<(Step, Vec<WindowChange>), RunError> {
        if cx.tally.turns <= 1 {
            self.parts().domain.reset_run(&mut self.state());
        }
        Ok((Step::Go, Vec::new()))
    }

    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        if let Some(reason) = self.elsewhere(gated.spec).or_else(|| self.dropped(gated)) {
            return Verdict::Deny { reason, rule: None };
        }
        self.fill(gated);
        match self.unsaved(gated) {
            Some(reason) => Verdict::Deny { reason, rule: None },
            None => Verdict::Pass,
        }
    }

    async fn base(&self, _: &ToolCall, spec: &ToolSpec, args: &Args) -> Option<Base> {
        let looks = self.act(&spec.name)?.base?;
        Some(looks(args.clone()).await.unwrap_or_else(|problem| {
            // It stands otherwise once it can be looked at.
            Base::of("what it rests on", format!("cannot be looked at: {problem}"))
        }))
    }

    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        match record {
            // Before the turn is on record: who makes that safe makes this safe with it. Before people are asked, too: what
            // the tools came to must not be lost while they think.
            Record::TurnOpen | Record::Asked(_) => self.keep().await,
            Record::Message(_) | Record::Answered(_) => Ok(()),
        }
    }

    async fn after_tool(&self, call: &ToolCall, spec: &ToolSpec, output: &mut ToolOutput) {
        let domain = self.domain();
        let changed = FileUse::of(output.details.as_ref()).changed;
        if !changed.is_empty() && !is_captured(output.details.as_ref()) {
            // No lock is held while the domain works.
            let state = self.snapshot();
            if let Some(remark) = domain.after_write(&changed, &state).await {
                output.content.push(Content::text(remark.text));
                if let (Some(checks), Some(Value::Object(details))) = (remark.checks, &mut output.details) {
                    details.insert("checks".to_owned(), checks);
                }
            }
        }
        // What was captured is predicted: nothing may be made of it.
        if !is_captured(output.details.as_ref()) {
            domain.on_result(call, spec, output, &mut self.state());
        }
    }
}
