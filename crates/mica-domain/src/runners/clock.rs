//! The clock that whoever runs without a client is handed.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A moment and a while: the end of time when it is beyond it.
pub fn later(at: Timestamp, by: Duration) -> Timestamp {
    let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
    at.checked_add(by).unwrap_or(Timestamp::MAX)
}

/// How long it is from a moment to another; nothing when that has passed.
pub fn until(now: Timestamp, then: Timestamp) -> Duration {
    Duration::try_from(then.duration_since(now)).unwrap_or(Duration::ZERO)
}
