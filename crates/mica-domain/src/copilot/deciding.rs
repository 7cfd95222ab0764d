//! People who answer: one after the other, with a name, in time. A run goes on when all of its questions are answered.
//!
//! Promises: a yes is carried out when what it rests on stands as it was shown, by somebody who may still give it, in the
//! name of whoever gave it. What cannot be recorded is not carried out.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use mica_agent::{Ask, look_again};
use mica_ai::id::carried;
use tokio::sync::OwnedMutexGuard;

use super::{Copilot, CopilotError, Inner};
use crate::approvals::{About, ApprovalError, CardState, Choice, Decided, Person, Register};
use crate::runners::Turned;

/// How long somebody who has the turn without a run is waited for. A minute: a look at questions has its own deadlines, and
/// is over before. What is decided then is gone on with by whoever comes next ([`Copilot::expire`]).
const PATIENCE: Duration = Duration::from_secs(60);

/// What an answer came to.
#[derive(Debug)]
pub struct Answered {
    /// Which questions are open, and which answers came too late.
    pub decided: Decided,
    /// What the run came to, when it could go on.
    pub turned: Option<Turned>,
}

impl Copilot {
    /// The questions of the session, as they are kept and shown.
    pub fn approvals(&self) -> &Arc<Register> {
        &self.inner.register
    }

    /// What people are asked, looked at again: with previews of things as they stand now, and with what has changed since
    /// they were asked. For whoever shows it, also after a restart or a reload. While a run goes on: as it was.
    ///
    /// # Errors
    /// [`CopilotError::Approval`], [`CopilotError::Kept`]: what is shown could not be kept, so nobody could answer it.
    pub async fn questions(&self) -> Result<Vec<Ask>, CopilotError> {
        let Ok(_turn) = self.inner.running.try_lock() else { return Ok(self.waiting()) };
        self.inner.look_again().await
    }

    /// A person answers some of what is asked: a question as they were shown it (`&Ask`, `&ApprovalCard`), or a call, as it
    /// was shown last. When nothing is open any more, the run goes on.
    ///
    /// # Errors
    /// [`CopilotError::NothingWaits`]; [`CopilotError::Approval`] when they may not, changed what may not be changed, or when
    /// what a yes rests on is not as they were shown it ([`ApprovalError::Changed`]): then nothing is decided, and
    /// [`waiting`](Copilot::waiting) has the question as it is now.
    pub async fn decide<Q: Into<About>>(
        &self,
        said: impl IntoIterator<Item = (Q, Choice)>,
        person: &Person,
    ) -> Result<Answered, CopilotError> {
        let said: Vec<(About, Choice)> =
            said.into_iter().map(|(about, choice)| (about.into(), choice)).collect();
        let (copilot, person) = (self.clone(), person.clone());
        apart(async move { copilot.decides(said, &person).await }).await
    }

    async fn decides(&self, said: Vec<(About, Choice)>, person: &Person) -> Result<Answered, CopilotError> {
        let before = self.waiting();
        if before.is_empty() {
            return Err(CopilotError::NothingWaits);
        }
        let asks = self.questions().await?;
        for (about, choice) in &said {
            if matches!(choice, Choice::Approve { .. }) {
                self.stands(about, &before, &asks)?;
            }
        }
        let said = said.into_iter().map(|(about, choice)| (about.call, choice));
        self.taken(self.inner.register.decide(&asks, said, person).await?).await
    }

    /// Whether a question is still as somebody was shown it.
    fn stands(&self, about: &About, before: &[Ask], now: &[Ask]) -> Result<(), ApprovalError> {
        let of = |asks: &[Ask]| asks.iter().find(|ask| ask.call.id == about.call).cloned();
        let (Some(was), Some(now)) = (of(before), of(now)) else { return Ok(()) };
        let seen = about.seen.as_ref().unwrap_or(&was.shown);
        // What somebody answered before needs no other words: the answer is late.
        let newest = self.inner.register.cards()?.into_iter().rev().find(|card| card.call == about.call);
        if *seen == now.shown || newest.is_none_or(|card| card.state != CardState::Pending) {
            return Ok(());
        }
        Err(ApprovalError::Changed { tool: now.call.name.clone(), changes: now.changed })
    }

