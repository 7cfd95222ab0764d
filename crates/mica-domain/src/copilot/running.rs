//! Runs of a copilot, one at a time: what is done before one begins, and when it is over.

use std::future::Future;
use std::sync::Arc;

use mica_agent::{Decisions, Outcome, RunError};
use mica_ai::id::{MessageId, carried};
use mica_ai::{Content, Message, User};
use serde_json::json;
use tokio::sync::watch;

use super::{CopilotError, Inner};
use crate::approvals::Decided;
use crate::lifecycle::Ending;
use crate::runners::{Origin, Said, Turned};
use crate::side::Side;
use crate::state::{State, Surroundings};

impl Inner {
    pub(super) async fn say(self: Arc<Self>, said: Said) -> Result<Turned, CopilotError> {
        let waiting = self.asked.waiting();
        if waiting.is_some() && said.origin != Origin::Person {
            return Err(CopilotError::Waiting);
        }
        let user = match &said.source {
            None => User { id: MessageId::fresh(), content: vec![Content::text(said.text.clone())] },
            Some(name) => {
                let id = named(name);
                if self.messages().await?.iter().any(|message| *message.id() == id) {
                    return Err(CopilotError::SaidBefore { name: name.clone() });
                }
                User { id, content: vec![Content::text(said.text.clone())] }
            }
        };
        let before = self.domain.snapshot();
        self.places(&said);
        let taken = self.lives.taken();
        // Nothing is over before what is said can begin: until then it can fail, and what was asked is still asked.
        if let Err(error) = self.begins(&said, &user, waiting.is_some()).await {
            self.goes_back(before, waiting.is_some()).await;
            return Err(error);
        }
        if waiting.is_some() {
            // The run that waited is over, where it was. Its calls are settled with the message that is said, and its questions
            // with them.
            self.domain.put_back(before);
            self.closing.gives_way(&taken).await;
            self.places(&said);
        }
        self.closing.begins();
        let last = self.last_said().await;
        let agent = self.agent.clone();
        let turned = self.ran(async move { agent.prompt(user).await }).await?;
        if let Some(waiting) = &waiting {
            if self.last_said().await == last {
                // Not a word of it is on record, so it was not said, and people are still asked.
                self.asked.put_back(waiting);
                self.register.asked_still(&waiting.asks).await?;
            } else if let Err(error) = self.register.abandoned(&waiting.asks).await {
                tracing::error!(%error, "a yes that is not carried out is shown as one");
            }
        }
        Ok(self.goes_on(turned).await)
    }

    /// The last message that is on record.
    async fn last_said(&self) -> Option<MessageId> {
        self.agent.with(|cx| cx.messages.last().map(|message| message.id().clone())).await.ok().flatten()
    }

    /// Goes where a message was said.
    fn places(&self, said: &Said) {
        let is_continuation = matches!(said.origin, Origin::Task { .. } | Origin::Continued);
        match &said.surroundings {
            Some(here) => self.domain.message(here),
            None if is_continuation => {}
            None => self.domain.message(&Surroundings::default()),
        }
    }

    /// Takes what a run needs, before it begins. What a run that waits has taken is let go first when it is the same.
    async fn begins(&self, said: &Said, user: &User, waits: bool) -> Result<(), CopilotError> {
        self.enter().await?;
        let state = self.domain.snapshot();
        if waits && self.lives.is_taken(&state) {
            self.lives.end(Ending::Aborted).await;
        }
        let taken = self.lives.begin(&state).await?;
        if said.origin != Origin::Person {
            let origin = json!({ "message": user.id, "origin": said.origin });
            let kept = self.side.append("said", origin).await;
            if let Err(problem) = kept {
                self.lives.end_those(&taken, Ending::Aborted).await;
                return Err(CopilotError::Kept { problem });
            }
        }
        Ok(())
    }

    /// Goes back to where the conversation was: what was to be said could not begin.
    async fn goes_back(&self, before: State, waits: bool) {
        self.domain.put_back(before);
        if let Err(error) = self.enter().await {
            tracing::error!(%error, "the page that a conversation was on could not be entered again");
        }
        if waits
            && !self.lives.is_begun()
            && let Err(error) = self.lives.begin(&self.domain.snapshot()).await
        {
            // It is tried again when the run that waits goes on.
            tracing::warn!(%error, "what a run that waits had taken could not be taken again");
        }
    }

    pub(super) async fn answer(
        self: Arc<Self>,
        answers: Decisions,
        surroundings: Option<Surroundings>,
    ) -> Result<Turned, CopilotError> {
        if self.asked.waiting().is_none() {
            return Err(CopilotError::NothingWaits);
        }
        if let Some(here) = surroundings {
            let before = self.domain.snapshot();
            self.domain.message(&here);
            if let Err(error) = self.enter().await {
                self.goes_back(before, false).await;
                return Err(error);
            }
        }
        if !self.lives.is_begun() {
            self.lives.begin(&self.domain.snapshot()).await?;
        }
        self.closing.goes_on();
        let agent = self.agent.clone();
        let turned = self.ran(async move { agent.resume(answers).await }).await?;
        match turned.outcome {
            Outcome::Failed { error: RunError::Resume { message } } => Err(CopilotError::Misfit { message }),
            _ => Ok(self.goes_on(turned).await),
        }
    }

