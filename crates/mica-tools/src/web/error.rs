//! What can go wrong on the way to a page. No text of it has an address with its secrets in it.

use std::net::IpAddr;
use std::time::Duration;

use mica_agent::ToolError;

/// Why something on the web was not reached, or not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WebError {
    /// A text that is no address which can be fetched.
    #[error("{shown:?} cannot be fetched: {reason}")]
    Address {
        /// The text, as far as it may be shown.
        shown: String,
        /// What is wrong with it, and what to say instead.
        reason: String,
    },
    /// A host that leads into a private network.
    #[error("{host} leads to {address}, which is not on the public internet")]
    Private {
        /// The host.
        host: String,
        /// Where it leads.
        address: IpAddr,
    },
    /// A host whose name nobody knows.
    #[error("{host} was not found: {reason}")]
    Unknown {
        /// The host.
        host: String,
        /// What the system said.
        reason: String,
    },
    /// A server that does not answer, or stops in the middle.
    #[error("{host} could not be read: {reason}")]
    Broken {
        /// The host.
        host: String,
        /// What broke.
        reason: String,
    },
    /// It takes too long.
    #[error("{host} did not answer completely within {} s", .after.as_secs())]
    Late {
        /// The host.
        host: String,
        /// How long was waited.
        after: Duration,
    },
    /// A server that leads from one address to the next without end.
    #[error("{host} redirects more than {most} times")]
    Circle {
        /// The host.
        host: String,
        /// How many were followed.
        most: usize,
    },
    /// A redirect that leads where nobody goes.
    #[error("{host} redirects to something that cannot be fetched: {reason}")]
    Astray {
        /// The host.
        host: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A body that is packed in a way nobody asked for.
    #[error("{host} packs its answer as {encoding:?}, which was not asked for")]
    Packed {
        /// The host.
        host: String,
        /// How.
        encoding: String,
    },
    /// Something that is no text.
    #[error("{what}")]
    NoText {
        /// What it is.
        what: String,
    },
    /// A service that was asked and said no.
    #[error("{service} answered {status}: {reason}")]
    Refused {
        /// The service.
        service: String,
        /// The status.
        status: u16,
        /// What it said.
        reason: String,
    },
    /// The call was interrupted.
    #[error("the call was interrupted")]
    Cancelled,
}

impl WebError {
    /// What the model is told: what happened, and what to do instead.
    pub fn for_model(&self) -> String {
        let next = match self {
            Self::Private { .. } => {
                " It was not fetched. Do not try other ways to it. If the user wants it read, they can list the host under \
                 private_hosts in the [web] settings."
            }
            Self::Unknown { .. } => " Check the spelling of the host.",
            Self::Broken { .. } | Self::Late { .. } => " Try it once more, or use another source.",
            Self::Circle { .. } | Self::Astray { .. } | Self::Packed { .. } => " Use another source.",
            Self::Address { .. } | Self::NoText { .. } | Self::Refused { .. } => "",
            Self::Cancelled => " It changed nothing.",
        };
        let text = self.to_string();
        let stop = if text.ends_with('.') { "" } else { "." };
        format!("{text}{stop}{next}")
    }
}

impl From<WebError> for ToolError {
    fn from(error: WebError) -> Self {
        ToolError::new(error.for_model())
    }
}
