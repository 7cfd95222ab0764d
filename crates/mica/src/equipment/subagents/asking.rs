//! What a subagent shares with the one that sent it when its calls are judged: gates, and the person who is asked.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::hooks::{Gated, Point};
use mica_agent::{Ask, Context, Decision, Hooks, Proposal, ToolError, ToolOutput, ToolSpec, Verdict};
use mica_ai::message::ToolCall;
use mica_ext::Extensions;
use mica_policy::budget::Meter;
use tokio::time::Instant;

/// The gate of hooks that belong to another agent, with what it remembers of a yes and how it answers a question, and
/// nothing else of them: what steers that one, or is added to its results, is not for this one.
pub struct GateOnly(pub Arc<dyn Hooks>);

#[async_trait]
impl Hooks for GateOnly {
    async fn gate(&self, gated: &mut Gated<'_>, cx: &Context) -> Verdict {
        self.0.gate(gated, cx).await
    }

    /// Command hooks answer questions, whoever asks them. Persons are asked behind them, by [`Asking`].
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        self.0.approve(asks).await
    }

    async fn remember(&self, ask: &Ask, proposal: &Proposal) -> Result<(), String> {
        self.0.remember(ask, proposal).await
    }
}

/// The guards among extensions, and nothing else of them: what they add to prompts and hear of is the agent's that a person
/// talks with.
pub struct GuardsOnly(pub Extensions);

#[async_trait]
impl Hooks for GuardsOnly {
    fn says(&self, at: Point) -> bool {
        matches!(at, Point::Gate | Point::AfterCall) && self.0.says(at)
    }

    fn deadline(&self) -> Duration {
        self.0.deadline()
    }

    async fn gate(&self, gated: &mut Gated<'_>, cx: &Context) -> Verdict {
        self.0.gate(gated, cx).await
    }

    async fn after_call(&self, call: &ToolCall, spec: &ToolSpec, made: &mut Result<ToolOutput, ToolError>) {
        self.0.after_call(call, spec, made).await;
    }
}

/// Asks the person of the session, and says on whose behalf.
pub struct Asking {
    approver: Arc<dyn Hooks>,
    who: String,
    waiting: Arc<Waiting>,
    /// Whose time it is not. Nobody waits for a subagent in the background.
    meter: Option<Meter>,
}

impl Asking {
    /// Asks on behalf of `who`.
    pub fn new(approver: Arc<dyn Hooks>, who: String, waiting: Arc<Waiting>, meter: Option<Meter>) -> Self {
        Self { approver, who, waiting, meter }
    }
}

#[async_trait]
impl Hooks for Asking {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        let asks: Vec<Ask> = asks
            .iter()
            .cloned()
            .map(|mut ask| {
                ask.reason = format!("the subagent {} asks: {}", self.who, ask.reason);
                ask
            })
            .collect();
        let _waiting = self.meter.as_ref().map(|meter| self.waiting.begin(meter));
        self.approver.approve(&asks).await
    }
}

/// How long people were waited for by subagents that somebody waits for. Waits at the same time are one.
#[derive(Default)]
pub struct Waiting {
    open: Mutex<Option<(Instant, usize)>>,
}

impl Waiting {
    fn begin(self: &Arc<Self>, meter: &Meter) -> OneWait {
        let mut open = self.open();
        *open = match *open {
            None => Some((Instant::now(), 1)),
            Some((since, count)) => Some((since, count + 1)),
        };
        OneWait { waiting: Arc::clone(self), meter: meter.clone() }
    }

    fn open(&self) -> MutexGuard<'_, Option<(Instant, usize)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waiting for a person. Dropped when they have answered, or nobody wants to know any more.
struct OneWait {
    waiting: Arc<Waiting>,
    meter: Meter,
}

impl Drop for OneWait {
    fn drop(&mut self) {
        let mut open = self.waiting.open();
        match open.take() {
            Some((since, 1)) => self.meter.waited(since.elapsed()),
            Some((since, count)) => *open = Some((since, count - 1)),
            None => {}
        }
    }
}
