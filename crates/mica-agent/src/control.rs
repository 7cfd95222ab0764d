//! Stopping a run from outside: all of it, or only what it is doing now.

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

/// A handle to stop a run. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Control {
    abort: CancellationToken,
    current: Arc<Mutex<CancellationToken>>,
}

impl Control {
    /// A handle for a run that has not begun.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the run: what is under way is cancelled, what was said is kept.
    pub fn abort(&self) {
        self.abort.cancel();
    }

    /// Whether the run was ended.
    pub fn is_aborted(&self) -> bool {
        self.abort.is_cancelled()
    }

    /// Cuts what is under way, the answer or the calls; the run goes on with what was queued.
    pub fn interrupt(&self) {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).cancel();
    }

    /// The token for what comes next. An interrupt that came before this is forgotten.
    pub(crate) fn next(&self) -> CancellationToken {
        let token = self.abort.child_token();
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = token.clone();
        token
    }

    /// Waits for the end of the run.
    pub(crate) async fn aborted(&self) {
        self.abort.cancelled().await;
    }
}
