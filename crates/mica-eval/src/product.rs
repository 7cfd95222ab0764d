//! What is put to the test: a product opens a stage for a case, and the stage is where the case is played.
//!
//! Promise of a product: a stage is put together as in production, with three things handed in: the model, the clock and
//! the tools' stand-ins. What a stage keeps is below the folder it is given, so that it can be dropped and opened again.

use std::path::PathBuf;

use async_trait::async_trait;
use mica_agent::{Ask, Decision, Outcome};
use mica_ai::Usage;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::case::Holds;
use crate::clock::CaseClock;
use crate::journal::{Heard, Journal};
use crate::mocks::Mocks;
use crate::played::{Asked, Played};

/// Something that agents work in, by name.
#[async_trait]
pub trait Product: Send + Sync {
    /// The name that cases call it by.
    fn name(&self) -> &str;

    /// Opens a stage for a case: seeds its world from `setup` below `folder`, and puts an agent together.
    ///
    /// # Errors
    /// In words: a `setup` that it cannot use, for example. The case is then an error, neither passed nor failed.
    async fn open(&self, opening: Opening) -> Result<Box<dyn Stage>, StageError>;

    /// What must hold at the end of every case, unless the case says something else about the same thing.
    fn always(&self) -> Vec<(String, Holds)> {
        Vec::new()
    }
}

/// What a stage is made from.
pub struct Opening {
    /// The name of the case.
    pub case: String,
    /// A folder of its own, empty at first. What is in it outlives [`Stage::restart`].
    pub folder: PathBuf,
    /// Where the file of the case is, for what it names beside itself.
    pub beside: PathBuf,
    /// What the world is like at first. What may be in it is the product's to say; keys it does not know it refuses.
    pub setup: Map<String, Value>,
    /// What time it is.
    pub clock: CaseClock,
    /// The model.
    pub model: Played,
    /// What stands in for tools. See [`Mocks::over`].
    pub mocks: Mocks,
    /// To be told every event of the agent: give it to the agent as a listener.
    pub journal: Journal,
}

/// Why something could not be done on a stage.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StageError(String);

impl StageError {
    /// In words: what went wrong, and what to do about it.
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }

    /// The stage has no such thing. `known` is what it has.
    pub fn unknown<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let meant = crate::case::likely(name, &known);
        let meant = meant.map_or(String::new(), |meant| format!("; did you mean {meant:?}?"));
        Self(format!("there is no {what} {name:?}{meant} (there are: {})", known.join(", ")))
    }
}

/// Where a case is played.
///
/// Contract: `say` and `answer` return when the run has ended, whatever came of it; an error is for what could not be
/// played at all. Nobody is there to answer while a run goes on: a question suspends it.
#[async_trait]
pub trait Stage: Send {
    /// Somebody says something.
    ///
    /// # Errors
    /// In words.
    async fn say(&mut self, said: Said) -> Result<Came, StageError>;

    /// A person answers what a suspended run asked. A question without an answer is a no.
    ///
    /// # Errors
    /// In words; also when nothing waits.
    async fn answer(&mut self, answers: Vec<Answering>) -> Result<Came, StageError> {
        let _ = answers;
        Err(StageError::new("nothing can be answered here"))
    }

    /// Drops everything and opens it again from the disk, as after a crash.
    ///
    /// # Errors
    /// In words.
    async fn restart(&mut self) -> Result<(), StageError> {
        Err(StageError::new("there is nothing here that could be opened again"))
    }

    /// Time has passed: the clock says so already. What is due is done now.
    ///
    /// # Errors
    /// In words.
    async fn advanced(&mut self) -> Result<Option<Came>, StageError> {
        Ok(None)
    }

    /// Something happens in the world: a mail arrives, a teammate changes a record. A run that comes of it is what is
    /// answered with it.
    ///
    /// # Errors
    /// [`StageError::unknown`] for what this world does not have.
    async fn event(&mut self, name: &str, args: &Map<String, Value>) -> Result<Happened, StageError> {
        let _ = args;
        Err(StageError::unknown("event", name, []))
    }

    /// Looks at something of the product: a record, a count, a file, `variable:NAME`. `Null` when it is not there.
    ///
    /// # Errors
    /// [`StageError::unknown`] for what cannot be looked at.
    async fn look(&mut self, what: &str) -> Result<Value, StageError> {
        Err(StageError::unknown("thing to look at", what, []))
    }

    /// What the model was asked so far, the oldest first, when the stage knows better than the model that it was given:
    /// because the model is asked over a wire.
    fn requests(&self) -> Option<Vec<Asked>> {
        None
    }

    /// The case is over.
    async fn close(&mut self) {}
}

/// What somebody says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    /// The words.
    pub text: String,
    /// Where they are in the product.
    pub page: Option<String>,
    /// What they point at, as the product names it: `thread:t1`.
    pub mentions: Vec<String>,
    /// What else comes with it, as the product has it.
    pub with: Map<String, Value>,
}

