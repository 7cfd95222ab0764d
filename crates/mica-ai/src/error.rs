//! What can go wrong between asking a model and having its answer.
//!
//! Errors are typed by what the caller can do about them: wait, shorten, sign in, correct, give up. Texts are for
//! people; no decision reads them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::ser::SerializeStruct;

mod body;
pub mod classify;
mod codes;
pub mod hints;
mod overflow;

/// Why there is no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AiError {
    /// Too many requests or tokens for the quota.
    #[error("rate limited{}: {reply}", wait_text(.after))]
    RateLimited {
        /// How long the provider asks to wait.
        after: Option<Duration>,
        /// What it said.
        reply: Box<Reply>,
    },
    /// The provider is short of capacity, ran into a wait or lock of its own, or failed inside (408, 409, 5xx, 529).
    #[error("the provider is overloaded or failing{}: {reply}", wait_text(.after))]
    Overloaded {
        /// How long the provider asks to wait.
        after: Option<Duration>,
        /// What it said.
        reply: Box<Reply>,
    },
    /// The provider asks for a longer wait than the policy allows.
    #[error("the provider asks to wait {} s, more than the {} s this run may wait: {source}", .wait.as_secs(), .cap.as_secs())]
    WaitTooLong {
        /// The wait asked for.
        wait: Duration,
        /// The wait allowed.
        cap: Duration,
        /// What it is for.
        source: Box<AiError>,
    },
    /// The conversation does not fit into the model's window. Shorten it; asking again does not help.
    #[error("the conversation is too long for the model: {reply}")]
    ContextOverflow {
        /// Tokens the model takes, when the provider said so.
        limit: Option<u64>,
        /// Tokens that were sent, when the provider said so.
        sent: Option<u64>,
        /// What it said.
        reply: Box<Reply>,
    },
    /// A filter of the provider struck.
    #[error("content filter: {}{reply}", categories_text(.categories))]
    ContentFiltered {
        /// What it found.
        categories: Vec<FilterHit>,
        /// What the provider said.
        reply: Box<Reply>,
    },
    /// The model declined, outside of an ordinary answer.
    #[error("refused: {reply}")]
    Refused {
        /// What it said.
        reply: Box<Reply>,
    },
    /// The credential was not accepted, or there is none.
    #[error("not authorised with {tried}: {reply}")]
    Auth {
        /// Which credential was tried, and for which scope; never its value.
        tried: String,
        /// What to do about it.
        hint: String,
        /// What the provider said.
        reply: Box<Reply>,
    },
    /// The model, deployment or path does not exist there.
    #[error("{model:?} not found: {reply}")]
    NotFound {
        /// The deployment or model that was asked for.
        model: String,
        /// What the provider said.
        reply: Box<Reply>,
    },
    /// The provider cannot use reasoning that was replayed to it (another model's, or another resource's).
    /// Sending the conversation without it helps.
    #[error("replayed reasoning was not accepted: {reply}")]
    StaleReasoning {
        /// What it said.
        reply: Box<Reply>,
    },
    /// The account may not spend more.
    #[error("billing: {reply}")]
    Billing {
        /// What it said.
        reply: Box<Reply>,
    },
    /// The request itself is wrong.
    #[error("bad request: {reply}")]
    BadRequest {
        /// What the provider, or the check before sending, said.
        reply: Box<Reply>,
    },
    /// No connection, or it broke before the response began.
    #[error("network: {action}: {source}")]
    Network {
        /// What was being done.
        action: String,
        /// Why it failed.
        source: Cause,
    },
    /// The stream ended before the answer did.
    #[error("the stream was cut off {when}")]
    StreamCut {
        /// After what.
        when: CutPoint,
        /// Why, when the connection said so.
        #[source]
        source: Option<Cause>,
    },
    /// Nothing was heard for too long. Keep-alives do not count as hearing something.
    #[error("no event from the model for {} s", .limit.as_secs_f32())]
    Idle {
        /// How long was waited.
        limit: Duration,
    },
    /// The time for model calls is used up.
    #[error("the model's time of {} s is used up", .limit.as_secs_f32())]
    Deadline {
        /// How much there was.
        limit: Duration,
    },
    /// The caller cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The provider does not speak the protocol.
    #[error("protocol: {detail}")]
    Protocol {
        /// What was not understood.
        detail: String,
    },
}