    /// Goes on with what was decided while a run was on its way to wait: whoever decided then left it to that run. Called
    /// when no run goes on any more, and before the turn is given away.
    async fn goes_on(&self, mut turned: Turned) -> Turned {
        let mut tried = None;
        while matches!(turned.outcome, Outcome::Suspended { .. }) {
            let decisions = match self.standing().await {
                Ok(Some(Decided { decisions: Some(decisions), .. }))
                    if Some(&decisions) != tried.as_ref() =>
                {
                    decisions
                }
                Ok(_) => break,
                Err(error) => {
                    // People are still asked, and it is tried again when somebody answers or looks.
                    tracing::warn!(%error, "what was decided could not be carried out yet");
                    break;
                }
            };
            tried = Some(decisions.clone());
            let agent = self.agent.clone();
            match self.ran(async move { agent.resume(decisions).await }).await {
                Ok(Turned {
                    outcome: Outcome::Failed { error: error @ RunError::Resume { .. } }, ..
                }) => {
                    tracing::warn!(%error, "what was decided could not be carried out yet");
                    break;
                }
                Ok(next) => turned = next,
                Err(error) => {
                    tracing::error!(%error, "what was decided could not be carried out");
                    break;
                }
            }
        }
        turned
    }

    /// What was decided about what people are asked, by those who may still decide it. `None` when nothing is asked.
    pub(super) async fn standing(&self) -> Result<Option<Decided>, CopilotError> {
        let Some(waiting) = self.asked.waiting() else { return Ok(None) };
        let standing = self.register.standing(&waiting.asks)?;
        Ok(Some(Box::pin(self.register.honoured(standing)).await?))
    }

    /// Waits for a run in a task of its own: one that breaks is closed like any other.
    async fn ran(
        &self,
        run: impl Future<Output = Result<Outcome, mica_agent::Busy>> + Send + 'static,
    ) -> Result<Turned, CopilotError> {
        let _going = Going::on(&self.going);
        let outcome = match tokio::spawn(carried(run)).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => {
                // Somebody runs the agent behind the copilot's back.
                self.closing.ends(&Outcome::Aborted).await;
                return Err(CopilotError::Busy);
            }
            Err(error) => {
                let message = error.to_string();
                Outcome::Failed { error: RunError::Hook { hook: "run".to_owned(), message } }
            }
        };
        // Usually done when its end was told.
        if self.closing.is_open() {
            self.closing.ends(&outcome).await;
        }
        Ok(self.closing.turned(outcome))
    }

    /// Goes to the page where the user is.
    async fn enter(&self) -> Result<(), CopilotError> {
        let entered = self.agent.with(|cx| self.epoch.enter(cx)).await.map_err(|_| CopilotError::Busy)??;
        if let Some(reason) = entered {
            let page = self.domain.snapshot().page;
            let kept = self.side.append(PAGE, json!({ "page": page, "reason": reason })).await;
            kept.map_err(|problem| CopilotError::Kept { problem })?;
            self.keep_prefix(&reason).await?;
        }
        Ok(())
    }

    /// Keeps what requests begin with, and why it is so, for whoever opens the session again.
    pub(super) async fn keep_prefix(&self, reason: &str) -> Result<(), CopilotError> {
        let prefix = self.agent.with(|cx| self.epoch.prefix(cx)).await.map_err(|_| CopilotError::Busy)?;
        let kept = prefix.keep(&*self.side, reason).await;
        kept.map_err(|problem| CopilotError::Kept { problem })
    }

    /// The whole conversation, as far as it is kept; else as the model has it.
    pub(super) async fn messages(&self) -> Result<Vec<Message>, CopilotError> {
        if let Some(keeper) = &self.keeper {
            return Ok(keeper.session().branch()?.messages().cloned().collect());
        }
        self.agent.with(|cx| cx.messages.clone()).await.map_err(|_| CopilotError::Busy)
    }
}

/// Says that a run goes on, for as long as it does.
struct Going<'a>(&'a watch::Sender<bool>);

impl<'a> Going<'a> {
    fn on(going: &'a watch::Sender<bool>) -> Self {
        going.send_replace(true);
        Self(going)
    }
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}

/// Whose changes these are, beside the session.
const PAGE: &str = "page";

/// The page that a conversation was on last.
pub(super) fn last_page(side: &dyn Side) -> Result<Option<String>, String> {
    let last = side.all(PAGE)?.pop();
    Ok(last.and_then(|change| change.get("page")?.as_str().map(str::to_owned)))
}

/// The id of a message that has a name of its own: it is in the conversation once.
pub(super) fn named(source: &str) -> MessageId {
    MessageId::from(format!("said/{source}"))
}
