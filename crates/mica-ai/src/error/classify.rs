//! Tells what a provider's failure means: from the status, headers and body of a response, or from an error event
//! inside a stream. Decisions are made on statuses, codes and types; texts are read only for what has no code.

use http::{HeaderMap, StatusCode};
use serde_json::Value;

use super::{AiError, Reply};

/// What was asked, for the texts of an error.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// The deployment or model.
    pub model: String,
    /// The credential and scope that were used; never its value.
    pub tried: String,
    /// What to do when the credential is not accepted.
    pub hint: String,
}

/// The error of a response whose status is not a success.
pub fn response(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    asked: &Asked,
    now: std::time::SystemTime,
) -> AiError {
    let _ = (headers, asked, now);
    AiError::BadRequest {
        reply: Box::new(Reply {
            status: Some(status.as_u16()),
            message: String::from_utf8_lossy(body).into_owned(),
            ..Reply::default()
        }),
    }
}

/// The error of an error event inside a stream. `error` is the object that holds `code` or `type`, and `message`;
/// `asked` is not known here, so authorisation errors carry no credential.
pub fn in_stream(error: &Value) -> AiError {
    AiError::BadRequest { reply: Reply::local(error.to_string()) }
}
