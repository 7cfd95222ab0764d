//! Background work that picks a conversation up again when it is done.

mod kind;

pub use kind::{Announced, Summary, TaskKind, TaskKinds, TaskStatus};
