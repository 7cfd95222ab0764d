//! One purse for several: what subagents take counts in the limits of the run that sent them, while they take it.
//!
//! The run's own [`Budget`](super::Budget) holds a [`Meter`], and each subagent has a [`Share`] of it. A share writes down
//! each answer when it ends, and judges the limits of the whole before each of its turns; the run moves what was written
//! down into its tally before each of its own. Whoever comes first to the end stops, and so do the others at their next
//! turn.
//!
//! Turns, repeats and failures stay everybody's own. Time is counted along the longest path: subagents that work side by
//! side take as long as the slowest, as the run itself counts it. One in the background takes none of the run's time, but
//! has no more of its own than the run had left when it began.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::event::WindowChange;
use mica_agent::hooks::Step;
use mica_agent::{Context, Event, EventKind, Hooks, Listener, RunError, Tally};
use mica_ai::Usage;

use super::{Limits, judge};

/// What a run and its subagents take together. Clones are handles to the same one.
#[derive(Debug, Clone)]
pub struct Meter {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug)]
struct Inner {
    limits: Limits,
    /// What the run itself had taken when it was last counted, and what was moved into its tally.
    counted: Tally,
    /// What subagents took since then.
    since: Usage,
    /// Answers of subagents in this run.
    answers: u32,
    /// How far the subagents that this turn waits for have come in time.
    front: Duration,
    /// How long this turn waited for people, which is nobody's working time.
    waited: Duration,
}

impl Default for Meter {
    fn default() -> Self {
        let inner = Inner {
            limits: Limits::NONE,
            counted: Tally::default(),
            since: Usage::default(),
            answers: 0,
            front: Duration::ZERO,
            waited: Duration::ZERO,
        };
        Self { inner: Arc::new(Mutex::new(inner)) }
    }
}

impl Meter {
    /// A share for a subagent that begins now, and that the run waits for.
    pub fn share(&self) -> Share {
        let from = From::Turn(self.inner().front);
        Share { meter: self.clone(), from }
    }

    /// A share for a subagent that works beside the run.
    pub fn share_beside(&self) -> Share {
        let inner = self.inner();
        let from = From::Run(inner.counted.active.saturating_add(inner.front));
        drop(inner);
        Share { meter: self.clone(), from }
    }

    /// A subagent that the run waits for has itself waited for a person: this does not count as time of the run. Waits of
    /// several at once are told as one.
    pub fn waited(&self, time: Duration) {
        let mut inner = self.inner();
        inner.waited = inner.waited.saturating_add(time);
    }

    /// Moves what subagents took into the tally of their run. Called before each turn of the run, and once more when it
    /// has ended: what they take after that counts in the next one.
    pub fn count(&self, tally: &mut Tally) {
        let mut inner = self.inner();
        let taken = std::mem::take(&mut inner.since);
        tally.usage += taken;
        tally.delegated += taken;
        if tally.turns <= 1 {
            inner.answers = 0;
        }
        // The run has counted the time of the turn that is over, and people's with it.
        inner.front = Duration::ZERO;
        tally.active = tally.active.saturating_sub(std::mem::take(&mut inner.waited));
        inner.counted = tally.clone();
    }

    /// Sets the limits that hold for all together.
    pub(super) fn limit(&self, limits: &Limits) {
        let own = Limits { turns: None, repeats: None, failures: None, approvals: None, ..limits.clone() };
        self.inner().limits = own;
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A subagent's share. It is a hook, for the limits, and a listener, for what is taken; both are needed.
#[derive(Debug, Clone)]
pub struct Share {
    meter: Meter,
    from: From,
}

/// From when on its time counts.
#[derive(Debug, Clone, Copy)]
enum From {
    /// Within the turn that waits for it: how far the subagents before it had come.
    Turn(Duration),
    /// Beside the run: what the run had taken when it began.
    Run(Duration),
}

#[async_trait]
impl Hooks for Share {
    async fn before_turn(&self, cx: &mut Context) -> Result<(Step, Vec<WindowChange>), RunError> {
        let mut inner = self.meter.inner();
        let active = match self.from {
            From::Run(from) => from.saturating_add(cx.tally.active),
            From::Turn(from) => {
                inner.front = inner.front.max(from.saturating_add(cx.tally.active));
                inner.counted.active.saturating_add(inner.front)
            }
        };
        let mut all = Tally {
            // The one that is about to begin is counted, as the loop does it.
            turns: inner.counted.turns.saturating_add(inner.answers).saturating_add(1),
            active,
            usage: inner.counted.usage,
            ..Tally::default()
        };
        all.usage += inner.since;
        let Some(mut reached) = judge(&inner.limits, &all) else { return Ok((Step::Go, Vec::new())) };
        reached.limit.reached.push_str(", of the whole run with its subagents");
        Ok((reached.into(), Vec::new()))
    }
}

#[async_trait]
impl Listener for Share {
    fn hears(&self, kind: &EventKind) -> bool {
        matches!(kind, EventKind::AnswerEnd { .. })
    }

    async fn event(&self, event: Event) {
        if let EventKind::AnswerEnd { usage, .. } = event.kind {
            let mut inner = self.meter.inner();
            inner.since += usage;
            inner.answers = inner.answers.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests;
