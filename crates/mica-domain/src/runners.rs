//! Ways to run a domain besides a chat: in a thread with somebody outside, as a step of a workflow, to extract data, to
//! suggest what could be done. All of them use the same engine, through [`Opening`].

mod opening;

pub use opening::{Conversation, Heard, OpenError, Opening, Opens, Origin, Past, Said, SayError, Turned};
