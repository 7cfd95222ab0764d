//! How bytes travel: one request, one streamed response.
//!
//! The seam between dialects and the network. [`HttpTransport`](crate::http::HttpTransport) is the real one; tests
//! play responses in process, under a virtual clock, with every fault a network has.

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use http::{HeaderMap, Method, StatusCode};

use crate::error::AiError;

/// An HTTP request, ready to go.
#[derive(Clone)]
pub struct HttpRequest {
    /// The method.
    pub method: Method,
    /// The whole address.
    pub url: String,
    /// The headers. Those that carry secrets are marked sensitive, so that they do not print.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// The body is not printed: it holds a conversation, or a client secret on its way to a token endpoint.
impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("url", &self.url)
            .field("headers", &self.headers)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish()
    }
}

/// An HTTP response whose body is still arriving.
pub struct HttpResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, in the pieces it arrives in. An error item is the last one.
    pub body: BoxStream<'static, Result<Bytes, AiError>>,
}

/// Sends requests.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Sends a request and waits for the head of the response.
    ///
    /// # Errors
    /// [`AiError::Network`] when no response came. A response with an error status is not an error here.
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, AiError>;
}

impl HttpResponse {
    /// Reads the whole body, at most `limit` bytes of it; what is beyond is dropped.
    ///
    /// # Errors
    /// What the body ended with, when that was an error and nothing at all had arrived.
    pub async fn read(mut self, limit: usize) -> Result<Vec<u8>, AiError> {
        use futures::StreamExt;
        let mut all = Vec::new();
        while let Some(piece) = self.body.next().await {
            match piece {
                Ok(bytes) => all.extend_from_slice(&bytes),
                Err(error) if all.is_empty() => return Err(error),
                Err(_) => break,
            }
            if all.len() >= limit {
                all.truncate(limit);
                break;
            }
        }
        Ok(all)
    }
}
