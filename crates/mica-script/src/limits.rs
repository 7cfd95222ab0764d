//! How much a script may take, and what it is told of time and chance.

use std::time::Duration;

/// Limits of one cage. Every one of them ends a call with an error of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory for all that scripts keep.
    pub memory: usize,
    /// Bytes of stack for calls within calls.
    pub stack: usize,
    /// How long one call may compute. Waiting for a host function does not count.
    pub time: Duration,
    /// How long one call may wait for host functions, all in all.
    pub wait: Duration,
    /// Bytes of a result, of the arguments of a host function, and of its answer, as JSON.
    pub value: usize,
    /// Bytes of one source.
    pub source: usize,
    /// Bytes that the console keeps until somebody reads it.
    pub console: usize,
    /// Host functions that one call may have under way.
    pub under_way: usize,
    /// What a script is told when it asks for the time.
    pub clock: Clock,
    /// Where `Math.random` begins. The same seed gives the same numbers.
    pub seed: u64,
}

/// What a script is told when it asks for the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The time of the machine.
    System,
    /// Always this, in milliseconds since 1970: the same call gives the same answer.
    Frozen(i64),
}

impl Default for Limits {
    /// Enough for a mapping of some megabytes, and no more than a person waits for without asking.
    fn default() -> Self {
        Self {
            memory: 64 << 20,
            stack: 512 << 10,
            time: Duration::from_secs(1),
            wait: Duration::from_secs(60),
            value: 8 << 20,
            source: 1 << 20,
            console: 64 << 10,
            under_way: 64,
            clock: Clock::Frozen(0),
            seed: 0,
        }
    }
}
