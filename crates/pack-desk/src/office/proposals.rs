//! What agents proposed, and what members do about it.
//!
//! Promises: what is proposed is stale once somebody else changed what it is about; what a process left in the middle is gone
//! on with as the member who approved it, as long as they may approve it; nobody waits for a process that is gone longer than
//! its lease, and nobody takes over from one that lives.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::ToolSet;
use mica_domain::approvals::Person;
use mica_domain::autonomy::{Autonomy, Judge};
use mica_domain::capture::{
    Activity, Applier, Base, Bundle, Bundles, CaptureError, Holders, Picked, Subject,
};

use super::people::Team;
use super::{Office, OfficeError};
use crate::desk::Desk;
use crate::life::{AtWork, Life};
use crate::store::{Result, Store, activity, lives, team};

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
        let _at_work = self.at_work(bundle).await?;
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
        let _at_work = self.at_work(left.id()).await?;
        let team = Team(self.means.store.clone());
        Ok(self.applier(by)?.resume(left.id(), &team).await?)
    }

    /// Works at a bundle, unless another task of this process does. From here on this process shows that it is there, and
    /// as long as it does nobody takes the bundle over.
    async fn at_work(&self, bundle: &str) -> Result<AtWork, OfficeError> {
        let Some(at_work) = self.life.at_work(&format!("bundle/{bundle}")) else {
            let (holder, until) = (self.life.id().to_owned(), self.life.now());
            return Err(CaptureError::UnderWay { id: bundle.to_owned(), holder, until }.into());
        };
        self.life.begin().await?;
        Ok(at_work)
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
        Ok(applier.judging(judge).beside(Arc::new(Beside(self.life.clone(), self.means.store.clone()))))
    }
}

/// Who applies bundles: tasks of processes that live. Whoever asks is at work at the bundle, so no other task of its own
/// process is.
struct Beside(Life, Store);

#[async_trait]
impl Holders for Beside {
    async fn is_at_it(&self, holder: &str) -> Option<bool> {
        let Self(own, store) = self;
        let (life, _) = holder.rsplit_once('/')?;
        if life == own.id() {
            return Some(false);
        }
        let (life, now) = (life.to_owned(), own.now());
        let goes_on = store.read(move |connection| lives::goes_on(connection, &life, now)).await;
        goes_on.inspect_err(|error| tracing::error!(%error, "it is not known who is at the desk")).ok()
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
