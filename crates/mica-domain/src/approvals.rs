//! Questions to people about calls: who may answer, until when, what they may change, and what is kept of it.
//!
//! Its nouns: an [`ApprovalCard`] is a question as interfaces show it, before and after it is answered. The [`Register`] keeps
//! the questions of a session, says who may answer, and makes of what they say what a suspended run goes on with.
//! [`Approvers`] says who may approve what, and [`People`] who somebody is by now. [`trail()`] is the record of all that was decided.

mod acting;
mod amend;
mod asking;
mod card;
mod digest;
mod error;
mod form;
mod kept;
mod question;
mod register;
mod settling;
mod trail;
mod who;

pub use acting::approver;
pub(crate) use acting::{acting, approved};
pub use amend::amend;
pub use card::{ApprovalCard, CardState};
pub use digest::digest;
pub use error::ApprovalError;
pub use form::{Field, FieldKind, form};
pub use question::About;
pub use register::{Choice, Decided, Register, Terms};
pub(crate) use trail::KIND;
pub use trail::{Deed, Entry, Trace, trail};
pub use who::{Approvers, People, Person};
