//! Cards: what a fence in the model's words becomes for people.
//!
//! The model writes ids; people see cards. What a card shows comes from a table of snapshots that is filled from what tools
//! gave, is kept with the session and never reaches a model.

pub mod kind;
pub mod probe;

pub use kind::{Kind, Kinds, Line, Payload, Thing};
pub use probe::Probe;
