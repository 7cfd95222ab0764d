//! Approvals that were remembered, kept: those for a session in the session, those for a project in the user's own
//! folder. Nothing that a project brings along can allow itself something.

pub mod project;
pub mod session;

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use mica_agent::event::WindowChange;
use mica_agent::hooks::Step;
use mica_agent::{Ask, Context, Hooks, Proposal, RunError, Scope};
use mica_policy::Approvals;

use mica_domain::keeping::Keeper;
use project::{ProjectFile, Seen};

/// What gates look at, and where it is kept. Clones are handles to the same.
///
/// As a hook it stands behind the gates: what none of them took is not kept.
#[derive(Clone)]
pub struct KeptApprovals {
    approvals: Approvals,
    keeper: Option<Keeper>,
    file: ProjectFile,
    /// The file as it was read last: another process may write it meanwhile.
    seen: Arc<Mutex<Option<Seen>>>,
}

impl KeptApprovals {
    /// What was remembered for this project, and for the session when there is one. What cannot be read counts for
    /// nothing, and is said.
    pub fn open(keeper: Option<&Keeper>, file: ProjectFile, notices: &mut Vec<String>) -> Self {
        let approvals =
            Approvals::new(keeper.map(|keeper| session::of(&keeper.session())).unwrap_or_default());
        let seen = file.seen();
        match file.read() {
            Ok(list) => list.into_iter().for_each(|approval| {
                approvals.remember(approval);
            }),
            Err(error) => notices.push(format!("approvals for this project do not count: {error:#}")),
        }
        Self { approvals, keeper: keeper.cloned(), file, seen: Arc::new(Mutex::new(seen)) }
    }

    /// What gates look at.
    pub fn approvals(&self) -> &Approvals {
        &self.approvals
    }

    /// What is remembered: for the session first.
    pub fn list(&self) -> Vec<Proposal> {
        let mut list = self.approvals.list();
        list.sort_by_key(|approval| approval.scope);
        list
    }

    /// Takes an approval back: at once, and from where it is kept.
    ///
    /// # Errors
    /// When it is not remembered; when it cannot be taken out of where it is kept, so that it would count again later.
    pub async fn forget(&self, approval: &Proposal) -> Result<()> {
        anyhow::ensure!(self.approvals.forget(approval), "{} is not remembered", name(approval));
        let again = "it does not count any more, but will when mica is started again";
        match (approval.scope, &self.keeper) {
            (Scope::Session, None) => Ok(()),
            (Scope::Session, Some(keeper)) => session::take_back(keeper, approval).await.context(again),
            (Scope::Project, _) => {
                let (file, approval) = (self.file.clone(), approval.clone());
                tokio::task::spawn_blocking(move || file.forget(&approval)).await?.context(again)
            }
        }
    }

    /// Keeps what a gate took.
    async fn keep(&self, approval: &Proposal) -> Result<()> {
        match (approval.scope, &self.keeper) {
            (Scope::Session, None) => Ok(()),
            (Scope::Session, Some(keeper)) => session::keep(keeper, approval).await,
            (Scope::Project, _) => {
                let (file, approval) = (self.file.clone(), approval.clone());
                tokio::task::spawn_blocking(move || file.remember(&approval)).await?
            }
        }
    }

    /// Looks whether another process has changed what is remembered for the project.
    fn refresh(&self) {
        let now = self.file.seen();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen == now {
            return;
        }
        *seen = now;
        // A file that cannot be read any more gives nothing; whoever wants to add to it is told.
        let kept = self.file.read().unwrap_or_default();
        for approval in self.approvals.list().iter().filter(|approval| approval.scope == Scope::Project) {
            if !kept.iter().any(|other| other.is(approval)) {
                self.approvals.forget(approval);
            }
        }
        for approval in kept {
            self.approvals.remember(approval);
        }
    }
}

#[async_trait]
impl Hooks for KeptApprovals {
    async fn before_turn(&self, _: &mut Context) -> Result<(Step, Vec<WindowChange>), RunError> {
        self.refresh();
        Ok((Step::Go, Vec::new()))
    }

    async fn remember(&self, _: &Ask, proposal: &Proposal) -> Result<(), String> {
        if !self.approvals.has(proposal.scope, &proposal.key) {
            return Err("no rule is there to remember it".to_owned());
        }
        let kept = self.keep(proposal).await;
        kept.map_err(|error| format!("it counts until mica ends, and is not kept: {error:#}"))
    }
}

/// An approval for people.
pub fn name(approval: &Proposal) -> &str {
    if approval.text.is_empty() { &approval.key } else { &approval.text }
}

#[cfg(test)]
mod tests;
