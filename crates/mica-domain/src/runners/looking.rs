//! Looks again and again at what is due, and works at it beside: what watchers of background work and dispatchers of triggers
//! have in common.
//!
//! Promises: what could not be kept is tried again, and not at once; what somebody else was quicker at is left to them; when
//! it is cancelled, what is under way is dropped where it is.

use std::future::Future;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::clock::{Clock, until};
use crate::records::RecordError;

/// Between two looks at least, so that a clock that stands does not make it spin.
const LEAST: Duration = Duration::from_millis(50);

/// What is worked at.
#[derive(Default)]
pub(crate) struct Works(JoinSet<bool>);

impl Works {
    /// Works at something. What is held for it is let go of when that has ended.
    pub(crate) fn begin<H: Send + 'static>(
        &mut self,
        id: String,
        held: H,
        work: impl Future<Output = Result<(), RecordError>> + Send + 'static,
    ) {
        self.0.spawn(mica_ai::id::apart(async move {
            let _held = held;
            match work.await {
                // Somebody else is at it.
                Ok(()) | Err(RecordError::Conflict { .. }) => true,
                Err(error) => {
                    tracing::error!(id, %error, "what came of it could not be kept");
                    false
                }
            }
        }));
    }

    /// Waits until one has ended, and says whether what it came to is kept. `None`: there is none.
    pub(crate) async fn ended(&mut self) -> Option<bool> {
        Some(self.0.join_next().await?.unwrap_or(false))
    }
}

/// Somebody who looks at what is due.
pub(crate) trait Looks {
    /// Begins what is due. Answers when to look again.
    fn look(
        &self,
        now: Timestamp,
        works: &mut Works,
    ) -> impl Future<Output = Result<Option<Timestamp>, RecordError>> + Send;
}

/// How it is looked.
pub(crate) struct Pace<'a> {
    /// The clock.
    pub(crate) clock: &'a Clock,
    /// Has it looked at once.
    pub(crate) woken: &'a Notify,
    /// Between two looks at most: others may put something on record without a way to wake this one.
    pub(crate) longest: Duration,
    /// Until it is tried again what could not be kept.
    pub(crate) again: Duration,
}

/// Looks until it is cancelled.
pub(crate) async fn look_on(looks: &(impl Looks + Sync), pace: Pace<'_>, cancel: CancellationToken) {
    let mut works = Works::default();
    loop {
        let now = (pace.clock)();
        let next = match looks.look(now, &mut works).await {
            Ok(next) => next,
            Err(error) => {
                tracing::error!(%error, "what is due cannot be read");
                None
            }
        };
        let wait = next.map_or(pace.longest, |next| until(now, next)).min(pace.longest);
        tokio::select! {
            () = cancel.cancelled() => return,
            () = pace.woken.notified() => {}
            () = tokio::time::sleep(wait.max(LEAST)) => {}
            Some(kept) = works.ended() => {
                if !kept {
                    tokio::select! {
                        () = cancel.cancelled() => return,
                        () = tokio::time::sleep(pace.again) => {}
                    }
                }
            }
        }
    }
}

/// The sooner of two times, where there is one.
pub(crate) fn sooner(next: Option<Timestamp>, other: Timestamp) -> Option<Timestamp> {
    Some(next.map_or(other, |next| next.min(other)))
}
