//! Bounds of what triggers begin.

use std::time::Duration;

/// Bounds of what runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispatcherLimits {
    /// Runs at the same time, in one process.
    pub at_once: usize,
    /// Runs of one agent at the same time, in one process.
    pub per_agent: usize,
    /// Fires of one trigger that may wait. What comes then is skipped, and that is on record.
    pub pending: usize,
    /// Agents that may have triggered one another in a row.
    pub depth: usize,
    /// How late a time may be seen without being missed.
    pub grace: Duration,
    /// How long a run is waited for that gives no sign of life.
    pub claim: Duration,
    /// How often a fire is begun before it is given up.
    pub tries: u32,
    /// Until it is tried again where a session is not free.
    pub unfree: Duration,
    /// How long a session is waited for that is not free, before what was to be said there is given up. It stays on record.
    pub patience: Duration,
    /// Letters of what somebody wrote.
    pub words: usize,
    /// Letters of a field, and of a summary on record times ten.
    pub field: usize,
    /// Between two looks at most.
    pub longest: Duration,
}

impl Default for DispatcherLimits {
    fn default() -> Self {
        Self {
            at_once: 4,
            per_agent: 2,
            pending: 100,
            depth: 3,
            grace: Duration::from_secs(120),
            claim: Duration::from_secs(60),
            tries: 3,
            unfree: Duration::from_secs(10),
            patience: Duration::from_secs(24 * 60 * 60),
            words: 1_000,
            field: 200,
            longest: Duration::from_secs(60),
        }
    }
}
