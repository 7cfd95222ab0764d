//! Stopping a run from outside: all of it, or only what it is doing now.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

    /// Cuts what is under way, the answer or the calls; the run goes on with what was queued before this. With
    /// nothing queued it ends.
    pub fn interrupt(&self) {
        self.current().cancel();
    }

    /// Queues something and cuts what is under way, in one step: the run cannot take what is queued in between and
    /// then be cut with nothing left to go on with. Nothing is cut when queueing fails.
    ///
    /// # Errors
    /// What queueing failed with.
    pub fn interrupt_with<T, E>(&self, queue: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let current = self.current();
        let queued = queue()?;
        current.cancel();
        Ok(queued)
    }

    /// The token for what comes next. Take it before looking at what is queued: an interrupt is then either older,
    /// and what it queued is found, or cuts by this token.
    pub(crate) fn next(&self) -> CancellationToken {
        let token = self.abort.child_token();
        *self.current() = token.clone();
        token
    }

    /// Whether what was under way is cut. An interrupt that has begun has ended when this answers.
    pub(crate) fn is_cut(&self, token: &CancellationToken) -> bool {
        let _interrupts = self.current();
        token.is_cancelled()
    }

    /// Waits for the end of the run.
    pub(crate) async fn aborted(&self) {
        self.abort.cancelled().await;
    }

    fn current(&self) -> MutexGuard<'_, CancellationToken> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