    /// Settles questions whose time is over as a no, and goes on with what was decided in a process that ended before it
    /// could: in the name of whoever decided, as far as they still may. Does nothing when nothing waits.
    ///
    /// # Errors
    /// [`CopilotError`].
    pub async fn expire(&self) -> Result<Answered, CopilotError> {
        let copilot = self.clone();
        apart(async move { copilot.expires().await }).await
    }

    async fn expires(&self) -> Result<Answered, CopilotError> {
        let asks = self.waiting();
        if asks.is_empty() {
            return Ok(Answered { decided: Decided::default(), turned: None });
        }
        // What it has to tell is for whoever opens a session; here the question is simply asked.
        self.inner.register.catch_up(&asks).await?;
        self.taken(self.inner.register.expire(&asks).await?).await
    }

    /// Has the run go on when nothing is open any more.
    async fn taken(&self, decided: Decided) -> Result<Answered, CopilotError> {
        if decided.decisions.is_none() {
            return Ok(Answered { decided, turned: None });
        }
        // The run that goes on looks at what was decided, also when it is about to wait.
        let turn = tokio::time::timeout(PATIENCE, self.inner.turn()).await.ok().flatten();
        let Some(turn) = turn else { return Ok(Answered { decided, turned: None }) };
        // Of two who answer at once, one has the run go on with what both said. Then nothing waits any more, or something
        // else does.
        let Some(now) = self.inner.standing().await? else { return Ok(Answered { decided, turned: None }) };
        let decided = Decided { late: decided.late, ..now };
        let Some(decisions) = decided.decisions.clone() else {
            return Ok(Answered { decided, turned: None });
        };
        let turned = self.detached(turn, |inner| async move { inner.answer(decisions, None).await }).await?;
        Ok(Answered { decided, turned: Some(turned) })
    }
}

/// Runs in a task of its own: an answer that is on record is carried out, also when whoever gave it goes away meanwhile.
async fn apart<F>(answering: F) -> Result<Answered, CopilotError>
where
    F: Future<Output = Result<Answered, CopilotError>> + Send + 'static,
{
    let task = tokio::spawn(carried(answering));
    task.await.unwrap_or_else(|error| Err(CopilotError::Broke { problem: error.to_string() }))
}

impl Inner {
    /// The turn, once nobody has it who has no run go on: who looks at questions, or says what cannot be said. `None` when a
    /// run goes on: it may itself wait for whoever wants the turn, so it is not waited for.
    async fn turn(&self) -> Option<OwnedMutexGuard<()>> {
        let mut going = self.going.subscribe();
        let runs = async move {
            let _ = going.wait_for(|going| *going).await;
        };
        tokio::select! {
            biased;
            () = runs => None,
            turn = Arc::clone(&self.running).lock_owned() => Some(turn),
        }
    }

    /// Looks again at what is asked, and keeps what is to be seen. Only while no run goes on.
    pub(super) async fn look_again(&self) -> Result<Vec<Ask>, CopilotError> {
        let Some(waiting) = self.asked.waiting() else { return Ok(Vec::new()) };
        let tools = self.agent.with(|cx| cx.tools.clone()).await.map_err(|_| CopilotError::Busy)?;
        let mut asks = Vec::with_capacity(waiting.asks.len());
        for ask in &waiting.asks {
            asks.push(look_again(ask, &tools, &*self.hooks).await);
        }
        // First the questions: those that were looked at again come to the same when they are once more.
        self.register.renewed(&asks).await?;
        if asks != waiting.asks {
            let renewed = self.asked.renew(asks.clone(), waiting.tally).await;
            renewed.map_err(|problem| CopilotError::Kept { problem })?;
        }
        Ok(asks)
    }
}
