//! The three wires as the providers write them: a turn becomes the event sequence of a streamed answer, or the one
//! JSON object of an unstreamed one.

use mica_ai::{Dialect, Usage};
use serde_json::{Map, Value};

pub use crate::ids::Ids;
use crate::route::Vendor;
use crate::scenario::{Pacing, Turn, WireOptions};

pub mod chat;
pub mod messages;
pub mod responses;

/// Everything a writer needs to put a turn on its wire.
#[derive(Debug, Clone)]
pub struct Stage<'a> {
    /// What is said.
    pub turn: &'a Turn,
    /// The request that is answered. Answers echo parts of it, and some fields come only when it asks for them.
    pub request: &'a Value,
    /// How deltas are cut.
    pub pacing: Pacing,
    /// What varies between servers.
    pub options: WireOptions,
    /// Whose server this is.
    pub vendor: Vendor,
    /// The model's name as the request gives it, or its path.
    pub model: &'a str,
    /// What is reported, if anything.
    pub usage: Option<Usage>,
    /// Seconds since 1970 that answers are dated with.
    pub created: u64,
    /// Where the answer's ids come from.
    pub ids: Ids,
}

impl<'a> Stage<'a> {
    /// A stage with default options, for tests of the writers themselves.
    pub fn new(turn: &'a Turn, request: &'a Value) -> Self {
        Self {
            turn,
            request,
            pacing: Pacing::default(),
            options: WireOptions::default(),
            vendor: Vendor::OpenAi,
            model: request["model"].as_str().unwrap_or("scripted"),
            usage: None,
            created: CREATED,
            ids: Ids::new("stage", 0),
        }
    }

    pub(crate) fn flag(&self, pointer: &str, default: bool) -> bool {
        self.request.pointer(pointer).and_then(Value::as_bool).unwrap_or(default)
    }
}

/// The date answers carry. A constant, because the library reads no clock and the same run gives the same bytes.
pub const CREATED: u64 = 1_760_000_000;

/// Which part of an answer an event belongs to. Faults aim by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Before the model said anything.
    Opening,
    /// What the model says.
    Output,
    /// What tells that the answer is complete.
    Finish,
}

/// An event of a streamed answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The `event:` line, where the wire has one.
    pub event: Option<String>,
    /// The `data:` line.
    pub data: String,
    /// Where it belongs.
    pub part: Part,
    /// Whether it is a delta, which pacing delays.
    pub paced: bool,
}

impl Frame {
    /// The bytes, with LF line ends.
    pub fn bytes(&self) -> Vec<u8> {
        let mut text = String::with_capacity(self.data.len() + 64);
        if let Some(event) = &self.event {
            text.push_str("event: ");
            text.push_str(event);
            text.push('\n');
        }
        text.push_str("data: ");
        text.push_str(&self.data);
        text.push_str("\n\n");
        text.into_bytes()
    }

    /// The data as JSON; `null` when it is none, as `[DONE]` is.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or(Value::Null)
    }
}

/// The events of a streamed answer.
pub fn stream(dialect: Dialect, stage: Stage<'_>) -> Vec<Frame> {
    match dialect {
        Dialect::Responses => responses::stream(stage),
        Dialect::Messages => messages::stream(stage),
        Dialect::Chat => chat::stream(stage),
    }
}

/// The body of an unstreamed answer.
pub fn whole(dialect: Dialect, stage: Stage<'_>) -> Value {
    match dialect {
        Dialect::Responses => responses::whole(stage),
        Dialect::Messages => messages::whole(stage),
        Dialect::Chat => chat::whole(stage),
    }
}

/// Puts the members of `more` behind those of `object`.
pub(crate) fn extend(object: &mut Map<String, Value>, more: Value) {
    if let Value::Object(more) = more {
        object.extend(more);
    }
}
