//! Runs agents against cases that say what must come of it, and compares what came of two suites.
//!
//! It must not know: any particular product. What is put to the test is handed in as a [`Product`].
//!
//! Its nouns: a [`Case`] is a file that says what happens and what must come of it; a [`Product`] opens a [`Stage`] for it,
//! put together as in production with another model, clock and stand-ins for tools; a [`Runner`] plays cases and makes a
//! [`Report`], and [`compare()`] says what changed between two. A product with a domain implements [`World`] and is given
//! the rest by [`CopilotStage`].
//!
//! ```
//! use mica_eval::Case;
//! use std::path::Path;
//!
//! let case = Case::parse(
//!     "greets",
//!     Path::new("greets.toml"),
//!     r#"
//!     about = "It greets back."
//!     product = "desk"
//!
//!     [[step]]
//!     say = "Hello"
//!     turn = [{ sees = "Hello", says = "Good morning." }]
//!     expect = { text = { has = "morning" } }
//!     "#,
//! )?;
//! assert_eq!(case.file.step.len(), 1);
//!
//! let wrong = Case::parse("w", Path::new("w.toml"), "abuot = 'x'").unwrap_err();
//! assert!(wrong[0].to_string().starts_with("w.toml:1:1: unknown key `abuot`; did you mean `about`?"));
//! # Ok::<(), Vec<mica_eval::EvalError>>(())
//! ```
//!
//! The whole format is in `docs/evals.md`.

pub mod case;
pub mod cassette;
mod checking;
pub mod clock;
pub mod compare;
pub mod confine;
pub mod copilot;
pub mod error;
pub mod files;
pub mod finding;
pub mod journal;
pub mod judge;
pub mod junit;
pub mod mocks;
pub mod models;
pub mod obeys;
pub mod played;
mod playing;
pub mod product;
pub mod report;
pub mod runner;
mod telling;

pub use case::{Case, Holds, given};
pub use clock::CaseClock;
pub use compare::{Change, Comparison, compare};
pub use copilot::{CopilotStage, Here, World};
pub use error::EvalError;
pub use journal::{Heard, Journal};
pub use mocks::Mocks;
pub use models::{Live, LiveModel};
pub use played::{Asked, Played};
pub use product::{
    Answered, Answering, Called, Came, CardSeen, Ended, Happened, Opening, Product, Said, Stage, StageError,
};
pub use report::{CaseReport, Check, Report, Status};
pub use runner::Runner;
