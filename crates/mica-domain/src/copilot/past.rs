//! A session that runs without a client: what it has heard, what it catches up on, and how it goes on after a crash.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Ask, Hooks};
use mica_ai::message::{Block, ResultStatus, Text, ToolCall};
use mica_ai::{Assistant, Content, Message, Origin as ModelOrigin, StopReason, User};
use mica_session::{Body, Durability};

use super::running::named;
use super::{Copilot, CopilotError, Inner, closing};
use crate::capture::{About, Bundle};
use crate::runners::{Conversation, Heard, Origin, Past, Said, SayError, Turned};

/// What the model is told when it goes on with something that a process never answered.
const GO_ON: &str = "[Note from the system, not from a person: the process ended before what was said last was answered. \
                     Go on from there; look first before you do anything again.]";

/// What calls are answered with that ran when a process ended.
const LEFT: &str =
    "No result: the process ended before this call did. If it had begun, its effect is unknown.";

/// What stands before words of the agent where it has said nothing in this session: no conversation begins with them.
const EARLIER: &str = "Background: what follows was said earlier, elsewhere.";

impl Copilot {
    /// Whether something was said in this session under a name, and whether it was answered.
    ///
    /// # Errors
    /// [`CopilotError`].
    pub async fn heard(&self, source: &str) -> Result<Heard, CopilotError> {
        self.inner.heard(source).await
    }

    /// Adds what was said before elsewhere, without a run. What it has heard already is left out.
    ///
    /// # Errors
    /// [`CopilotError`].
    pub async fn recall(&self, past: Vec<Past>) -> Result<(), CopilotError> {
        let turn = Arc::clone(&self.inner.running).try_lock_owned().map_err(|_| CopilotError::Busy)?;
        if self.inner.asked.waiting().is_some() {
            return Err(CopilotError::Waiting);
        }
        // What is on record and not in the window would be missing there for as long as the process lives.
        self.detached(turn, |inner| async move { inner.recall(past).await }).await
    }

    /// Goes on with what was said and never answered.
    ///
    /// # Errors
    /// [`CopilotError`].
    pub async fn go_on(&self) -> Result<Turned, CopilotError> {
        let origin = Origin::Continued;
        self.say(Said { text: GO_ON.to_owned(), source: None, origin, surroundings: None }).await
    }
}

impl Inner {
    async fn heard(&self, source: &str) -> Result<Heard, CopilotError> {
        let id = named(source);
        let kept = |problem: String| CopilotError::Kept { problem };
        let shown = closing::shown(&*self.side).map_err(kept)?;
        let words =
            |answer: &Assistant| shown.get(&answer.id).cloned().unwrap_or_else(|| closing::words(answer));
        let mut telling = Telling::default();
        match &self.keeper {
            None => {
                for message in self.messages().await? {
                    telling.message(&message, *message.id() == id, &words);
                }
            }
            Some(keeper) => {
                for entry in &keeper.session().branch()?.entries {
                    match &entry.body {
                        Body::Message { message } => telling.message(message, *message.id() == id, &words),
                        Body::RunEnd { outcome, .. } => telling.run_end(outcome),
                        _ => {}
                    }
                }
            }
        }
        Ok(telling.heard())
    }

    async fn recall(&self, past: Vec<Past>) -> Result<(), CopilotError> {
        let known: BTreeSet<_> = self.messages().await?.iter().map(|message| message.id().clone()).collect();
        let past: Vec<Past> = past.into_iter().filter(|one| !known.contains(&named(one.source()))).collect();
        if past.is_empty() {
            return Ok(());
        }
        let looked = self.agent.with(|cx| {
            let model = ModelOrigin {
                dialect: cx.model.dialect,
                provider: "earlier".to_owned(),
                model: cx.model.id.clone(),
            };
            (cx.open_calls(), cx.messages.is_empty(), model)
        });
        let (open, is_empty, model) = looked.await.map_err(|_| CopilotError::Busy)?;
        let mut messages: Vec<Message> = open.iter().map(|call| self.left(call)).collect();
        if is_empty && matches!(past.first(), Some(Past::Assistant { .. })) {
            messages.push(User::text(EARLIER).into());
        }
        messages.extend(past.into_iter().map(|one| message(one, &model)));
        let mut kept = Vec::new();
        let mut problem = None;
        for message in messages {
            if let Some(keeper) = &self.keeper
                && let Err(said) = keeper.append(message.clone().into(), Durability::Now).await
            {
                problem = Some(said);
                break;
            }
            kept.push(message);
        }
        // What is kept is in the window, also when more could not be.
        self.agent.with(|cx| cx.messages.extend(kept)).await.map_err(|_| CopilotError::Busy)?;
        problem.map_or(Ok(()), |problem| Err(CopilotError::Kept { problem }))
    }

