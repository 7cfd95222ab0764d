//! What can go wrong before a command runs. A command that ran and failed is an outcome, not an error.

use std::io;
use std::path::PathBuf;

use crate::tier::Tier;

/// Why a command was not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The table of places cannot be read.
    #[error("the table of places cannot be read: {reason}")]
    Places {
        /// Why.
        reason: String,
    },
    /// A path of the boundary cannot be used.
    #[error("{path} cannot be part of a boundary: {reason}")]
    Path {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A host of the network grant is not written as one.
    #[error("{text:?} is no host to allow: {reason}")]
    Host {
        /// What was written.
        text: String,
        /// Why not.
        reason: &'static str,
    },
    /// The tier that was asked for is not reached here.
    #[error("the tier {wanted} is not reached here, only {reached}: {reason}")]
    Tier {
        /// What was asked for.
        wanted: Tier,
        /// What there is.
        reached: Tier,
        /// What is missing.
        reason: String,
    },
    /// The network grant cannot be kept in this tier.
    #[error("only some hosts cannot be granted in the tier {tier}: {reason}")]
    Grant {
        /// The tier.
        tier: Tier,
        /// Why.
        reason: &'static str,
    },
    /// Setting the boundary up failed. Nothing was run.
    #[error("the sandbox could not be set up ({stage}): {reason}")]
    SetUp {
        /// Which step.
        stage: String,
        /// Why.
        reason: String,
    },
    /// There is no such program.
    #[error("{program}: no such program")]
    NotFound {
        /// Its name.
        program: String,
    },
    /// The program is there and cannot be run.
    #[error("{program} cannot be run: {reason}")]
    NotRunnable {
        /// Its name.
        program: String,
        /// Why.
        reason: String,
    },
    /// The process that sets the boundary up could not be started.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

impl SandboxError {
    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source }
    }

    /// A short text for the model, with what can be done.
    pub fn for_model(&self) -> String {
        match self {
            Self::NotFound { program } => format!("{program} is not installed here, or not on the path."),
            Self::NotRunnable { .. } => format!("{self}. Check that it is a program and may be executed."),
            Self::Path { .. } | Self::Host { .. } => format!("{self}."),
            _ => format!("The command was not run: {self}. This needs a person."),
        }
    }
}
