//! What a stream tells: deltas, then one terminal event.

use std::time::Duration;

use serde::Serialize;

use crate::error::AiError;
use crate::id::{CallId, MessageId};
use crate::message::{Assistant, Image, TextKind};
use crate::usage::Usage;

/// One event of a model's answer.
///
/// Order: any number of `Retry`; then at most one `Start`; then blocks, each opened once, fed, and closed once
/// (blocks may interleave), with `Usage` anywhere between; then exactly one of `Done` and `Error`, last. A stream that
/// fails before the model said anything may have no `Start`.
///
/// `block` is the index into the final message's blocks. Events carry deltas only: their total size is linear in
/// the size of the answer.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StreamEvent {
    /// An attempt failed before it produced anything, and will be made again.
    Retry(Retry),
    /// The model has begun to answer.
    Start {
        /// The id of the message that is being made.
        message: MessageId,
    },
    /// A text block opened.
    TextStart {
        /// Its index.
        block: usize,
        /// Whether it answers or declines.
        kind: TextKind,
    },
    /// More of a text block.
    TextDelta {
        /// Its index.
        block: usize,
        /// What is new.
        text: String,
    },
    /// A text block is complete.
    TextEnd {
        /// Its index.
        block: usize,
    },
    /// A thinking block opened.
    ThinkingStart {
        /// Its index.
        block: usize,
    },
    /// More of a thinking block.
    ThinkingDelta {
        /// Its index.
        block: usize,
        /// What is new.
        text: String,
    },
    /// A thinking block is complete.
    ThinkingEnd {
        /// Its index.
        block: usize,
    },
    /// A tool call opened.
    CallStart {
        /// Its index.
        block: usize,
        /// The call's id.
        call: CallId,
        /// The tool.
        tool: String,
    },
    /// More of a tool call's arguments: JSON text, cut anywhere. For display, see
    /// [`PartialArguments`](crate::arguments::PartialArguments).
    CallDelta {
        /// Its index.
        block: usize,
        /// What is new.
        json: String,
    },
    /// A tool call is complete. It may run only when the message turns out to be whole.
    CallEnd {
        /// Its index.
        block: usize,
    },
    /// A picture the model made, whole.
    Image {
        /// Its index.
        block: usize,
        /// The picture.
        image: Image,
    },
    /// What is known of the usage so far. Cumulative. So a cancelled answer is still accounted for.
    Usage(Usage),
    /// The answer is complete.
    Done {
        /// All of it.
        message: Box<Assistant>,
    },
    /// The answer failed or was cancelled.
    Error {
        /// What arrived until then. Its stop reason is `Error` or `Aborted`.
        partial: Box<Assistant>,
        /// What went wrong.
        error: AiError,
    },
}

impl StreamEvent {
    /// Whether this is the last event of its stream.
    pub fn is_terminal(&self) -> bool {
        matches!(self, StreamEvent::Done { .. } | StreamEvent::Error { .. })
    }

    /// Whether the model said something with this event. From then on an attempt cannot be made again unnoticed.
    pub fn is_output(&self) -> bool {
        !matches!(self, StreamEvent::Retry(_) | StreamEvent::Start { .. } | StreamEvent::Usage(_))
            && !self.is_terminal()
    }
}

/// An attempt that failed, and what comes next.
#[derive(Debug, Clone, Serialize)]
pub struct Retry {
    /// Which attempt failed, from 1.
    pub attempt: u32,
    /// How many there will be at most.
    pub attempts: u32,
    /// How long until the next one.
    #[serde(rename = "wait_ms", serialize_with = "millis")]
    pub wait: Duration,
    /// Why it failed.
    pub error: AiError,
}

fn millis<S: serde::Serializer>(wait: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
}