/// What a person says to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Answering {
    /// The tool whose call it is about; the next question that has no answer yet, when absent.
    pub tool: Option<String>,
    /// The answer. The arguments of an edit are laid over those that were asked about.
    pub decision: Answered,
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// Yes.
    Approve,
    /// No, and why.
    Deny(String),
    /// Yes, but with these arguments over the others.
    Edit(Map<String, Value>),
}

impl Answering {
    /// Answers questions in their order: those about a tool first get an answer that names it.
    ///
    /// # Errors
    /// An answer that no question is left for.
    pub fn decide(answers: &[Answering], asks: &[Ask]) -> Result<Vec<(usize, Decision)>, StageError> {
        let mut decided: Vec<(usize, Decision)> = Vec::new();
        for answer in answers {
            let fits = |(index, ask): &(usize, &Ask)| {
                let free = decided.iter().all(|(taken, _)| taken != index);
                free && answer.tool.as_ref().is_none_or(|tool| *tool == ask.call.name)
            };
            let Some((index, ask)) = asks.iter().enumerate().find(fits) else {
                let asked: Vec<&str> = asks.iter().map(|ask| ask.call.name.as_str()).collect();
                let about = answer.tool.as_deref().unwrap_or("any tool");
                return Err(StageError::new(format!(
                    "there is an answer about {about} and no question left for it (asked: {})",
                    if asked.is_empty() { "nothing".to_owned() } else { asked.join(", ") }
                )));
            };
            decided.push((index, answer.decision.over(&ask.arguments)));
        }
        decided.sort_by_key(|(index, _)| *index);
        Ok(decided)
    }
}

impl Answered {
    fn over(&self, arguments: &Value) -> Decision {
        match self {
            Answered::Approve => Decision::Allow,
            Answered::Deny(reason) => Decision::Deny { reason: reason.clone() },
            Answered::Edit(changes) => {
                let mut arguments = arguments.clone();
                if let Value::Object(members) = &mut arguments {
                    members.extend(changes.clone());
                }
                Decision::AllowWith { arguments }
            }
        }
    }
}

/// What came of something that was said.
#[derive(Debug, Clone, Default)]
pub struct Came {
    /// How the run ended.
    pub ended: Ended,
    /// The last answer as people see it.
    pub text: String,
    /// Cards that the answer shows.
    pub cards: Vec<CardSeen>,
    /// Calls that ran, in the order they began.
    pub ran: Vec<Called>,
    /// Calls that the model made, whatever came of them.
    pub tried: Vec<Called>,
    /// What people were asked.
    pub asks: Vec<Called>,
    /// What it took.
    pub usage: Usage,
    /// What people were told besides.
    pub notices: Vec<String>,
}

impl Came {
    /// What came of a run, from how it ended and what was heard meanwhile.
    pub fn of(outcome: &Outcome, heard: Heard) -> Self {
        let Heard { text, ran, tried, asks, usage, notices } = heard;
        Self { ended: outcome.into(), text, cards: Vec::new(), ran, tried, asks, usage, notices }
    }

    /// The same, with cards.
    #[must_use]
    pub fn showing(mut self, cards: Vec<CardSeen>) -> Self {
        self.cards = cards;
        self
    }
}

/// What came of something that happened.
#[derive(Debug, Clone, Default)]
pub struct Happened {
    /// What the product says about it.
    pub value: Value,
    /// The run that came of it.
    pub came: Option<Came>,
}

impl From<Value> for Happened {
    fn from(value: Value) -> Self {
        Self { value, came: None }
    }
}

/// How a run ended, by name and in words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// `completed`, `suspended`, `exhausted`, `aborted` or `failed`.
    pub outcome: String,
    /// The limit that was reached, or what failed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// The names of outcomes.
pub const OUTCOMES: [&str; 5] = ["completed", "suspended", "exhausted", "aborted", "failed"];

impl From<&Outcome> for Ended {
    fn from(outcome: &Outcome) -> Self {
        let (name, detail) = match outcome {
            Outcome::Completed => ("completed", String::new()),
            Outcome::Suspended { .. } => ("suspended", String::new()),
            Outcome::Exhausted { limit } => ("exhausted", limit.name.clone()),
            Outcome::Aborted => ("aborted", String::new()),
            Outcome::Failed { error } => ("failed", error.to_string()),
        };
        Self { outcome: name.to_owned(), detail }
    }
}

/// A card as it was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CardSeen {
    /// Its kind.
    pub kind: String,
    /// What it is about, by id and in order.
    pub ids: Vec<String>,
}

/// A call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Called {
    /// The tool.
    pub tool: String,
    /// Its arguments. Text where they are no JSON.
    pub args: Value,
}
