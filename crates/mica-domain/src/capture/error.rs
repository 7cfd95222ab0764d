//! What can go wrong with captured actions.

use jiff::Timestamp;

use super::bundle::{Outdated, State};
use crate::records::RecordError;

/// What can go wrong with captured actions. The words are for whoever decides about them.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CaptureError {
    /// There is no such bundle.
    #[error("there is no bundle {id}")]
    Unknown {
        /// The id.
        id: String,
    },
    /// What is kept cannot be read.
    #[error("what is kept of {what} cannot be read: {problem}")]
    Unreadable {
        /// Of what.
        what: String,
        /// What is wrong with it.
        problem: String,
    },
    /// What an earlier run captured was never made a bundle.
    #[error("what was captured for bundle {id} was never ended; end it first, so that it is not lost")]
    NotEnded {
        /// The id.
        id: String,
    },
    /// What belongs to the session could not be kept.
    #[error("the captured action could not be kept: {problem}")]
    Side {
        /// What the store said.
        problem: String,
    },
    /// The store failed, or somebody else decided meanwhile.
    #[error(transparent)]
    Records(#[from] RecordError),
    /// It cannot be applied, snoozed or rejected where it stands.
    #[error("bundle {id} {}", standing(state))]
    Standing {
        /// The id.
        id: String,
        /// Where it stands.
        state: Box<State>,
    },
    /// Somebody else is applying it.
    #[error("bundle {id} is being applied by {holder}; look again after {until}")]
    UnderWay {
        /// The id.
        id: String,
        /// Who.
        holder: String,
        /// Until when they have time.
        until: Timestamp,
    },
    /// What was picked cannot be done as it is.
    #[error("{}", problems.join("; "))]
    Picks {
        /// What is wrong, all of it.
        problems: Vec<String>,
    },
    /// Whoever decides may not.
    #[error("{person} may not approve {}", actions.join(", "))]
    NotAllowed {
        /// Who.
        person: String,
        /// What, and the right that is missing.
        actions: Vec<String>,
    },
    /// Who approved it cannot be looked up.
    #[error("{name} approved it, and cannot be looked up: {problem}; nothing was done")]
    People {
        /// Who.
        name: String,
        /// What went wrong.
        problem: String,
    },
    /// Actions need each other in a circle.
    #[error("these actions need each other: {}", actions.join(", "))]
    Circle {
        /// Which.
        actions: Vec<String>,
    },
    /// The product could not say how the subject stands.
    #[error("nobody knows whether the subject has changed: {problem}")]
    Activity {
        /// What it said.
        problem: String,
    },
}

impl CaptureError {
    /// Whether it only says that somebody else is at it, or was quicker: they go on with it, and nothing is wrong.
    pub fn is_of_others(&self) -> bool {
        matches!(self, Self::UnderWay { .. } | Self::Records(RecordError::Conflict { .. }))
    }
}

fn standing(state: &State) -> String {
    match state {
        State::Fresh => "is fresh: nobody decided about it yet".to_owned(),
        State::Snoozed { until } => format!("is snoozed until {until}"),
        State::Stale { because: Outdated::Activity } => {
            "is stale: what it is about has changed since. Look at it again, and renew it if it is still right".to_owned()
        }
        State::Stale { because: Outdated::Superseded { by } } => {
            format!("is stale: {by} took its place. Decide about that one, or renew this one if it is the right one")
        }
        State::Approved => "was approved already, and nothing of it is left to do".to_owned(),
        State::PartiallyApproved => "was approved in part already".to_owned(),
        State::Rejected => "was rejected".to_owned(),
    }
}
