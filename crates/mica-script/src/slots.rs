//! How many threads scripts may have in this process. A step that cannot be interrupted keeps its thread until it ends;
//! too many of them would be a way to take the machine after all.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::ScriptError;

/// More than a program with many extensions needs.
const MOST: usize = 128;

static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// The right to a thread, for as long as the thread lives.
pub(crate) struct Slot(());

impl Slot {
    /// Takes one, if there is one.
    pub(crate) fn take() -> Result<Self, ScriptError> {
        let taken = TAKEN
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |taken| (taken < MOST).then_some(taken + 1));
        match taken {
            Ok(_) => Ok(Self(())),
            Err(_) => {
                let reason = format!("scripts have {MOST} threads already; some may be stuck");
                Err(ScriptError::Ended { reason })
            }
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        TAKEN.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_come_back() {
        // Other tests of the process take some, too: what matters is that there is an end, and a way back.
        let mut held = Vec::new();
        let end = loop {
            match Slot::take() {
                Ok(slot) => held.push(slot),
                Err(error) => break error,
            }
        };
        assert!(held.len() <= MOST && matches!(end, ScriptError::Ended { .. }), "{end}");
        drop(held);
        assert!(Slot::take().is_ok());
    }
}
