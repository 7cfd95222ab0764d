//! A copilot as those see it who work without a client: watchers of tasks, triggers, threads.

use async_trait::async_trait;
use mica_agent::Ask;
use mica_ai::id::MessageId;
use mica_ai::message::{Dialect, Origin, Text, TextKind};
use mica_ai::{Assistant, Block, Content, Message, StopReason, User};
use mica_session::{Body, Durability};

use super::running::named;
use super::{Copilot, CopilotError, closing};
use crate::runners::{Conversation, Heard, Past, Said, SayError, Turned};

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

impl Copilot {
    /// Whether something of this name was said, and what came of it. A run that failed has answered nothing.
    fn heard_in_session(&self, source: &str) -> Result<Option<Heard>, String> {
        let Some(keeper) = self.keeper() else { return Ok(None) };
        let changed = closing::shown(&*self.inner.side)?;
        let branch = keeper.session().branch().map_err(|error| error.to_string())?;
        let id = named(source);
        let is_it = |body: &Body| matches!(body, Body::Message { message } if *message.id() == id);
        let mut after = branch.entries.iter().map(|entry| &entry.body).skip_while(|body| !is_it(body));
        if after.next().is_none() {
            return Ok(Some(Heard::No));
        }
        let mut text = String::new();
        for body in after {
            match body {
                Body::Message { message: Message::Assistant(answer) } => {
                    let said = changed.get(&answer.id).cloned().unwrap_or_else(|| closing::words(answer));
                    if !said.trim().is_empty() {
                        text = said;
                    }
                }
                Body::RunEnd { outcome, .. } if !matches!(outcome.as_str(), "suspended" | "failed") => {
                    return Ok(Some(Heard::Answered { text }));
                }
                _ => {}
            }
        }
        Ok(Some(Heard::Unanswered))
    }
}

/// Words of the agent that another session, or another program, has said for it.
fn recalled(id: MessageId, text: String) -> Assistant {
    // Of no model: nothing but the words is ever replayed.
    let origin =
        Origin { dialect: Dialect::Responses, provider: "recalled".to_owned(), model: String::new() };
    let mut answer = Assistant::empty(id, origin);
    answer.blocks = vec![Block::Text(Text { text, kind: TextKind::default(), phase: None })];
    answer.stop = StopReason::Stop;
    answer
}

#[async_trait]
impl Conversation for Copilot {
    async fn heard(&self, source: &str) -> Result<Heard, String> {
        if let Some(heard) = self.heard_in_session(source)? {
            return Ok(heard);
        }
        let messages = self.inner.messages().await.map_err(|error| error.to_string())?;
        let id = named(source);
        let mut after = messages.iter().skip_while(|message| *message.id() != id);
        if after.next().is_none() {
            return Ok(Heard::No);
        }
        let words = after.filter_map(|message| match message {
            Message::Assistant(answer) => Some(closing::words(answer)),
            _ => None,
        });
        Ok(words.last().map_or(Heard::Unanswered, |text| Heard::Answered { text }))
    }

    async fn waiting(&self) -> Vec<Ask> {
        Copilot::waiting(self)
    }

    async fn recall(&self, past: Vec<Past>) -> Result<(), SayError> {
        let _turn = self.inner.running.try_lock().map_err(|_| SayError::Busy)?;
        if self.inner.asked.waiting().is_some() {
            return Err(SayError::Waiting);
        }
        let known = self.inner.messages().await?;
        let failed = |problem: String| SayError::Failed { problem };
        for one in past {
            let id = named(one.source());
            if known.iter().any(|message| *message.id() == id) {
                continue;
            }
            let message: Message = match one {
                Past::User { text, .. } => User { id, content: vec![Content::text(text)] }.into(),
                Past::Assistant { text, .. } => recalled(id, text).into(),
            };
            if let Some(keeper) = self.keeper() {
                keeper.append(message.clone().into(), Durability::Lazy).await.map_err(failed)?;
            }
            self.agent().with(|cx| cx.messages.push(message)).await.map_err(|_| SayError::Busy)?;
        }
        Ok(())
    }

    async fn say(&self, said: Said) -> Result<Turned, SayError> {
        Ok(Copilot::say(self, said).await?)
    }

    async fn go_on(&self) -> Result<Turned, SayError> {
        Ok(Copilot::go_on(self).await?)
    }
}
