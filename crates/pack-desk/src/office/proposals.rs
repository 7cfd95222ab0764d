//! What agents proposed, and what members do about it.
//!
//! Promises: what is proposed is stale once somebody else changed what it is about; what a process left in the middle is gone
//! on with as the member who approved it, and nobody waits for who is gone longer than their lease.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::ToolSet;
use mica_domain::Rights;
use mica_domain::approvals::Person;
use mica_domain::autonomy::{Autonomy, Judge};
use mica_domain::capture::{Activity, Applier, Base, Bundle, Bundles, Picked, Subject};

use super::{Office, OfficeError};
use crate::desk::Desk;
use crate::error::DeskError;
use crate::store::{Result, Store, activity, team};

impl Office {
    /// What was proposed. What it is about is watched.
    pub fn bundles(&self) -> Bundles {
        Bundles::new(Arc::new(self.means.store.clone()))
            .watching(Arc::new(Watching(self.means.store.clone())))
    }

    /// Does what a member picked of a bundle.
    ///
    /// # Errors
    /// [`OfficeError`].
    pub async fn apply(&self, who: &str, bundle: &str, picked: &Picked) -> Result<Bundle, OfficeError> {
        let person = self.approver(who).await?;
        let applied = self.applier(who)?.apply(bundle, picked, &person).await?;
        self.show_applied(&applied).await;
        Ok(applied)
    }

    /// Has the cards of the conversation that a bundle comes from show what became of it, when that is open here.
    /// What is done is done without them.
    async fn show_applied(&self, bundle: &Bundle) {
        let Some(session) = &bundle.about.session else { return };
        let copilot = self.open.lock().await.get(session).map(|open| open.copilot.clone());
        if let Some(copilot) = copilot
            && let Err(error) = copilot.cards().applied(bundle).await
        {
            tracing::warn!(%error, session, "the cards of a conversation could not be put right");
        }
    }

    /// Goes on with bundles that a process left in the middle, each as whoever approved it. What others work at is left to
    /// them, and what cannot be gone on with keeps nobody from the rest.
    ///
    /// # Errors
    /// [`OfficeError`] when it is not known what was left.
    pub async fn resume(&self) -> Result<Vec<Bundle>, OfficeError> {
        let mut resumed = Vec::new();
        for left in self.bundles().left().await? {
            match self.resumed(&left).await {
                Ok(bundle) => {
                    self.show_applied(&bundle).await;
                    resumed.push(bundle);
                }
                Err(OfficeError::Capture(error)) if error.is_of_others() => {}
                Err(error) => {
                    tracing::error!(bundle = left.id(), %error, "a bundle could not be gone on with");
                }
            }
        }
        Ok(resumed)
    }

    async fn resumed(&self, left: &Bundle) -> Result<Bundle, OfficeError> {
        let by = left.approved_by().unwrap_or_default();
        let person = match self.approver(by).await {
            // Nobody goes on with it for ever.
            Err(OfficeError::Desk(DeskError::Missing { .. })) => Person::new(by, Rights::of([])),
            person => person?,
        };
        Ok(self.applier(by)?.resume_as(left.id(), &person).await?)
    }

    /// A member with the rights they have now.
    async fn approver(&self, who: &str) -> Result<Person, OfficeError> {
        let name = who.to_owned();
        let rights = self.means.store.read(move |connection| team::rights(connection, &name)).await?;
        Ok(Person::new(who, rights))
    }

    fn applier(&self, who: &str) -> Result<Applier, OfficeError> {
        let mut tools = ToolSet::default();
        for tool in self.desk(who)?.capabilities().iter().flat_map(|group| &group.tools) {
            tools.add(Arc::clone(tool));
        }
        let judge = Arc::new(Judge::new(Desk::acts_at(&self.station(who)), Autonomy::default()));
        // One name for each time something is applied: two tasks of this process are two who apply.
        let applier = Applier::new(self.bundles(), tools, self.life.name(), Arc::clone(&self.means.now));
        Ok(applier.judging(judge))
    }
}

/// Whether something happened to what a bundle is about: by anybody but agents, and but the bundle itself.
struct Watching(Store);

#[async_trait]
impl Activity for Watching {
    async fn of(&self, subject: &Subject) -> Result<Base, String> {
        let id = subject.id.clone();
        let mark = self.0.read(move |connection| activity::foreign_mark(connection, &id)).await;
        mark.map(|mark| Base::version(mark.to_string())).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests;
