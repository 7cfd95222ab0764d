//! Subagents of a conversation that is not kept: remembered for as long as the program runs, and no longer than others.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result};
use mica_agent::Agent;
use mica_tools::subagent::{Profile, Profiles};
use tokio::time::Instant;

use super::{Begins, KEPT, profile_of};

/// Subagents, by id.
#[derive(Default)]
pub struct Unkept {
    agents: Mutex<Agents>,
}

#[derive(Default)]
struct Agents {
    last: u64,
    known: BTreeMap<String, (String, Agent, Instant)>,
}

impl Unkept {
    /// A new one.
    pub(super) fn fresh(&self, profile: &Profile) -> Begins {
        let mut agents = self.agents();
        agents.last += 1;
        let id = format!("{}-{}", profile.name, agents.last);
        Begins { id, profile: profile.clone(), keeper: None, messages: Vec::new() }
    }

    /// One that was there before.
    pub(super) async fn again(&self, profiles: &Profiles, id: &str, taken: Option<&str>) -> Result<Begins> {
        let known = self.agents().known.get(id).cloned();
        let (was, agent, _) =
            known.with_context(|| format!("there is no subagent {id:?} any more. Send a new one"))?;
        let profile = profile_of(profiles, id, &was, taken)?;
        let messages = agent.with(|cx| cx.messages.clone()).await;
        let messages = messages.map_err(|_| anyhow::anyhow!("{id} is still at work; wait for its end"))?;
        Ok(Begins { id: id.to_owned(), profile, keeper: None, messages })
    }

    /// Remembers one.
    pub(super) fn keep(&self, id: &str, profile: &str, agent: &Agent) {
        let mut agents = self.agents();
        agents.known.retain(|_, (_, _, since)| since.elapsed() < KEPT);
        agents.known.insert(id.to_owned(), (profile.to_owned(), agent.clone(), Instant::now()));
    }

    fn agents(&self) -> MutexGuard<'_, Agents> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
