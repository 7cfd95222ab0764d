//! Questions to people about calls: who may answer, until when, what they may change, and what is kept of it.

mod amend;
mod digest;
mod form;
mod trail;
mod who;

pub use amend::amend;
pub use digest::digest;
pub use form::{Field, FieldKind, form};
pub use trail::{Deed, Trace};
pub use who::{Approvers, Person};
