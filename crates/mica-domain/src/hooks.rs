//! Asks a domain at the right moments of a run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use mica_agent::event::WindowChange;
use mica_agent::hooks::{Gated, Step};
use mica_agent::{Context, Hooks, Outcome, RunError, ToolOutput, ToolSpec, Verdict};
use mica_ai::Content;
use mica_ai::message::ToolCall;
use mica_tools::FileUse;

use crate::capability::{Capability, Input};
use crate::domain::Domain;
use crate::error::DomainError;
use crate::resolve::{Resolved, arguments, resolve};
use crate::state::{State, Surroundings};

/// A domain as hooks of a run, with what it remembers.
///
/// | moment | domain |
/// |---|---|
/// | a session begins | `initial_state` |
/// | a message comes ([`DomainHooks::message`]) | `apply_context` |
/// | before the first turn of a run | `reset_run` |
/// | a call at the gate | is it a tool of this page? then `prefill` |
/// | after a call | `after_write` when it changed files, then `on_result` |
/// | a run ends ([`DomainHooks::run_ended`]) | `on_run_end` |
/// | people see the answer ([`DomainHooks::finish_text`]) | `finish_text` |
pub struct DomainHooks {
    domain: Arc<dyn Domain>,
    capabilities: Vec<Capability>,
    inputs: Vec<Input>,
    state: Mutex<State>,
}

impl DomainHooks {
    /// Hooks for a session that begins.
    pub fn new(domain: Arc<dyn Domain>, surroundings: &Surroundings) -> Self {
        let state = domain.initial_state(surroundings);
        Self::resuming(domain, state)
    }

    /// Hooks for a session that goes on, with what the domain remembered.
    pub fn resuming(domain: Arc<dyn Domain>, state: State) -> Self {
        let capabilities = domain.capabilities();
        let inputs = capabilities.iter().flat_map(|capability| capability.inputs.clone()).collect();
        Self { domain, capabilities, inputs, state: Mutex::new(state) }
    }

    /// A message came. Call it before the run begins.
    pub fn message(&self, surroundings: &Surroundings) {
        self.domain.apply_context(&mut self.state(), surroundings);
    }

    /// A run ended.
    pub async fn run_ended(&self, outcome: &Outcome) {
        // No lock is held while the domain works; nobody else changes the state between runs.
        let mut state = self.snapshot();
        self.domain.on_run_end(outcome, &mut state).await;
        *self.state() = state;
    }

    /// The model's last words as people will see them.
    pub fn finish_text(&self, text: String) -> String {
        self.domain.finish_text(text, &self.state())
    }

    /// What the domain remembers, for the session to keep.
    pub fn snapshot(&self) -> State {
        self.state().clone()
    }

    /// The tools and texts of the page the user is on.
    ///
    /// # Errors
    /// [`DomainError`]: mistakes in the domain.
    pub fn resolve(&self, keep: &dyn Fn(&ToolSpec) -> bool) -> Result<Resolved, DomainError> {
        let page = self.state().page.clone();
        resolve(&self.capabilities, page.as_deref(), keep)
    }

    /// A panic in a domain cannot leave the state half changed in a way that matters more than losing it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why a tool of this domain cannot be called where the user is. Tools of others are none of its business.
    fn elsewhere(&self, spec: &ToolSpec) -> Option<String> {
        let known = self.capabilities.iter().flat_map(|capability| {
            capability.tools.iter().map(move |tool| (&capability.page, &tool.spec().name))
        });
        let home = known.filter(|(_, name)| **name == spec.name).map(|(page, _)| page.to_string()).next()?;
        // A domain that cannot be resolved was refused when the session began; here it means no.
        let here = self.resolve(&|_| true).is_ok_and(|resolved| resolved.names.has(&spec.name));
        (!here).then(|| {
            format!(
                "{} belongs to {home} and cannot be called where the user is now. Nothing was done. Say what you would do \
                 there, or use the tools of this page.",
                spec.name
            )
        })
    }
}

#[async_trait]
impl Hooks for DomainHooks {
    async fn before_turn(&self, cx: &mut Context) -> Result<(Step, Vec<WindowChange>), RunError> {
        if cx.tally.turns <= 1 {
            self.domain.reset_run(&mut self.state());
        }
        Ok((Step::Go, Vec::new()))
    }

    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        if let Some(reason) = self.elsewhere(gated.spec) {
            return Verdict::Deny { reason, rule: None };
        }
        let state = self.state();
        for input in self.inputs.iter().filter(|input| input.tool == gated.spec.name) {
            let open = gated.args.get(&input.argument).is_none_or(serde_json::Value::is_null);
            if open
                && arguments(gated.spec).any(|argument| argument == input.argument)
                && let Some(value) = self.domain.prefill(input, &state)
            {
                gated.args.insert(input.argument.clone(), value);
            }
        }
        Verdict::Pass
    }

    async fn after_tool(&self, call: &ToolCall, spec: &ToolSpec, output: &mut ToolOutput) {
        let changed = FileUse::of(output.details.as_ref()).changed;
        if !changed.is_empty() {
            // No lock is held while the domain works.
            let state = self.snapshot();
            if let Some(found) = self.domain.after_write(&changed, &state).await {
                output.content.push(Content::text(found));
            }
        }
        self.domain.on_result(call, spec, output, &mut self.state());
    }
}
