//! Calls that are not made but collected: a run that nobody watches proposes, and a person decides later what is done.
//!
//! Its nouns: a [`Book`] collects the [`Action`]s of a run, and ends as a [`Bundle`]. [`Bundles`] keeps them, and knows which
//! of them still counts. [`wrapped`] gives tools whose calls are captured, and an [`Applier`] does what a person picked.
//!
//! Promises: the model is told that nothing was done yet, and that what it reads is predicted. What was captured is kept
//! before the model goes on. Nothing that was not picked is done, nothing is done before what it needs, and nothing is done
//! twice, wherever a process that applies a bundle dies.

mod action;
mod apply;
mod book;
mod bundle;
mod bundles;
mod error;
mod order;
mod pick;
mod temp;
#[cfg(test)]
pub(crate) mod testing;
mod wrap;

pub use action::{Action, Predicted, Status};
pub use apply::{Applier, Holders};
pub use book::Book;
pub use bundle::{About, Base, Bundle, Lease, Outdated, State, Subject};
pub use bundles::{Activity, Bundles, KIND};
pub(crate) use bundles::{NEWEST, Newest};
pub use error::CaptureError;
pub use order::order;
pub use pick::{Pick, Picked};
pub use temp::Names;
pub(crate) use wrap::Fate;
pub use wrap::{is_captured, toolbox, wrapped};
