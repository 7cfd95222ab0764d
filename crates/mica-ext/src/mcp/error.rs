//! What goes wrong with servers, in words for people and for models.

use std::time::Duration;

use mica_agent::ToolError;

use super::words::line;

/// Why something did not work with a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// It could not be started or reached.
    #[error("the MCP server {server:?} cannot be used: {reason}")]
    Start {
        /// Which.
        server: String,
        /// Why.
        reason: String,
    },
    /// It broke too often and is left alone for a while.
    #[error("the MCP server {server:?} broke {times} times in a row; it is started again in {} s at the earliest; the last \
             time: {reason}", .wait.as_secs().max(1))]
    Waiting {
        /// Which.
        server: String,
        /// How often.
        times: u32,
        /// For how long.
        wait: Duration,
        /// Why, the last time.
        reason: String,
    },
    /// It ended while something was asked of it.
    #[error(
        "the MCP server {server:?} ended before it answered: {reason}; what it did until then is unknown"
    )]
    Died {
        /// Which.
        server: String,
        /// How.
        reason: String,
    },
    /// It took too long.
    #[error("the MCP server {server:?} did not answer within {} s; what it did is unknown", .after.as_secs())]
    Late {
        /// Which.
        server: String,
        /// How long it had.
        after: Duration,
    },
    /// It answered with an error of the protocol.
    #[error("the MCP server {server:?} refused: {message}")]
    Refused {
        /// Which.
        server: String,
        /// In its words.
        message: String,
    },
    /// It wants to know who asks.
    #[error("the MCP server {server:?} wants a login: run `mica mcp login {server}`")]
    Login {
        /// Which.
        server: String,
    },
    /// It answered with something that is no answer.
    #[error("the MCP server {server:?} answered with something that is no answer: {reason}")]
    Strange {
        /// Which.
        server: String,
        /// What.
        reason: String,
    },
    /// Nobody waits for it any more.
    #[error("it was stopped")]
    Stopped,
}

impl McpError {
    /// For the model: short, and what to do.
    pub fn for_model(&self) -> ToolError {
        let what = match self {
            Self::Start { .. } | Self::Waiting { .. } | Self::Login { .. } => {
                "Go on without it, and tell the user. Nothing was done."
            }
            Self::Died { .. } | Self::Late { .. } => "Look at what is there before you try it again.",
            Self::Refused { .. } | Self::Strange { .. } => "",
            Self::Stopped => "What it did until then is unknown.",
        };
        let told = self.to_string();
        let mut letters = told.chars();
        let told: String =
            letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default();
        ToolError::new(line(&format!("{told}. {what}"), 2_000))
    }
}