    fn left(&self, call: &ToolCall) -> Message {
        let words = self.hooks.left(call).unwrap_or_else(|| LEFT.to_owned());
        call.result(vec![Content::text(words)], ResultStatus::Failed).into()
    }
}

fn message(past: Past, model: &ModelOrigin) -> Message {
    match past {
        Past::User { text, source } => User { id: named(&source), content: vec![Content::text(text)] }.into(),
        Past::Assistant { text, source } => {
            let mut answer = Assistant::empty(named(&source), model.clone());
            answer.blocks.push(Block::Text(Text { text, ..Text::default() }));
            answer.stop = StopReason::Stop;
            answer.into()
        }
    }
}

/// Follows a conversation from something that was said to its answer.
#[derive(Default)]
struct Telling {
    said: bool,
    words: String,
    /// The last message is an answer that nothing need follow.
    is_last: bool,
    answered: Option<String>,
}

impl Telling {
    fn message(&mut self, message: &Message, is_it: bool, words: &dyn Fn(&Assistant) -> String) {
        if is_it {
            *self = Self { said: true, ..Self::default() };
            return;
        }
        self.is_last = false;
        if let Message::Assistant(answer) = message {
            let said = words(answer);
            if !said.trim().is_empty() {
                self.words = said;
            }
            self.is_last = answer.stop.is_whole() && answer.calls().next().is_none();
        }
    }

    fn run_end(&mut self, outcome: &str) {
        let is_end = matches!(outcome, "completed" | "exhausted");
        if self.said && is_end && self.answered.is_none() {
            self.answered = Some(std::mem::take(&mut self.words));
        }
    }

    fn heard(self) -> Heard {
        match (self.said, self.answered) {
            (false, _) => Heard::No,
            (true, Some(text)) => Heard::Answered { text },
            // The mark that a run ended may be missing: whoever writes it can die before.
            (true, None) if self.is_last => Heard::Answered { text: self.words },
            (true, None) => Heard::Unanswered,
        }
    }
}

impl From<CopilotError> for SayError {
    fn from(error: CopilotError) -> Self {
        match error {
            CopilotError::Busy => Self::Busy,
            CopilotError::Waiting => Self::Waiting,
            CopilotError::SaidBefore { name } => Self::Heard { source_name: name },
            other => Self::Failed { problem: other.to_string() },
        }
    }
}

#[async_trait]
impl Conversation for Copilot {
    async fn heard(&self, source: &str) -> Result<Heard, String> {
        Copilot::heard(self, source).await.map_err(|error| error.to_string())
    }

    async fn waiting(&self) -> Vec<Ask> {
        match Box::pin(self.questions()).await {
            Ok(asks) => asks,
            Err(error) => {
                tracing::warn!(%error, "what people are asked could not be looked at again");
                Copilot::waiting(self)
            }
        }
    }

    async fn recall(&self, past: Vec<Past>) -> Result<(), SayError> {
        Ok(Copilot::recall(self, past).await?)
    }

    async fn say(&self, said: Said) -> Result<Turned, SayError> {
        Ok(Copilot::say(self, said).await?)
    }

    async fn go_on(&self) -> Result<Turned, SayError> {
        Ok(Copilot::go_on(self).await?)
    }

    async fn capturing(&self, about: About) -> Result<(), String> {
        self.book().begin(about).await.map_err(|error| error.to_string())
    }

    async fn captured(&self) -> Option<Bundle> {
        self.bundle()
    }
}

/// A copilot can be used wherever a conversation is wanted.
impl From<Copilot> for Arc<dyn Conversation> {
    fn from(copilot: Copilot) -> Self {
        Arc::new(copilot)
    }
}
