//! People who answer: one after the other, with a name, in time. A run goes on when all of its questions are answered.

use std::sync::Arc;

use mica_ai::id::CallId;

use super::{Copilot, CopilotError};
use crate::approvals::{Choice, Decided, Person, Register};
use crate::runners::Turned;

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

    /// A person answers some of what is asked. When nothing is open any more, the run goes on.
    ///
    /// # Errors
    /// [`CopilotError::NothingWaits`]; [`CopilotError::Approval`] when they may not, or changed what may not be changed: then
    /// nothing is decided.
    pub async fn decide(
        &self,
        said: impl IntoIterator<Item = (CallId, Choice)>,
        person: &Person,
    ) -> Result<Answered, CopilotError> {
        let asks = self.waiting();
        if asks.is_empty() {
            return Err(CopilotError::NothingWaits);
        }
        self.taken(self.inner.register.decide(&asks, said, person).await?).await
    }

    /// Settles questions whose time is over as a no, and goes on with what was decided in a process that ended before it
    /// could. Does nothing when nothing waits.
    ///
    /// # Errors
    /// [`CopilotError`].
    pub async fn expire(&self) -> Result<Answered, CopilotError> {
        let asks = self.waiting();
        if asks.is_empty() {
            return Ok(Answered { decided: Decided::default(), turned: None });
        }
        self.taken(self.inner.register.expire(&asks).await?).await
    }

    async fn taken(&self, decided: Decided) -> Result<Answered, CopilotError> {
        let turned = match &decided.decisions {
            Some(decisions) => Some(self.answer(decisions.clone()).await?),
            None => None,
        };
        Ok(Answered { decided, turned })
    }
}
