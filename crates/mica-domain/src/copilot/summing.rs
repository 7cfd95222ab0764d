//! Summaries of a conversation are made of what the model saw of it: cards are lines there, and so they are here.
//!
//! Otherwise the request for a summary would begin with other bytes than the turns before it, and be read anew, whole; and a
//! summary would speak of ids where the conversation speaks of names.

use async_trait::async_trait;
use mica_agent::Hooks;
use mica_context::compact::{AskModel, Job, Summarise, Summarised};

use crate::cards::Cards;

/// Summarises what the model saw.
pub(super) struct AsSeen {
    cards: Cards,
    inner: AskModel,
}

impl AsSeen {
    /// With the cards of the session.
    pub(super) fn new(cards: Cards) -> Self {
        Self { cards, inner: AskModel::default() }
    }
}

#[async_trait]
impl Summarise for AsSeen {
    async fn summarise(&self, job: Job<'_>) -> Summarised {
        let mut messages = job.messages.to_vec();
        // Nothing is added or left out by it, so the place of the cut is the same.
        self.cards.transform(&mut messages, job.cx).await;
        self.inner.summarise(Job { messages: &messages, ..job }).await
    }
}
