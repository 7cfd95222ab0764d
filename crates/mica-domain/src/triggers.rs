//! What starts a run with no person at it: times, events, mentions, assignments, direct messages.
//!
//! A [`Trigger`] is data. When it fires, a [`Fire`] is on record before anything happens, under a name that only this fire
//! has: however many processes look, it runs once, and whoever looks later sees what it was about, what it came to, and what
//! went wrong. A run has the rights of its agent, as far as whoever caused it has them too, and captures what a person would
//! be asked about unless the trigger says otherwise.

pub mod definition;
pub mod dispatcher;
pub mod filter;
pub mod fire;
pub mod happened;
pub mod schedule;

pub use definition::{
    Known, Missed, On, Trigger, TriggerAutonomy, TriggerProblem, TriggerSet, TriggersError,
};
pub use dispatcher::{Agents, Dispatcher, DispatcherLimits, TriggerError};
pub use filter::{Condition, EventKinds, FieldKind, Fields};
pub use fire::{Fire, FireState, LastError, LastFire, TriggerState, Waits};
pub use happened::{Chain, Happened, What, Words};
pub use schedule::Schedule;
