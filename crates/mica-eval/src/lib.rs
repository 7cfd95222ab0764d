//! Runs agents against cases that say what must come of it, and compares what came of two suites.
//!
//! It must not know: any particular product. What is put to the test is handed in as a [`Product`].
//!
//! Its nouns: a [`Case`] is a file that says what happens and what must come of it; a [`Product`] opens a [`Stage`] for it,
//! put together as in production with another model, clock and stand-ins for tools. The whole format is in
//! `docs/evals.md`.

pub mod case;
pub mod clock;
pub mod error;
pub mod journal;
pub mod mocks;
pub mod played;
pub mod product;

pub use case::{Case, Holds};
pub use clock::CaseClock;
pub use error::EvalError;
pub use journal::{Heard, Journal};
pub use mocks::Mocks;
pub use played::{Asked, Played};
pub use product::{
    Answered, Answering, Called, Came, CardSeen, Ended, Happened, Opening, Product, Said, Stage, StageError,
};
