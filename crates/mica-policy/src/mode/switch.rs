//! The mode of a run while it goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::Mode;

/// The mode, shared: whoever holds a clone can change it, also during a run. A call is judged by the mode at the moment
/// it comes to the gate; calls of the same batch that are past it run.
#[derive(Debug, Clone, Default)]
pub struct ModeSwitch(Arc<AtomicU8>);

impl ModeSwitch {
    /// A switch that stands at a mode.
    pub fn new(mode: Mode) -> Self {
        let switch = Self::default();
        switch.set(mode);
        switch
    }

    /// Where it stands.
    pub fn get(&self) -> Mode {
        match self.0.load(Ordering::Acquire) {
            2 => Mode::Edit,
            1 => Mode::Plan,
            _ => Mode::Ask,
        }
    }

    /// Moves it.
    pub fn set(&self, mode: Mode) {
        let place = match mode {
            Mode::Ask => 0,
            Mode::Plan => 1,
            Mode::Edit => 2,
        };
        self.0.store(place, Ordering::Release);
    }
}
