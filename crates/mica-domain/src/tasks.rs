//! Background work that picks a conversation up again when it is done.
//!
//! A tool that starts such work returns at once and puts `task_notification = {kind, ref}` into the details of its result.
//! [`TaskHooks`] keep a [`Watch`] of it in the product's records; a [`Watcher`] asks the [`TaskKind`] how it stands, and when
//! it has ended says so in the session, which begins a new run there. No client needs to be connected for that.
//!
//! Promise: an end is told once. Whatever instant a process dies at, and however many watch, a session hears of it neither
//! twice nor never, unless it is gone or the task outlived its deadline, and then that is on record.

mod hooks;
mod kind;
mod notice;
mod watch;
mod watcher;

pub use hooks::TaskHooks;
pub use kind::{Announced, Summary, TaskKind, TaskKinds, TaskStatus};
pub use notice::Notice;
pub(crate) use watch::KIND;
pub use watch::{Watch, WatchState, Watches};
pub use watcher::{Waker, Watcher, WatcherLimits};

#[cfg(test)]
mod tests;
