//! Stops what goes on, and what commands wait for.
//!
//! Promise: whoever stops waits for nothing but the runs of this process, which end where they are. What has not begun is
//! withdrawn, and on record as that; what another process runs, or left when it died, is not waited for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::Office;

/// Why a fire did not begin.
pub(super) const STOPPED: &str = "somebody stopped it before it began";

/// What commands of this process wait for.
#[derive(Default)]
pub(super) struct Awaited {
    all: Mutex<Waits>,
}

#[derive(Default)]
struct Waits {
    last: u64,
    by: BTreeMap<u64, One>,
}

#[derive(Default)]
struct One {
    stop: CancellationToken,
    fires: BTreeSet<String>,
}

impl Awaited {
    /// Waits for something, for as long as what this answers lives.
    pub(super) fn wait(self: &Arc<Self>) -> Waiting {
        let mut waits = self.all();
        waits.last += 1;
        let (id, one) = (waits.last, One::default());
        let stop = one.stop.clone();
        waits.by.insert(id, one);
        Waiting { awaited: Arc::clone(self), id, stop }
    }

    /// Tells all who wait that they are stopped. Answers what they wait for.
    fn stop(&self) -> Vec<String> {
        let waits = self.all();
        waits.by.values().for_each(|one| one.stop.cancel());
        waits.by.values().flat_map(|one| one.fires.iter().cloned()).collect()
    }

    fn all(&self) -> MutexGuard<'_, Waits> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody who waits for fires.
pub(super) struct Waiting {
    awaited: Arc<Awaited>,
    id: u64,
    /// Somebody does not want it any more.
    pub(super) stop: CancellationToken,
}

impl Waiting {
    /// Waits for a fire, too.
    pub(super) fn add(&self, fire: String) {
        if let Some(one) = self.awaited.all().by.get_mut(&self.id) {
            one.fires.insert(fire);
        }
    }

    /// What is waited for.
    pub(super) fn fires(&self) -> Vec<String> {
        self.awaited.all().by.get(&self.id).into_iter().flat_map(|one| one.fires.iter().cloned()).collect()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.awaited.all().by.remove(&self.id);
    }
}

impl Office {
    /// Ends the runs that go on in this process, of agents and of conversations. Each of them says itself that it was
    /// stopped, and what it did until then stays. What commands of this process wait for and has not begun is withdrawn.
    pub async fn stop(&self) {
        let awaited = self.awaited.stop();
        if !awaited.is_empty()
            && let Err(error) = self.dispatcher().withdraw(&awaited, STOPPED).await
        {
            tracing::warn!(%error, "what has not begun could not be withdrawn");
        }
        for open in self.open.lock().await.values() {
            open.copilot.agent().abort();
        }
    }
}

#[cfg(test)]
mod tests;
