//! Maps a request to the body of a Chat call.

use serde_json::{Value, json};

use crate::error::AiError;
use crate::message::Origin;
use crate::request::Request;

/// The body of a request.
///
/// # Errors
/// [`AiError::BadRequest`] when the request cannot be put on this wire.
pub fn body(request: &Request, _origin: &Origin) -> Result<Value, AiError> {
    Ok(json!({ "model": request.model.deployment, "stream": true }))
}
