//! Agents that work for another: each with a task, a profile, a window and a history of its own.
//!
//! This module knows how a subagent is asked for, watched, stopped and told about. How one is put together (which model,
//! which tools, where its history is kept, who is asked about its calls) only the program knows, and says so by
//! implementing [`Subagents`].
//!
//! Promises: a subagent sends no others; what it came to is told once, as what it is (done, at a limit, stopped, failed),
//! with what it reached until then; nothing is tried again without the one who sent it; whoever stops the run stops the
//! subagents that the run waits for.

mod create;
mod fence;
mod profile;
mod report;

use async_trait::async_trait;
use mica_agent::{Agent, RunId, ToolError};
use mica_ai::id::CallId;

pub use create::{CreateSubagent, NAME, sent};
pub use fence::fenced;
pub use profile::{BUILT_IN, Layer, ModelWish, Profile, ProfileError, Profiles, ToolWish};
pub use report::{Report, changed_files};

/// Puts subagents together.
///
/// Contract: every one is made afresh, also one that goes on with an earlier conversation: no tool, nothing read and no
/// window is shared with the agent that sends it or with another one. Its tools are those that [`Profile::allows`]. What
/// holds for the agent that sends it holds for it: the mode, the rules, the limits. One whose profile does not work in the
/// background is not made for it.
#[async_trait]
pub trait Subagents: Send + Sync {
    /// Makes one.
    ///
    /// # Errors
    /// Why not, and what to do instead. Nothing was begun.
    async fn make(&self, wanted: Wanted<'_>) -> Result<Subagent, ToolError>;
}

/// What is wanted of a subagent.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Which one.
    pub who: Who<'a>,
    /// What it is to do, in a few words for people.
    pub description: &'a str,
    /// Whether the run waits for it.
    pub place: Place,
    /// The run that asks for it.
    pub run: &'a RunId,
    /// The call that asks for it.
    pub call: &'a CallId,
}

/// Which subagent is wanted.
#[derive(Debug, Clone, Copy)]
pub enum Who<'a> {
    /// A new one.
    Fresh(&'a Profile),
    /// One that was there before, with what it said and read.
    Again {
        /// Its id.
        id: &'a str,
        /// The profile that it is taken to have. Another one is a mistake.
        profile: Option<&'a str>,
    },
}

/// Whether the run waits for a subagent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It does.
    Foreground,
    /// It goes on meanwhile.
    Background,
}

/// A subagent that is ready to be asked.
pub struct Subagent {
    /// The id to resume it with.
    pub id: String,
    /// The name of its profile.
    pub profile: String,
    /// The agent.
    pub agent: Agent,
}
