//! What happens in a product that triggers may be about.

use serde::{Deserialize, Serialize};

use crate::capture::{Base, Subject};
use crate::triggers::filter::Fields;

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Something of a type that the product declared.
    Event {
        /// The type.
        event: String,
    },
    /// Somebody named an agent.
    Mention {
        /// The agent.
        agent: String,
    },
    /// Something was given to an agent.
    Assignment {
        /// The agent.
        agent: String,
    },
    /// Somebody wrote to an agent.
    DirectMessage {
        /// The agent.
        agent: String,
    },
}

/// Words that somebody wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// Who.
    pub from: String,
    /// What.
    pub text: String,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Happened {
    /// Names it, for good: a product that tells it twice is heard once.
    pub id: String,
    /// What.
    pub what: What,
    /// What is known of it.
    pub fields: Fields,
    /// What somebody wrote, if it is about that.
    pub words: Option<Words>,
    /// What it is about, for who decides about what is captured, and for when that is outdated.
    pub subject: Option<Subject>,
    /// How the subject stands now.
    pub base: Base,
    /// The person who caused it. Mentions, assignments and direct messages have one.
    pub invoker: Option<String>,
    /// The agents whose acts led to it, as [`Dispatcher::chain`](super::Dispatcher::chain) says it of the session it
    /// happened in. Empty when a person did it.
    pub chain: Chain,
}

impl Happened {
    /// Something that happened, by nobody in particular.
    pub fn new(id: impl Into<String>, what: What) -> Self {
        Self {
            id: id.into(),
            what,
            fields: Fields::new(),
            words: None,
            subject: None,
            base: Base::default(),
            invoker: None,
            chain: Chain::default(),
        }
    }
}

/// Agents, each of which did something that the next one was triggered by. The last one did what happened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Chain(pub Vec<String>);

impl Chain {
    /// With an agent that acted because of it.
    #[must_use]
    pub fn then(mut self, agent: impl Into<String>) -> Self {
        self.0.push(agent.into());
        self
    }

    /// Whether an agent is among them.
    pub fn has(&self, agent: &str) -> bool {
        self.0.iter().any(|one| one == agent)
    }
}
