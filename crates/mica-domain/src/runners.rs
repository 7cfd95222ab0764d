//! Ways to run a domain besides a chat: in a thread with somebody outside, as a step of a workflow, to extract data, to
//! suggest what could be done. All of them use the same engine, through [`Opening`].

mod clip;
mod clock;
#[cfg(test)]
pub(crate) mod fake;
mod key;
mod opening;
pub mod thread;

pub use clip::{clip, one_line};
pub use clock::{Clock, later, until};
pub use key::{key, parts};
pub use opening::{
    Conversation, Extras, Heard, OpenError, Opening, Opens, Origin, Past, Said, SayError, Turned,
    outcome_name,
};
pub use thread::{Attended, By, Reply, Thread, ThreadAgent, ThreadError, ThreadMessage, ThreadSetup};
