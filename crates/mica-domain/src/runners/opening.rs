//! What a product gives so that runs can begin without a client: sessions, opened by key.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Ask, Hooks, Outcome, Tool};
use mica_policy::budget::Limits;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::autonomy::Autonomy;
use crate::capture::{About, Bundle};
use crate::profile::Profile;
use crate::rights::Rights;
use crate::state::Surroundings;
use crate::store::Variables;

/// Which session, and as what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opens {
    /// The session: `thread/triage/t-17`. The same key is the same conversation.
    pub session: String,
    /// The agent that works in it.
    pub agent: String,
    /// What kind of run.
    pub profile: Profile,
    /// What it may do.
    pub rights: Rights,
    /// What happens to calls that a person would be asked about.
    pub autonomy: Autonomy,
}

/// Why a session could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// It is not there any more, or nobody may use it any more. It will not come back.
    #[error("the session {session} is gone: {reason}")]
    Gone {
        /// The session.
        session: String,
        /// Why.
        reason: String,
    },
    /// Somebody else has it open: another process, or somebody in this one who may do something else. It is free again one
    /// day, and nothing is wrong: try it later.
    #[error("the session {session} is in use: {problem}")]
    InUse {
        /// The session.
        session: String,
        /// By whom, as far as that is known.
        problem: String,
    },
    /// It could not be opened now.
    #[error("the session {session} cannot be opened: {problem}")]
    Failed {
        /// The session.
        session: String,
        /// What is wrong.
        problem: String,
    },
}

/// Who said something.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Origin {
    /// A person who is there.
    #[default]
    Person,
    /// Somebody outside, in a thread.
    Thread,
    /// The end of background work.
    Task {
        /// Its kind.
        kind: String,
        /// Which one.
        #[serde(rename = "ref")]
        reference: String,
    },
    /// A trigger that fired.
    Trigger {
        /// The trigger.
        trigger: String,
        /// The fire.
        fire: String,
    },
    /// A program: a step of a workflow.
    Program,
    /// Nobody: it goes on after a process ended.
    Continued,
}

/// Something that is said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    /// The words, as the model reads them: what others wrote is fenced already.
    pub text: String,
    /// Names it wherever it came from. What has been said once under a name is never said again under it.
    pub source: Option<String>,
    /// Who said it.
    pub origin: Origin,
    /// Where the user is. `None`: news of a task, or what is continued, goes on where it was; anything else is nowhere.
    pub surroundings: Option<Surroundings>,
}

/// Something that was said before, elsewhere, and that a session catches up on without a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Past {
    /// By whom the agent talks to.
    User {
        /// The words.
        text: String,
        /// Names it.
        source: String,
    },
    /// By the agent itself.
    Assistant {
        /// The words.
        text: String,
        /// Names it.
        source: String,
    },
}

impl Past {
    /// Names it.
    pub fn source(&self) -> &str {
        match self {
            Self::User { source, .. } | Self::Assistant { source, .. } => source,
        }
    }
}

/// Whether a session has heard something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// It has not.
    No,
    /// It is in the conversation, and nothing was answered: the process ended before.
    Unanswered,
    /// It is in the conversation, and was answered.
    Answered {
        /// With what: the last words of that run, as people see them. Empty when there were none.
        text: String,
    },
}

/// What a run came to.
#[derive(Debug, Clone)]
pub struct Turned {
    /// How it ended.
    pub outcome: Outcome,
    /// The last words of it, as people see them. Empty when there were none.
    pub text: String,
    /// What the calls of the run gave besides what the model reads, in order: tool and details.
    pub details: Vec<(String, Value)>,
}

/// Why nothing was said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SayError {
    /// A run goes on. Say it later.
    #[error("a run goes on in this session")]
    Busy,
    /// A person is asked something, and their answer would be lost. Say it later.
    #[error("a person is asked something in this session")]
    Waiting,
    /// It was said before, under the same name.
    #[error("{source_name} was said before in this session")]
    Heard {
        /// The name.
        source_name: String,
    },
    /// It could not be kept, or the session cannot go on.
    #[error("{problem}")]
    Failed {
        /// What is wrong.
        problem: String,
    },
}

/// A session at work.
///
/// Contract: what was said is kept before the model is asked. Looking and saying are one step for `say`: one that is not
/// by a person never comes between a person and a question they are asked.
#[async_trait]
pub trait Conversation: Send + Sync {
    /// Whether something of this name was said.
    ///
    /// # Errors
    /// In words.
    async fn heard(&self, source: &str) -> Result<Heard, String>;

    /// What a person is asked at the moment.
    async fn waiting(&self) -> Vec<Ask> {
        Vec::new()
    }

    /// Adds what was said before elsewhere, without a run. What it has heard already is left out.
    ///
    /// # Errors
    /// [`SayError`].
    async fn recall(&self, past: Vec<Past>) -> Result<(), SayError> {
        match past.len() {
            0 => Ok(()),
            _ => Err(SayError::Failed { problem: "nothing can be caught up on in this session".to_owned() }),
        }
    }

    /// Says something, and runs until the agent stops.
    ///
    /// # Errors
    /// [`SayError`]. Nothing was said then.
    async fn say(&self, said: Said) -> Result<Turned, SayError>;

    /// Runs on from what was said and never answered, because a process ended before. Adds nothing that is not needed for
    /// that.
    ///
    /// # Errors
    /// [`SayError`].
    async fn go_on(&self) -> Result<Turned, SayError>;

    /// Says what the calls are about that the next run captures.
    ///
    /// # Errors
    /// In words, when nothing is captured here.
    async fn capturing(&self, about: About) -> Result<(), String> {
        let _ = about;
        Err("nothing is captured in this session".to_owned())
    }

    /// What the last run captured.
    async fn captured(&self) -> Option<Bundle> {
        None
    }
}

/// What a runner brings into a session, besides what the product puts there.
#[derive(Clone, Default)]
pub struct Extras {
    /// Tools.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Hooks, asked behind those of the domain.
    pub hooks: Vec<Arc<dyn Hooks>>,
    /// Variables that take the place of the session's own.
    pub variables: Option<Arc<dyn Variables>>,
    /// How much a run may take, where that is less than usual.
    pub limits: Option<Limits>,
}

/// Opens sessions. A product gives one.
///
/// Contract: a session is open once at a time. Who opens it while it is open in the same process gets the same one; another
/// process is told [`OpenError::InUse`].
#[async_trait]
pub trait Opening: Send + Sync {
    /// Opens a session, or begins it.
    ///
    /// # Errors
    /// [`OpenError`].
    async fn open(&self, opens: &Opens, extras: Extras) -> Result<Arc<dyn Conversation>, OpenError>;

    /// Opens a session that was there, as whatever it was, with what its people may do now.
    ///
    /// # Errors
    /// [`OpenError`]: [`OpenError::Gone`] when there is none.
    async fn reopen(&self, session: &str) -> Result<Arc<dyn Conversation>, OpenError>;
}

/// The stable name of an outcome, as records and reports have it.
pub fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Exhausted { .. } => "exhausted",
        Outcome::Suspended { .. } => "suspended",
        Outcome::Aborted => "aborted",
        Outcome::Failed { .. } => "failed",
    }
}
