//! Runs of a copilot, one at a time: what is done before one begins, and when it is over.

use std::future::Future;
use std::sync::Arc;

use mica_agent::{Decisions, Outcome, RunError};
use mica_ai::id::{MessageId, carried};
use mica_ai::{Content, Message, User};
use serde_json::json;

use super::{CopilotError, Inner};
use crate::lifecycle::Ending;
use crate::runners::{Origin, Said, Turned};
use crate::state::Surroundings;

impl Inner {
    pub(super) async fn say(self: Arc<Self>, said: Said) -> Result<Turned, CopilotError> {
        if let Some(waiting) = self.asked.waiting() {
            if said.origin != Origin::Person {
                return Err(CopilotError::Waiting);
            }
            // The run that waited is over, whatever becomes of what is said. Its calls are settled with the next message.
            self.asked.abandon().await.map_err(|problem| CopilotError::Kept { problem })?;
            self.closing.goes_on();
            self.closing.ends(&Outcome::Aborted).await;
            for ask in &waiting.asks {
                self.register.supersede(&ask.call.id).await?;
            }
        }
        let user = match &said.source {
            None => User { id: MessageId::fresh(), content: vec![Content::text(said.text)] },
            Some(name) => {
                let id = named(name);
                if self.messages().await?.iter().any(|message| *message.id() == id) {
                    return Err(CopilotError::SaidBefore { name: name.clone() });
                }
                User { id, content: vec![Content::text(said.text)] }
            }
        };
        let is_continuation = matches!(said.origin, Origin::Task { .. } | Origin::Continued);
        match &said.surroundings {
            Some(here) => self.domain.message(here),
            None if is_continuation => {}
            None => self.domain.message(&Surroundings::default()),
        }
        self.enter().await?;
        self.lives.begin(&self.domain.snapshot()).await?;
        if said.origin != Origin::Person {
            let origin = json!({ "message": user.id, "origin": said.origin });
            let kept = self.side.append("said", origin).await;
            if let Err(problem) = kept {
                self.lives.end(Ending::Aborted).await;
                return Err(CopilotError::Kept { problem });
            }
        }
        self.closing.begins();
        let agent = self.agent.clone();
        self.ran(async move { agent.prompt(user).await }).await
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
            self.domain.message(&here);
            self.enter().await?;
        }
        self.closing.goes_on();
        let agent = self.agent.clone();
        let turned = self.ran(async move { agent.resume(answers).await }).await?;
        match turned.outcome {
            Outcome::Failed { error: RunError::Resume { message } } => Err(CopilotError::Misfit { message }),
            _ => Ok(turned),
        }
    }

    /// Waits for a run in a task of its own: one that breaks is closed like any other.
    async fn ran(
        &self,
        run: impl Future<Output = Result<Outcome, mica_agent::Busy>> + Send + 'static,
    ) -> Result<Turned, CopilotError> {
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
            let kept = self.side.append("page", json!({ "page": page, "reason": reason })).await;
            kept.map_err(|problem| CopilotError::Kept { problem })?;
        }
        Ok(())
    }

    /// The whole conversation, as far as it is kept; else as the model has it.
    pub(super) async fn messages(&self) -> Result<Vec<Message>, CopilotError> {
        if let Some(keeper) = &self.keeper {
            return Ok(keeper.session().branch()?.messages().cloned().collect());
        }
        self.agent.with(|cx| cx.messages.clone()).await.map_err(|_| CopilotError::Busy)
    }
}

/// The id of a message that has a name of its own: it is in the conversation once.
pub(super) fn named(source: &str) -> MessageId {
    MessageId::from(format!("said/{source}"))
}
