//! The time in a case: stands still until the case moves it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use jiff::{SignedDuration, Timestamp};

/// A clock that only a case moves. Clones show the same time.
#[derive(Debug, Clone)]
pub struct CaseClock(Arc<Mutex<Timestamp>>);

impl CaseClock {
    /// A clock that stands at this time.
    pub fn at(time: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(time)))
    }

    /// What time it is.
    pub fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets time pass. What lies behind the end of all time is that end.
    pub fn advance(&self, by: SignedDuration) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now = now.checked_add(by).unwrap_or(Timestamp::MAX);
    }

    /// The clock as most parts take it.
    pub fn shared(&self) -> Arc<dyn Fn() -> Timestamp + Send + Sync> {
        let clock = self.clone();
        Arc::new(move || clock.now())
    }

    /// The clock as the parts below take it.
    pub fn system(&self) -> Arc<dyn Fn() -> SystemTime + Send + Sync> {
        let clock = self.clone();
        Arc::new(move || {
            let since = u64::try_from(clock.now().as_millisecond()).unwrap_or(0);
            SystemTime::UNIX_EPOCH + Duration::from_millis(since)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_when_it_is_told_to() {
        let clock = CaseClock::at("2026-03-02T09:00:00Z".parse().unwrap());
        let (shared, system) = (clock.shared(), clock.system());
        clock.advance(SignedDuration::from_mins(90));
        assert_eq!(shared().to_string(), "2026-03-02T10:30:00Z");
        assert_eq!(system().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs(), 1_772_447_400);
        clock.advance(SignedDuration::MAX);
        assert_eq!(clock.now(), Timestamp::MAX);
    }
}
