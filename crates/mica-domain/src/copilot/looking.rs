//! What a product can look at in a copilot: what is asked, what was answered, what belongs to the session.

use std::path::PathBuf;
use std::sync::Arc;

use mica_agent::{Agent, Ask, Hooks};
use mica_ai::Message;
use mica_ai::id::MessageId;
use mica_context::WindowKeeper;

use super::closing::{self, Audit};
use super::{Copilot, CopilotError};
use crate::capture::{Book, Bundle};
use crate::cards::{Cards, Shown};
use crate::hooks::DomainHooks;
use crate::keeping::Keeper;
use crate::side::Side;
use crate::store::Store;

/// An answer, as people see it.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownAnswer {
    /// The message.
    pub message: MessageId,
    /// What it says, with fences as they were written.
    pub text: String,
    /// The same as words and cards, joined with what is known now.
    pub shown: Shown,
}

impl Copilot {
    /// What people are asked at the moment, as it was looked at last: when it was asked, shown, or opened again. Whoever
    /// shows it later asks for [`questions`](Copilot::questions).
    pub fn waiting(&self) -> Vec<Ask> {
        self.inner.asked.waiting().map(|waiting| waiting.asks).unwrap_or_default()
    }

    /// The agent: to steer, to stop, to listen.
    pub fn agent(&self) -> &Agent {
        &self.inner.agent
    }

    /// Everyone who has a say, in order.
    pub fn hooks(&self) -> Arc<dyn Hooks> {
        Arc::clone(&self.inner.hooks) as _
    }

    /// The domain, with what it remembers.
    pub fn domain(&self) -> &Arc<DomainHooks> {
        &self.inner.domain
    }

    /// What belongs to the session and is no part of the conversation.
    pub fn side(&self) -> Arc<dyn Side> {
        Arc::clone(&self.inner.side)
    }

    /// Where the conversation is kept.
    pub fn keeper(&self) -> Option<&Keeper> {
        self.inner.keeper.as_ref()
    }

    /// The file of the session.
    pub fn path(&self) -> Option<PathBuf> {
        self.inner.keeper.as_ref().map(|keeper| keeper.session().path().to_owned())
    }

    /// The cards of the session.
    pub fn cards(&self) -> &Cards {
        &self.inner.cards
    }

    /// What tools and texts of the session can refer to.
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// What is captured in the runs of the session. Whoever starts a run may say beforehand what it is about.
    pub fn book(&self) -> &Arc<Book> {
        &self.inner.book
    }

    /// What the last run captured, once it has ended: people decide about it.
    pub fn bundle(&self) -> Option<Bundle> {
        self.inner.closing.bundle()
    }

    /// Where the user is, also in a session that was opened again: what goes on goes on there.
    pub fn page(&self) -> Option<String> {
        self.inner.domain.snapshot().page
    }

    /// What keeps the window.
    pub fn window(&self) -> &Arc<WindowKeeper> {
        &self.inner.window
    }

    /// What a person should know about how the session began.
    pub fn notices(&self) -> &[String] {
        &self.inner.notices
    }

    /// What can be done where the user is, for people.
    pub fn summaries(&self) -> Vec<String> {
        self.inner.epoch.summaries()
    }

    /// What runs that nobody watched came to, the oldest first.
    ///
    /// # Errors
    /// [`CopilotError::Kept`].
    pub fn audits(&self) -> Result<Vec<Audit>, CopilotError> {
        closing::audits(&*self.inner.side).map_err(|problem| CopilotError::Kept { problem })
    }

    /// The answers as people see them, the oldest first.
    ///
    /// # Errors
    /// [`CopilotError::Kept`], and [`CopilotError::Busy`] in a run whose conversation is not kept.
    pub async fn shown(&self) -> Result<Vec<ShownAnswer>, CopilotError> {
        let kept = |problem: String| CopilotError::Kept { problem };
        let changed = closing::shown(&*self.inner.side).map_err(kept)?;
        let messages = self.inner.messages().await?;
        let cards = &self.inner.cards;
        let one = |message: &Message| {
            let Message::Assistant(answer) = message else { return None };
            let (text, shown) = match changed.get(&answer.id) {
                Some(text) => (text.clone(), cards.show_text(text)),
                None => (closing::words(answer), cards.show(answer)),
            };
            (!text.trim().is_empty()).then(|| ShownAnswer { message: answer.id.clone(), text, shown })
        };
        Ok(messages.iter().filter_map(one).collect())
    }
}
