//! Approvals that count for later calls: what people picked of what gates proposed.
//!
//! Gates look into one list, so what is remembered or taken back counts from the next call on, whoever asks. What a key
//! means is for the gate that made it; a key that no gate knows means nothing.

mod files;

pub use files::FileGate;

use std::sync::{Arc, PoisonError, RwLock};

use mica_agent::{Proposal, Scope};

/// What was remembered. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Approvals {
    list: Arc<RwLock<Vec<Proposal>>>,
}

impl Approvals {
    /// What was remembered before.
    pub fn new(list: impl IntoIterator<Item = Proposal>) -> Self {
        let approvals = Self::default();
        for proposal in list {
            approvals.remember(proposal);
        }
        approvals
    }

    /// Remembers, from now on. Whether it is new.
    pub fn remember(&self, proposal: Proposal) -> bool {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        let new = !list.iter().any(|known| known.is(&proposal));
        if new {
            list.push(proposal);
        }
        new
    }

    /// Takes back, from now on. Whether it was there.
    pub fn forget(&self, proposal: &Proposal) -> bool {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        let before = list.len();
        list.retain(|known| !known.is(proposal));
        list.len() < before
    }

    /// Whether a key was remembered for so long.
    pub fn has(&self, scope: Scope, key: &str) -> bool {
        let list = self.list.read().unwrap_or_else(PoisonError::into_inner);
        list.iter().any(|known| known.scope == scope && known.key == key)
    }

    /// All of it, in the order it was remembered.
    pub fn list(&self) -> Vec<Proposal> {
        self.list.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
