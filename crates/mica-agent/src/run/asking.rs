//! Asking people about the calls of an answer: rounds of questions, until each has an answer or counts as a no.
//!
//! A yes that is to be remembered counts at once: what it covers of the same batch is not asked about any more.

use mica_ai::id::CallId;
use mica_ai::message::ToolCall;
use tokio_util::sync::CancellationToken;

use super::{Run, Turn};
use crate::approval::{Answer, Ask, Decision, Decisions};
use crate::call::INTERRUPTED;
use crate::event::EventKind;
use crate::gate::{self, Passed};
use crate::guard;
use crate::hooks::Record;
use crate::outcome::{Outcome, RunError};
use crate::proposal::Proposal;

/// What is said of answers that are not taken.
const UNKEPT: &str = "the answers could not be kept, so they do not count";

/// What people said about the calls they were asked about.
enum Said {
    Now(Decisions),
    Nobody,
    Cut,
}

/// The calls of an answer, and what is known of them.
struct Batch<'a> {
    calls: &'a [ToolCall],
    passed: Passed,
    answers: Decisions,
    /// Answers that were counted.
    counted: u32,
}

impl<'a> Batch<'a> {
    fn of(calls: &'a [ToolCall], passed: Passed) -> Self {
        Self { calls, passed, answers: Decisions::default(), counted: 0 }
    }
}

