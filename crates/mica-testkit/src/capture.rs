//! What was asked, kept for tests to look at.

use bytes::Bytes;
use http::HeaderMap;
use mica_ai::Dialect;
use serde_json::Value;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Captured {
    /// The order of arrival, from 0.
    pub number: usize,
    /// The method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The query, without the question mark; empty when there is none.
    pub query: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as it was sent.
    pub body: Bytes,
    /// The body as JSON; `null` when it is none.
    pub json: Value,
    /// The wire it was asked on.
    pub dialect: Option<Dialect>,
}

impl Captured {
    /// A header's value; empty when it is missing or no text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}
