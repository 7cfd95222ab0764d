//! What is done for the desk when a process enters it, and every now and then: going on with what others left, letting go of
//! what nobody needs any more, and telling what cannot be read.
//!
//! Promise: nothing of it keeps anybody from entering. What belongs to a process that lives is left to it.

use mica_domain::capture::Bundle;

use super::{Office, OfficeError};
use crate::store::Result;

/// Who looks after the desk. What is done is done as whoever began it.
const NOBODY: &str = "desk";

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

    /// Goes on with what others left in the middle. What fails is said, and the rest is done.
    pub(super) async fn keep_up(&self, entered: &mut Entered) {
        match crate::jobs::recover(&self.station(NOBODY)).await {
            Ok(jobs) => entered.jobs = jobs,
            Err(error) => {
                entered.problems.push(format!("jobs that were left could not be looked at: {error}"))
            }
        }
        match self.resume().await {
            Ok(bundles) => entered.bundles = bundles,
            Err(error) => {
                entered.problems.push(format!("proposals that were left could not be looked at: {error}"))
            }
        }
    }
}

#[cfg(test)]
mod tests;
