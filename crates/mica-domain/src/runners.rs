//! Ways to run a domain besides a chat: in a thread with somebody outside, as a step of a workflow, to extract data, to
//! suggest what could be done. All of them use the same engine, through [`Opening`].

pub mod answer;
mod chat;
mod clip;
mod clock;
pub mod extract;
#[cfg(test)]
pub(crate) mod fake;
mod key;
pub(crate) mod looking;
mod opening;
mod sessions;
pub mod step;
pub mod suggest;
pub mod thread;

pub use answer::AnswerTool;
pub use chat::{ChatError, chat};
pub use clip::{clip, one_line};
pub use clock::{Clock, later, until};
pub use extract::{ExtractError, Extracted, Extraction};
pub use key::{key, parts};
pub use opening::{
    Conversation, Extras, Heard, OpenError, Opening, Opens, Origin, Past, Said, SayError, Turned,
    outcome_name,
};
pub use sessions::{Making, OpenSessions};
pub use step::{StepEnd, StepError, WorkflowStep, run_step};
pub use suggest::{SuggestError, Suggested, Suggestion, suggest};
pub use thread::{Attended, By, Reply, Thread, ThreadAgent, ThreadError, ThreadMessage, ThreadSetup};
