//! Questions to people about calls: who may answer, until when, what they may change, and what is kept of it.

mod digest;
mod trail;
mod who;

pub use digest::digest;
pub use trail::{Deed, Trace};
pub use who::{Approvers, Person};
