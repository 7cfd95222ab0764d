//! Command hooks: commands that people configure and that are run when something happens, with JSON on standard input,
//! as several agents have them.
//!
//! Configuration is read by [`Configured::read`], what a hook reads is an [`Occasion`], what it says an
//! [`Answer`](answer::Answer). [`CommandHooks`] runs them through a [`Runner`], which somebody else brings: nothing is
//! started here. What they bring to a run is a [`Registry`](crate::Registry), and [`CommandHooks::hooks`].
//!
//! Invariant: before a tool is called, whatever is not a clear answer is a no.

mod adapter;
pub mod answer;
pub mod commands;
pub mod config;
pub mod event;
mod fence;
pub mod matcher;
pub mod payload;
pub mod runner;
pub mod scripts;
pub mod vocabulary;

pub use commands::CommandHooks;
pub use config::{Configured, Exec, Hook, Kind, Owner, Source};
pub use event::HookEvent;
pub use payload::Occasion;
pub use runner::{End, Invocation, Ran, Runner, Session, Situation};
