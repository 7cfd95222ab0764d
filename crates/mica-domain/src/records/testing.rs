//! Records for tests with a point before and after what can be seen from outside.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::{InMemory, Kept, RecordError, Records};

/// What happens at points.
#[async_trait]
pub(crate) trait Points: Send + Sync {
    /// Before something is read.
    async fn looks(&self) {}

    /// Before and after something is written.
    async fn writes(&self);
}

/// Records with points.
pub(crate) struct Passing<P> {
    pub(crate) inner: InMemory,
    pub(crate) points: Arc<P>,
}

impl<P> Passing<P> {
    pub(crate) fn new(inner: &InMemory, points: &Arc<P>) -> Self {
        Self { inner: inner.clone(), points: Arc::clone(points) }
    }
}

#[async_trait]
impl<P: Points> Records for Passing<P> {
    async fn get(&self, kind: &str, id: &str) -> Result<Option<Kept>, RecordError> {
        self.points.looks().await;
        self.inner.get(kind, id).await
    }

    async fn put(&self, kind: &str, id: &str, doc: &Value, at: Option<u64>) -> Result<u64, RecordError> {
        self.points.writes().await;
        let put = self.inner.put(kind, id, doc, at).await;
        self.points.writes().await;
        put
    }

    async fn list(&self, kind: &str) -> Result<Vec<(String, Kept)>, RecordError> {
        self.points.looks().await;
        self.inner.list(kind).await
    }

    async fn delete(&self, kind: &str, id: &str, expected: u64) -> Result<(), RecordError> {
        self.points.writes().await;
        let deleted = self.inner.delete(kind, id, expected).await;
        self.points.writes().await;
        deleted
    }
}
