//! One event of an answer, as a cassette has it: without ids that differ from run to run.

use std::time::Duration;

use mica_ai::error::{Cause, CutPoint, Reply};
use mica_ai::event::Retry;
use mica_ai::id::{CallId, MessageId};
use mica_ai::message::{Image, TextKind};
use mica_ai::{AiError, Assistant, StreamEvent, Usage};
use serde::{Deserialize, Serialize};

use super::Covers;

/// An event of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Told {
    Retry { attempt: u32, attempts: u32, wait_ms: u64, error: Failure },
    Start,
    TextStart { block: usize, kind: TextKind },
    TextDelta { block: usize, text: String },
    TextEnd { block: usize },
    ThinkingStart { block: usize },
    ThinkingDelta { block: usize, text: String },
    ThinkingEnd { block: usize },
    CallStart { block: usize, call: CallId, tool: String },
    CallDelta { block: usize, json: String },
    CallEnd { block: usize },
    Image { block: usize, image: Image },
    Usage(Usage),
    Done { message: Box<Assistant> },
    Error { partial: Box<Assistant>, error: Failure },
}

/// Why there is no answer: what the program decides by, and what people read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Failure {
    kind: String,
    /// What the provider said, or what happened.
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    param: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_ms: Option<u64>,
    /// The words beside it: what was tried, and what to do; or what was being done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    besides: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sent: Option<u64>,
}

fn millis(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)
}

impl From<&AiError> for Failure {
    fn from(error: &AiError) -> Self {
        let mut failure = Self { kind: error.kind().to_owned(), ..Self::default() };
        let mut said = |reply: &Reply| {
            failure.message.clone_from(&reply.message);
            failure.status = reply.status;
            failure.code.clone_from(&reply.code);
            failure.param.clone_from(&reply.param);
        };
        match error {
            AiError::RateLimited { after, reply } | AiError::Overloaded { after, reply } => {
                said(reply);
                failure.after_ms = after.map(millis);
            }
            AiError::ContextOverflow { limit, sent, reply } => {
                said(reply);
                (failure.limit, failure.sent) = (*limit, *sent);
            }
            AiError::Auth { tried, hint, reply } => {
                said(reply);
                failure.besides = vec![tried.clone(), hint.clone()];
            }
            AiError::NotFound { model, reply } => {
                said(reply);
                failure.besides = vec![model.clone()];
            }
            AiError::ContentFiltered { reply, .. }
            | AiError::Refused { reply }
            | AiError::StaleReasoning { reply }
            | AiError::Billing { reply }
            | AiError::BadRequest { reply } => said(reply),
            AiError::Network { action, source } => {
                failure.message = source.to_string();
                failure.besides = vec![action.clone()];
            }
            AiError::StreamCut { when, .. } => {
                failure.message = match when {
                    CutPoint::BetweenEvents => "between",
                    CutPoint::InsideEvent => "inside",
                    CutPoint::BeforeAnyEvent => "before",
                }
                .to_owned();
            }
            AiError::Idle { limit } | AiError::Deadline { limit } => failure.after_ms = Some(millis(*limit)),
            AiError::Protocol { detail } => failure.message.clone_from(detail),
            AiError::WaitTooLong { .. } | AiError::Cancelled => failure.message = error.to_string(),
        }
        failure
    }
}

impl Failure {
    fn error(self) -> AiError {
        let Self { kind, message, status, code, param, after_ms, besides, limit, sent } = self;
        let words = message.clone();
        let reply = Box::new(Reply { status, code, message, param, request_id: None });
        let after = after_ms.map(Duration::from_millis);
        let mut besides = besides.into_iter();
        let mut beside = || besides.next().unwrap_or_default();
        match kind.as_str() {
            "rate_limited" => AiError::RateLimited { after, reply },
            "overloaded" => AiError::Overloaded { after, reply },
            "context_overflow" => AiError::ContextOverflow { limit, sent, reply },
            "content_filtered" => AiError::ContentFiltered { categories: Vec::new(), reply },
            "refused" => AiError::Refused { reply },
            "auth" => AiError::Auth { tried: beside(), hint: beside(), reply },
            "not_found" => AiError::NotFound { model: beside(), reply },
            "stale_reasoning" => AiError::StaleReasoning { reply },
            "billing" => AiError::Billing { reply },
            "bad_request" => AiError::BadRequest { reply },
            "network" => AiError::Network { action: beside(), source: Cause::new(words) },
            "stream_cut" => {
                let when = match words.as_str() {
                    "inside" => CutPoint::InsideEvent,
                    "before" => CutPoint::BeforeAnyEvent,
                    _ => CutPoint::BetweenEvents,
                };
                AiError::StreamCut { when, source: None }
            }
            "idle" => AiError::Idle { limit: after.unwrap_or_default() },
            "deadline" => AiError::Deadline { limit: after.unwrap_or_default() },
            "cancelled" => AiError::Cancelled,
            _ => AiError::Protocol { detail: words },
        }
    }
}

