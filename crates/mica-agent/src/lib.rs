//! The loop: ask the model, run its tools, repeat; tell what happens.
//!
//! It must not know: providers' wire formats, disks, user interfaces, domains. Whatever those need, they say through
//! [`Hooks`].
//!
//! Its nouns: a [`Context`] is what a run works on, [`Tool`]s are what the model can call, [`Hooks`] have a say in
//! everything, [`Event`]s tell what happens, and an [`Outcome`] is how it ends.

pub mod agent;
pub mod approval;
mod batch;
mod call;
pub mod context;
pub mod control;
pub mod cx;
pub mod event;
mod gate;
mod guard;
pub mod hooks;
pub mod id;
mod nearest;
pub mod outcome;
pub mod queue;
pub mod run;
mod shorten;
pub mod tool;
pub mod typed;

pub use agent::{Agent, Busy};
pub use approval::{Ask, Decision, Decisions, Verdict};
pub use context::{Context, Settings, ToolSet};
pub use control::Control;
pub use cx::ToolCx;
pub use event::{Event, EventKind, EventSink, Listener};
pub use hooks::{HookStack, Hooks, NoHooks};
pub use id::RunId;
pub use outcome::{Limit, Outcome, RunError, Tally};
pub use tool::{Access, Approval, Args, Effect, Ends, Resource, Tool, ToolError, ToolOutput, ToolSpec};
pub use typed::TypedTool;
