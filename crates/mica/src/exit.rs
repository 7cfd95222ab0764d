//! Exit codes: what scripts can rely on.

use std::process::ExitCode;

use mica_agent::Outcome;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Something went wrong.
    Error = 1,
    /// It was called wrongly.
    Usage = 2,
    /// A limit was reached.
    Exhausted = 3,
    /// A person's approval is needed.
    NeedsApproval = 4,
    /// It was aborted.
    Aborted = 130,
}

impl From<&Outcome> for Exit {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Completed => Exit::Done,
            Outcome::Exhausted { .. } => Exit::Exhausted,
            Outcome::Suspended { .. } => Exit::NeedsApproval,
            Outcome::Aborted => Exit::Aborted,
            Outcome::Failed { .. } => Exit::Error,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
