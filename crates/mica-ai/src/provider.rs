//! The one thing an agent needs from a model: ask, and read the answer as it comes.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::request::Request;
use crate::stream::ModelStream;

/// Something that answers requests.
///
/// Contract: `stream` returns at once and never fails; whatever goes wrong is the stream's terminal event. When
/// `cancel` fires, the stream ends soon with [`AiError::Cancelled`](crate::AiError::Cancelled) and what had arrived.
pub trait Provider: Send + Sync {
    /// Asks.
    fn stream(&self, request: Arc<Request>, cancel: CancellationToken) -> ModelStream;

    /// Gets ready what can be before this very request may leave: what it says is written down while the caller still
    /// waits for a disk. Nothing is sent, nothing changes for anybody, and `stream` may or may not follow.
    fn prepare(&self, request: &Arc<Request>) {
        let _ = request;
    }
}

impl<P: Provider + ?Sized> Provider for Arc<P> {
    fn stream(&self, request: Arc<Request>, cancel: CancellationToken) -> ModelStream {
        (**self).stream(request, cancel)
    }

    fn prepare(&self, request: &Arc<Request>) {
        (**self).prepare(request);
    }
}