/// Where a stream was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CutPoint {
    /// Between two events.
    BetweenEvents,
    /// Inside an event.
    InsideEvent,
    /// Before any event at all.
    BeforeAnyEvent,
}

impl fmt::Display for CutPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CutPoint::BetweenEvents => "between two events",
            CutPoint::InsideEvent => "inside an event",
            CutPoint::BeforeAnyEvent => "before it began",
        })
    }
}

/// What a provider said when it failed, as far as it said it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Reply {
    /// The HTTP status. Absent for errors inside a stream and for checks made here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The provider's code or error type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The provider's words.
    pub message: String,
    /// The parameter it complains about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub param: Option<String>,
    /// The provider's request id, for support.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl Reply {
    /// A reply of words alone: for checks made before anything is sent.
    pub fn local(message: impl Into<String>) -> Box<Self> {
        Box::new(Self { message: message.into(), ..Self::default() })
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(status) = self.status {
            write!(f, "HTTP {status}")?;
        }
        if let Some(code) = &self.code {
            write!(f, "{}{code}", if self.status.is_some() { " " } else { "" })?;
        }
        if self.status.is_some() || self.code.is_some() {
            f.write_str(": ")?;
        }
        f.write_str(if self.message.is_empty() { "(no message)" } else { &self.message })?;
        if let Some(param) = &self.param {
            write!(f, " (parameter {param})")?;
        }
        if let Some(id) = &self.request_id {
            write!(f, " [request {id}]")?;
        }
        Ok(())
    }
}

/// What a content filter found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FilterHit {
    /// For example `violence` or `jailbreak`.
    pub category: String,
    /// For example `medium`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
}

/// An error from below, shareable.
#[derive(Debug, Clone)]
pub struct Cause(Arc<dyn std::error::Error + Send + Sync>);

impl Cause {
    /// Wraps an error.
    pub fn new(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(Arc::from(error.into()))
    }
}

impl fmt::Display for Cause {
    /// The whole chain: what broke is usually at the bottom of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = self.0.to_string();
        f.write_str(&last)?;
        let mut next = self.0.source();
        while let Some(error) = next {
            let text = error.to_string();
            if !last.contains(&text) {
                write!(f, ": {text}")?;
            }
            last = text;
            next = error.source();
        }
        Ok(())
    }
}

impl std::error::Error for Cause {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

/// When a request may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// After the wait the provider asked for.
    Asked(Duration),
    /// After a wait of our choosing.
    Backoff,
}

impl AiError {
    /// When the same request may be sent again; `None` when that cannot help.
    pub fn retry(&self) -> Option<After> {
        match self {
            AiError::RateLimited { after, .. } | AiError::Overloaded { after, .. } => {
                Some(after.map_or(After::Backoff, After::Asked))
            }
            AiError::Network { .. } | AiError::StreamCut { .. } | AiError::Idle { .. } => {
                Some(After::Backoff)
            }
            // What does not speak the protocol will not speak it next time: the address is wrong, or the server
            // is. An event that was merely cut is a `StreamCut`.
            AiError::Protocol { .. }
            | AiError::WaitTooLong { .. }
            | AiError::ContextOverflow { .. }
            | AiError::ContentFiltered { .. }
            | AiError::Refused { .. }
            | AiError::Auth { .. }
            | AiError::NotFound { .. }
            | AiError::StaleReasoning { .. }
            | AiError::Billing { .. }
            | AiError::BadRequest { .. }
            | AiError::Deadline { .. }
            | AiError::Cancelled => None,
        }
    }

