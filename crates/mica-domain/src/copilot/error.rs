//! What can go wrong with a copilot, besides what a run tells in its outcome.

use mica_session::SessionError;

use crate::approvals::ApprovalError;
use crate::cards::CardError;
use crate::error::DomainError;
use crate::store::StoreError;

/// Why a copilot did not do what it was asked to. The conversation is as it was.
#[derive(Debug, thiserror::Error)]
pub enum CopilotError {
    /// A run goes on, and there is one at a time.
    #[error("a run goes on in this session: wait for its end, steer it, or stop it")]
    Busy,
    /// People are asked something, and what came would take the question from them. Only they themselves may.
    #[error("people are asked something in this session: it can be said once they answered")]
    Waiting,
    /// Nothing waits for an answer.
    #[error("nothing waits for an answer in this session")]
    NothingWaits,
    /// Answers do not fit what was asked. What was asked still is.
    #[error("the answers do not fit what is asked: {message}")]
    Misfit {
        /// What does not fit.
        message: String,
    },
    /// It was said before, under the same name.
    #[error("{name:?} was said in this session already")]
    SaidBefore {
        /// The name.
        name: String,
    },
    /// What a capability needs for a run could not be had.
    #[error("{reason}")]
    NotBegun {
        /// The name of its lifecycle.
        lifecycle: String,
        /// Why, for people.
        reason: String,
    },
    /// There is nothing of that name to take back.
    #[error("there is nothing to take back under {id:?}")]
    NoUndo {
        /// What was asked for.
        id: String,
    },
    /// It could not be taken back.
    #[error("it could not be taken back: {reason}")]
    NotUndone {
        /// Why, for people.
        reason: String,
    },
    /// A mistake in the domain.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// A mistake in the cards of the domain, or what is known of them cannot be read.
    #[error(transparent)]
    Cards(#[from] CardError),
    /// An answer of a person does not count, or what they were asked cannot be read.
    #[error(transparent)]
    Approval(#[from] ApprovalError),
    /// What tools can refer to cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The session could not be read.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Something could not be kept.
    #[error("it could not be kept: {problem}")]
    Kept {
        /// What the store said.
        problem: String,
    },
    /// The run broke, and nobody knows what it came to.
    #[error("the run broke: {problem}")]
    Broke {
        /// What is known of it.
        problem: String,
    },
}