impl Run<'_> {
    /// Asks people where they must be asked, and runs what may run.
    pub(super) async fn asked(
        &mut self,
        calls: &[ToolCall],
        passed: Passed,
        cut: &CancellationToken,
    ) -> Result<Turn, RunError> {
        let asks = passed.asks();
        self.until_decided(Batch::of(calls, passed), asks, cut).await
    }

    /// Goes on with answers that were given before. Those that were given for something else than would run now are asked
    /// for again; what the others say stays said. Nothing is run by halves: all of it waits for them.
    pub(super) async fn answered(
        &mut self,
        calls: &[ToolCall],
        passed: Passed,
        answers: Decisions,
        cut: &CancellationToken,
    ) -> Result<Turn, RunError> {
        let asks = passed.asks();
        let (fitting, outdated) = passed.fitting(answers);
        let is_later = |answer: &&Answer| answer.decision == Decision::Later && !outdated.0.is_empty();
        let later: Vec<CallId> =
            fitting.0.iter().filter(is_later).map(|answer| answer.call.clone()).collect();
        let mut batch = Batch::of(calls, passed);
        // Nothing was taken yet, so the run stays as it was: suspended, with the same questions.
        let mut again = self
            .take(fitting, &asks, &mut batch, cut)
            .await
            .map_err(|message| RunError::Resume { message: format!("{UNKEPT}: {message}") })?;
        again.extend(batch.passed.ask_again(&outdated));
        let mut asks = batch.passed.asks();
        let is_asked = |call: &CallId| later.contains(call) || again.iter().any(|ask| ask.call.id == *call);
        asks.retain(|ask| is_asked(&ask.call.id));
        self.until_decided(batch, asks, cut).await
    }

    /// Asks until nothing is open, and runs what may run. Each round decides about a call at least, or is the last.
    async fn until_decided(
        &mut self,
        mut batch: Batch<'_>,
        mut asks: Vec<Ask>,
        cut: &CancellationToken,
    ) -> Result<Turn, RunError> {
        loop {
            if asks.is_empty() {
                // Right before it counts: what was answered first may have changed while the rest was thought about.
                let given = std::mem::take(&mut batch.answers);
                (batch.answers, asks) = batch.passed.still(given, self.hooks, cut).await;
                if asks.is_empty() {
                    break;
                }
            }
            match self.decisions(&asks, cut).await? {
                Said::Now(given) => {
                    let (given, changed) = batch.passed.still(given, self.hooks, cut).await;
                    match self.take(given, &asks, &mut batch, cut).await {
                        Ok(again) => asks = again,
                        Err(message) => {
                            let text = format!("{UNKEPT}: {message}");
                            self.events.tell(EventKind::Notice { text }).await;
                            return Ok(self.suspended(&batch));
                        }
                    }
                    asks.extend(changed);
                }
                Said::Nobody => return Ok(self.suspended(&batch)),
                Said::Cut => {
                    self.settle(batch.calls, INTERRUPTED).await?;
                    return Ok(self.cut_short());
                }
            }
        }
        self.run_calls(batch.passed, &batch.answers, cut).await
    }

    /// Waits for people, with all questions of the batch: who goes on later says what was answered so far as well, unless
    /// it was remembered. It is counted then.
    fn suspended(&mut self, batch: &Batch<'_>) -> Turn {
        self.cx.tally.approvals = self.cx.tally.approvals.saturating_sub(batch.counted);
        Turn::Over(Outcome::Suspended { asks: batch.passed.asks() })
    }

    /// What people say about the calls they are asked about.
    async fn decisions(&mut self, asks: &[Ask], cut: &CancellationToken) -> Result<Said, RunError> {
        // Before anybody is asked: a question must survive a crash while somebody thinks about it.
        self.record(Record::Asked(asks)).await?;
        for ask in asks {
            self.events.tell(EventKind::ApprovalAsked { ask: ask.clone() }).await;
        }
        let given = tokio::select! {
            biased;
            () = cut.cancelled() => return Ok(Said::Cut),
            given = guard::caught(async { self.hooks.approve(asks).await }) => given,
        };
        Ok(match given {
            Ok(Some(given)) => Said::Now(Decisions::to(asks, given)),
            Ok(None) => Said::Nobody,
            Err(message) => {
                tracing::error!(message, "asking for approval panicked");
                Said::Now(Decisions::default())
            }
        })
    }

    /// Takes answers, and says what is to be asked again. When something was remembered, what has no answer is judged
    /// again: it may be covered by now. Answers that cannot be kept are none, and nothing has happened then.
    async fn take(
        &mut self,
        given: Decisions,
        asks: &[Ask],
        batch: &mut Batch<'_>,
        cut: &CancellationToken,
    ) -> Result<Vec<Ask>, String> {
        let (later, given): (Vec<_>, Vec<_>) =
            given.0.into_iter().partition(|answer| answer.decision == Decision::Later);
        if !given.is_empty() {
            self.record(Record::Answered(&given)).await.map_err(|error| error.to_string())?;
        }
        for answer in &given {
            let (call, decision) = (answer.call.clone(), answer.decision.clone());
            self.events.tell(EventKind::ApprovalGiven { call, decision }).await;
        }
        // Counted with the answer, not with the question: what waits was kept before, and is counted once after a crash.
        let counted = u32::try_from(given.len()).unwrap_or(u32::MAX);
        self.cx.tally.approvals = self.cx.tally.approvals.saturating_add(counted);
        batch.counted = batch.counted.saturating_add(counted);
        let mut remembered = false;
        for answer in &given {
            if let Some(picked) = answer.decision.remembers() {
                let ask = asks.iter().find(|ask| ask.call.id == answer.call && answer.fits(&ask.shown));
                remembered |= self.remember(ask, picked).await;
            }
        }
        let decided = !given.is_empty();
        batch.answers.0.extend(given);
        let open: Vec<&Ask> = asks.iter().filter(|ask| batch.answers.of(&ask.call.id).is_none()).collect();
        if remembered && !open.is_empty() {
            batch.passed = gate::pass(batch.calls, self.cx, self.hooks, cut).await;
            for ask in open.iter().filter(|ask| batch.passed.runs(&ask.call.id)) {
                let (call, decision) = (ask.call.id.clone(), Decision::Allow);
                self.events.tell(EventKind::ApprovalGiven { call, decision }).await;
            }
        }
        let mut again = batch.passed.asks();
        again.retain(|ask| decided && later.iter().any(|answer| answer.call == ask.call.id));
        Ok(again)
    }

    /// Has a proposal remembered, and says whether it is. What goes wrong is told; the call runs all the same.
    async fn remember(&self, ask: Option<&Ask>, picked: &Proposal) -> bool {
        // A call that nobody asks about any more needs nothing remembered.
        let Some(ask) = ask else { return false };
        let problem = match ask.proposal(picked) {
            None => Some("it is not proposed any more; the call is allowed this once".to_owned()),
            Some(proposal) => {
                match guard::soon("remember", async { self.hooks.remember(ask, proposal).await }).await {
                    Ok(Ok(())) => None,
                    Ok(Err(message)) => Some(message),
                    Err(error) => Some(error.to_string()),
                }
            }
        };
        let Some(problem) = problem else { return true };
        let what = ask.proposal(picked).map_or(&picked.key, |proposal| &proposal.text);
        let text = format!("could not be remembered: {what} ({problem})");
        self.events.tell(EventKind::Notice { text }).await;
        // What failed may have been remembered in part.
        ask.proposal(picked).is_some()
    }
}