    /// Whether the conversation must be shortened before it is sent again.
    pub fn is_overflow(&self) -> bool {
        matches!(self, AiError::ContextOverflow { .. })
    }

    /// A stable name of the kind, for logs, metrics and machine-readable output.
    pub fn kind(&self) -> &'static str {
        match self {
            AiError::RateLimited { .. } => "rate_limited",
            AiError::Overloaded { .. } => "overloaded",
            AiError::WaitTooLong { .. } => "wait_too_long",
            AiError::ContextOverflow { .. } => "context_overflow",
            AiError::ContentFiltered { .. } => "content_filtered",
            AiError::Refused { .. } => "refused",
            AiError::Auth { .. } => "auth",
            AiError::NotFound { .. } => "not_found",
            AiError::StaleReasoning { .. } => "stale_reasoning",
            AiError::Billing { .. } => "billing",
            AiError::BadRequest { .. } => "bad_request",
            AiError::Network { .. } => "network",
            AiError::StreamCut { .. } => "stream_cut",
            AiError::Idle { .. } => "idle",
            AiError::Deadline { .. } => "deadline",
            AiError::Cancelled => "cancelled",
            AiError::Protocol { .. } => "protocol",
        }
    }

    /// What to tell a person: what happened and what to do.
    pub fn for_user(&self) -> String {
        let advice = match self {
            AiError::RateLimited { .. } => {
                "Wait, raise the deployment's quota, or ask for fewer output tokens: the quota is charged for what is asked."
            }
            AiError::Overloaded { .. } => "The provider's side is busy or broken. Try again in a while.",
            AiError::WaitTooLong { .. } => "Try again later, use another deployment, or allow longer waits.",
            AiError::ContextOverflow { .. } => {
                "Shorten or compact the conversation, or use a model with a larger window."
            }
            AiError::ContentFiltered { .. } => {
                "Rephrase the request. The deployment's content filter can be adjusted in the Foundry portal."
            }
            AiError::Refused { .. } => "The model declined. Rephrase the request.",
            AiError::Auth { hint, .. } => hint,
            AiError::NotFound { .. } => {
                "On Azure the name is the deployment's, not the model's: check it in the Foundry portal, or map it with \
                 AZURE_OPENAI_DEPLOYMENT_NAME_MAP."
            }
            AiError::StaleReasoning { .. } => {
                "The conversation will be sent again without the old reasoning."
            }
            AiError::Billing { .. } => "Check the account's billing.",
            AiError::BadRequest { .. } => {
                "This is likely a mistake in the request or in the model's catalogue entry."
            }
            AiError::Network { .. } => "Check the address, the network and the proxy.",
            AiError::StreamCut { .. } | AiError::Idle { .. } => {
                "The connection or the provider stalled. Try again."
            }
            AiError::Deadline { .. } => "Allow more time, or ask for less at once.",
            AiError::Cancelled => return "Cancelled.".to_owned(),
            AiError::Protocol { .. } => "Check that the address belongs to an endpoint of this dialect.",
        };
        format!("{}. {advice}", self.to_string().trim_end_matches('.'))
    }
}

impl Serialize for AiError {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("AiError", 2)?;
        fields.serialize_field("kind", self.kind())?;
        fields.serialize_field("message", &self.to_string())?;
        fields.end()
    }
}

fn wait_text(after: &Option<Duration>) -> String {
    after.map(|wait| format!(" (retry after {:.1} s)", wait.as_secs_f64())).unwrap_or_default()
}

fn categories_text(categories: &[FilterHit]) -> String {
    if categories.is_empty() { String::new() } else { format!("{}: ", hits_text(categories)) }
}

/// What a filter found, in words.
pub(crate) fn hits_text(hits: &[FilterHit]) -> String {
    let names: Vec<String> = hits
        .iter()
        .map(|hit| match &hit.severity {
            Some(severity) => format!("{} ({severity})", hit.category),
            None => hit.category.clone(),
        })
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests;
