//! The timers of a resident: when which of them fires. What they do is the script's.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use tokio::time::Instant;

/// Timers that may wait at a time.
const TIMERS: usize = 64;

/// The shortest time that a timer waits for.
const SHORTEST: Duration = Duration::from_millis(4);

/// The longest: a day.
pub(super) const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// When which timer fires.
#[derive(Default)]
pub(super) struct Timers {
    due: BTreeMap<(Instant, u32), ()>,
    of: HashMap<u32, Instant>,
}

impl Timers {
    /// Sets a timer. Answers whether there was room.
    pub(super) fn set(&mut self, id: u32, wait: Duration) -> bool {
        self.clear(id);
        if self.of.len() >= TIMERS {
            return false;
        }
        let at = Instant::now() + wait.clamp(SHORTEST, LONGEST);
        self.due.insert((at, id), ());
        self.of.insert(id, at);
        true
    }

    pub(super) fn clear(&mut self, id: u32) {
        if let Some(at) = self.of.remove(&id) {
            self.due.remove(&(at, id));
        }
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.due.first_key_value().map(|((at, _), ())| *at)
    }

    pub(super) fn take(&mut self) -> Option<u32> {
        let ((_, id), ()) = self.due.pop_first()?;
        self.of.remove(&id);
        Some(id)
    }
}
