//! The three wires. Each maps a request to a body and events to blocks; neither half does any input or output.

use bytes::Bytes;
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
mod json;
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

/// The bytes of that body.
///
/// # Errors
/// As [`body`].
pub fn bytes(dialect: Dialect, request: &Request, origin: &Origin) -> Result<Bytes, AiError> {
    let bytes = match dialect {
        Dialect::Responses => responses::request::bytes(request, origin),
        Dialect::Messages => messages::request::bytes(request, origin),
        Dialect::Chat => chat::request::bytes(request, origin),
    };
    bytes.map(Bytes::from)
}

/// The bytes of a body that is a value already. Not through `Display`, which hands over each piece of a text on its own
/// and takes twice as long.
pub fn written(body: &Value) -> Bytes {
    // A value always has JSON, and memory takes all of it; were it not so, `Display` says the same.
    serde_json::to_vec(body).unwrap_or_else(|_| body.to_string().into_bytes()).into()
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::message::Message;
    use crate::model::fixture::model;
    use crate::replay::tests::conversations;
    use crate::request::{Strictness, ToolDef};

    fn request(dialect: Dialect, messages: &[Message]) -> Request {
        let mut request = Request::new(Arc::new(model(dialect)));
        request.system = vec!["Be \"brief\".".to_owned(), "And kind.".to_owned()];
        request.tools = vec![ToolDef {
            name: "read".to_owned(),
            description: "Reads.\n".to_owned(),
            schema: json!({ "type": "object", "properties": { "z": {}, "a": { "maximum": 1.5 } } }),
            strictness: Strictness::Enforce,
        }]
        .into();
        request.messages = messages.to_vec();
        request
    }

    proptest! {
        /// What is sent is what tests and repairs look at, on every wire.
        #[test]
        fn the_bytes_are_those_of_the_body(messages in conversations()) {
            for dialect in [Dialect::Responses, Dialect::Messages, Dialect::Chat] {
                let origin = Origin { dialect, provider: "foundry".to_owned(), model: "here".to_owned() };
                let request = request(dialect, &messages);
                match (bytes(dialect, &request, &origin), body(dialect, &request, &origin)) {
                    (Ok(bytes), Ok(body)) => {
                        prop_assert_eq!(String::from_utf8_lossy(&bytes), body.to_string());
                        prop_assert_eq!(written(&body), bytes);
                    }
                    (Err(one), Err(other)) => prop_assert_eq!(one.to_string(), other.to_string()),
                    (one, other) => prop_assert!(false, "{:?} and {:?}", one, other),
                }
            }
        }
    }
}
