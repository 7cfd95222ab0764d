//! The three wires. Each maps a request to a body and events to blocks; neither half does any input or output.

use http::HeaderMap;
use serde_json::Value;

use crate::assemble::Assembler;
use crate::error::AiError;
use crate::message::{Dialect, Origin};
use crate::request::Request;
use crate::sse::SseEvent;

pub mod chat;
#[cfg(test)]
pub(crate) mod fixtures;
pub mod messages;
pub mod responses;

/// Whether a mapper has seen the end of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// There is more to come.
    More,
    /// The answer is complete. Whatever follows is not looked at.
    Finished,
}

/// Understands one wire's events.
///
/// Contract: unknown events and fields are ignored. `Err` ends the stream as failed; what was assembled until then
/// is kept as the partial message. A mapper never reports an answer as finished that the provider did not.
pub trait Mapper: Send {
    /// Takes an event.
    ///
    /// # Errors
    /// An error the provider reported inside the stream, or an event that breaks the protocol.
    fn event(&mut self, event: &SseEvent, out: &mut Assembler) -> Result<Progress, AiError>;

    /// The connection ended in good order. Answers whether the answer is complete nevertheless, for servers that
    /// leave out their terminal event.
    fn connection_ended(&mut self, out: &mut Assembler) -> Progress {
        let _ = out;
        Progress::More
    }
}

/// A mapper for a dialect.
pub fn mapper(dialect: Dialect) -> Box<dyn Mapper> {
    match dialect {
        Dialect::Responses => Box::new(responses::stream::ResponsesMapper::default()),
        Dialect::Messages => Box::new(messages::stream::MessagesMapper::default()),
        Dialect::Chat => Box::new(chat::stream::ChatMapper::default()),
    }
}

/// The body of a request on a dialect, for the endpoint that `origin` names.
///
/// # Errors
/// [`AiError::BadRequest`] when the request cannot be put on this wire: it is not sent then.
pub fn body(dialect: Dialect, request: &Request, origin: &Origin) -> Result<Value, AiError> {
    match dialect {
        Dialect::Responses => responses::request::body(request, origin),
        Dialect::Messages => messages::request::body(request, origin),
        Dialect::Chat => chat::request::body(request, origin),
    }
}

/// The path below the endpoint's base that requests of a dialect go to.
pub fn path(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Responses => "/responses",
        Dialect::Messages => "/v1/messages",
        Dialect::Chat => "/chat/completions",
    }
}

/// The beginning of a text, for an error message.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 120;
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Headers a dialect needs besides the credential.
pub fn headers(dialect: Dialect, headers: &mut HeaderMap) {
    if dialect == Dialect::Messages {
        headers.insert("anthropic-version", http::HeaderValue::from_static("2023-06-01"));
    }
}