/// An answer without the ids that differ from run to run.
fn anonymous(message: &Assistant) -> Box<Assistant> {
    let mut message = message.clone();
    message.id = MessageId::from("");
    message.response_id = None;
    Box::new(message)
}

impl From<&StreamEvent> for Told {
    fn from(event: &StreamEvent) -> Self {
        match event.clone() {
            StreamEvent::Retry(Retry { attempt, attempts, wait, error }) => {
                Self::Retry { attempt, attempts, wait_ms: millis(wait), error: (&error).into() }
            }
            StreamEvent::Start { .. } => Self::Start,
            StreamEvent::TextStart { block, kind } => Self::TextStart { block, kind },
            StreamEvent::TextDelta { block, text } => Self::TextDelta { block, text },
            StreamEvent::TextEnd { block } => Self::TextEnd { block },
            StreamEvent::ThinkingStart { block } => Self::ThinkingStart { block },
            StreamEvent::ThinkingDelta { block, text } => Self::ThinkingDelta { block, text },
            StreamEvent::ThinkingEnd { block } => Self::ThinkingEnd { block },
            StreamEvent::CallStart { block, call, tool } => Self::CallStart { block, call, tool },
            StreamEvent::CallDelta { block, json } => Self::CallDelta { block, json },
            StreamEvent::CallEnd { block } => Self::CallEnd { block },
            StreamEvent::Image { block, image } => Self::Image { block, image },
            StreamEvent::Usage(usage) => Self::Usage(usage),
            StreamEvent::Done { message } => Self::Done { message: anonymous(&message) },
            StreamEvent::Error { partial, error } => {
                Self::Error { partial: anonymous(&partial), error: (&error).into() }
            }
        }
    }
}

impl Told {
    /// The piece of a block that it is.
    pub(super) fn piece(&self) -> Option<(usize, &str)> {
        match self {
            Self::TextDelta { block, text } | Self::ThinkingDelta { block, text } => Some((*block, text)),
            Self::CallDelta { block, json } => Some((*block, json)),
            _ => None,
        }
    }

    /// Makes another piece of it.
    pub(super) fn replace(&mut self, piece: String) {
        match self {
            Self::TextDelta { text, .. } | Self::ThinkingDelta { text, .. } => *text = piece,
            Self::CallDelta { json, .. } => *json = piece,
            _ => {}
        }
    }

    /// The same, with what was covered.
    pub(super) fn uncovered(self, covers: &Covers) -> Self {
        let Ok(text) = serde_json::to_string(&self) else { return self };
        serde_json::from_str(&covers.uncover(&text)).unwrap_or(self)
    }

    /// The event as it is told, of the answer that has this id.
    pub(super) fn event(self, answer: &MessageId) -> StreamEvent {
        let named = |mut message: Box<Assistant>| {
            message.id = answer.clone();
            message
        };
        match self {
            Self::Retry { attempt, attempts, wait_ms, error } => StreamEvent::Retry(Retry {
                attempt,
                attempts,
                wait: Duration::from_millis(wait_ms),
                error: error.error(),
            }),
            Self::Start => StreamEvent::Start { message: answer.clone() },
            Self::TextStart { block, kind } => StreamEvent::TextStart { block, kind },
            Self::TextDelta { block, text } => StreamEvent::TextDelta { block, text },
            Self::TextEnd { block } => StreamEvent::TextEnd { block },
            Self::ThinkingStart { block } => StreamEvent::ThinkingStart { block },
            Self::ThinkingDelta { block, text } => StreamEvent::ThinkingDelta { block, text },
            Self::ThinkingEnd { block } => StreamEvent::ThinkingEnd { block },
            Self::CallStart { block, call, tool } => StreamEvent::CallStart { block, call, tool },
            Self::CallDelta { block, json } => StreamEvent::CallDelta { block, json },
            Self::CallEnd { block } => StreamEvent::CallEnd { block },
            Self::Image { block, image } => StreamEvent::Image { block, image },
            Self::Usage(usage) => StreamEvent::Usage(usage),
            Self::Done { message } => StreamEvent::Done { message: named(message) },
            Self::Error { partial, error } => {
                StreamEvent::Error { partial: named(partial), error: error.error() }
            }
        }
    }
}
