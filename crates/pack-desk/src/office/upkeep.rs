//! What is done for the desk when a process enters it, and every now and then: going on with what others left, letting go of
//! what nobody needs any more, and telling what cannot be read.
//!
//! Promise: nothing of it keeps anybody from entering. What belongs to a process that lives is left to it.

use jiff::{SignedDuration, Timestamp};
use mica_domain::Records;
use mica_domain::capture::Bundle;
use mica_domain::upkeep::{self, Keep, Pruned, Retention};

use super::{Office, OfficeError};
use crate::store::{Result, Store, effects, lives};

/// Who looks after the desk. What is done is done as whoever began it.
const NOBODY: &str = "desk";

/// How often what is over is let go of.
const PRUNES: SignedDuration = SignedDuration::from_hours(6);

/// Where it is noted when that was last done.
const PRUNED: (&str, &str) = ("upkeep", "pruned");

/// What was found and done when somebody entered.
#[derive(Debug, Default)]
pub struct Entered {
    /// Jobs that are gone on with.
    pub jobs: usize,
    /// Bundles that were gone on with.
    pub bundles: Vec<Bundle>,
    /// What is wrong, for people. None of it was lost.
    pub problems: Vec<String>,
}

impl Office {
    /// Enters the desk: this process shows that it is there, and goes on with what others left in the middle.
    ///
    /// # Errors
    /// [`OfficeError::Desk`]: data that cannot be used at all. Single documents that cannot be read are told.
    pub async fn enter(&self) -> Result<Entered, OfficeError> {
        self.life.begin().await?;
        let mut entered = Entered::default();
        self.keep_up(&mut entered).await;
        match upkeep::unreadable(&self.means.store).await {
            Ok(unread) => entered.problems.extend(unread.iter().map(ToString::to_string)),
            Err(error) => entered.problems.push(error.to_string()),
        }
        self.prune_when_due(&mut entered).await;
        Ok(entered)
    }

    /// Leaves it: what this process held is free at once, and nobody waits for it.
    ///
    /// # Errors
    /// [`OfficeError::Desk`]. Others wait then until its lease is over.
    pub async fn leave(&self) -> Result<(), OfficeError> {
        Ok(self.life.end().await?)
    }

    /// The processes that are at the desk beside this one.
    ///
    /// # Errors
    /// [`OfficeError::Desk`].
    pub async fn beside(&self) -> Result<Vec<String>, OfficeError> {
        Ok(self.life.beside().await?)
    }

    /// Shows that this process is there: also right after somebody moved its clock.
    ///
    /// # Errors
    /// [`OfficeError::Desk`].
    pub async fn beat(&self) -> Result<(), OfficeError> {
        Ok(self.life.beat().await?)
    }

    /// Lets go of what nobody needs any more, at most once in [`PRUNES`] by the desk's clock, whichever process does it.
    pub(super) async fn prune_when_due(&self, entered: &mut Entered) {
        let now = (self.means.now)();
        let pruned = async {
            if due(&self.means.store, now).await? {
                self.prune(&Retention::default()).await?;
            }
            Ok::<_, OfficeError>(())
        };
        if let Err(error) = pruned.await {
            entered.problems.push(format!("what is over could not be let go of: {error}"));
        }
    }

    /// Lets go of what nobody needs any more: fires, watches, bundles and questions that are over, what calls came to, and
    /// processes that are gone.
    ///
    /// # Errors
    /// [`OfficeError`]. What was let go of until then is gone.
    pub async fn prune(&self, retention: &Retention) -> Result<Pruned, OfficeError> {
        let (store, now) = (&self.means.store, (self.means.now)());
        let pruned = upkeep::prune(store, retention, now).await?;
        // The keys of bundles that may be gone on with are used again then.
        let all = self.bundles().list().await?;
        let in_use = all.iter().filter(|one| one.is_open() || !one.is_at_rest());
        let in_use: Vec<String> = in_use.map(|one| format!("bundle/{}/", one.id())).collect();
        let Keep { age, most, least } = retention.ended;
        let keep = effects::Keep { before: now - age, most, least: now - least };
        store
            .write(move |tx| {
                effects::prune(tx, &keep, &in_use)?;
                lives::forget(tx, now)
            })
            .await?;
        Ok(pruned)
    }

    /// Goes on with what others left in the middle. What fails is said, and the rest is done.
    pub(super) async fn keep_up(&self, entered: &mut Entered) {
        match crate::jobs::recover(&self.station(NOBODY)).await {
            Ok(jobs) => entered.jobs = jobs,
            Err(error) => {
                entered.problems.push(format!("jobs that were left could not be looked at: {error}"));
            }
        }
        match self.resume().await {
            Ok(bundles) => entered.bundles = bundles,
            Err(error) => {
                entered.problems.push(format!("proposals that were left could not be looked at: {error}"));
            }
        }
    }
}

/// Whether it is time to let go of what is over: then that is noted, so that nobody else does it now.
async fn due(store: &Store, now: Timestamp) -> Result<bool, OfficeError> {
    let (kind, id) = PRUNED;
    let kept = store.get(kind, id).await?;
    let last = kept.as_ref().and_then(|kept| kept.doc.as_str()?.parse::<Timestamp>().ok());
    if last.is_some_and(|last| now.duration_since(last) < PRUNES) {
        return Ok(false);
    }
    let note = serde_json::json!(now.to_string());
    match store.put(kind, id, &note, kept.map(|kept| kept.version)).await {
        Ok(_) => Ok(true),
        Err(mica_domain::RecordError::Conflict { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
