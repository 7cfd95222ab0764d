//! Subagents of a conversation that is not kept: what they said is remembered for as long as the program runs, and no longer
//! than that of others. The agents themselves are not: what one began in the background ends with it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use mica_agent::event::WindowChange;
use mica_agent::hooks::{Record, Step};
use mica_agent::{Context, Hooks, RunError};
use mica_ai::Message;
use mica_tools::subagent::{Profile, Profiles};
use tokio::time::Instant;

use super::{Begins, KEPT, profile_of};

/// Subagents, by id.
#[derive(Default)]
pub struct Unkept {
    agents: Arc<Mutex<Agents>>,
}

#[derive(Default)]
struct Agents {
    last: u64,
    known: BTreeMap<String, Known>,
}

struct Known {
    profile: String,
    since: Instant,
    /// What was said. Nothing while it is at work.
    messages: Option<Vec<Message>>,
}

/// Nothing is left half changed by a panic: messages are appended or replaced.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Unkept {
    /// A new one.
    pub(super) fn fresh(&self, profile: &Profile) -> Begins {
        let mut agents = locked(&self.agents);
        agents.last += 1;
        let id = format!("{}-{}", profile.name, agents.last);
        Begins { id, profile: profile.clone(), keeper: None, messages: Vec::new() }
    }

    /// One that was there before.
    pub(super) fn again(&self, profiles: &Profiles, id: &str, taken: Option<&str>) -> Result<Begins> {
        let agents = locked(&self.agents);
        let known = agents.known.get(id);
        let known = known.with_context(|| format!("there is no subagent {id:?} any more. Send a new one"))?;
        let profile = profile_of(profiles, id, &known.profile, taken)?;
        let messages = known.messages.clone();
        let messages = messages.with_context(|| format!("{id} is still at work; wait for its end"))?;
        Ok(Begins { id: id.to_owned(), profile, keeper: None, messages })
    }

    /// What follows one that is at work from here on. It belongs to its hooks, and goes with them.
    pub(super) fn follow(&self, begins: &Begins) -> Arc<dyn Hooks> {
        let mut agents = locked(&self.agents);
        agents.known.retain(|_, known| known.messages.is_none() || known.since.elapsed() < KEPT);
        let profile = begins.profile.name.clone();
        agents.known.insert(begins.id.clone(), Known { profile, since: Instant::now(), messages: None });
        let (id, agents) = (begins.id.clone(), Arc::clone(&self.agents));
        Arc::new(Follower { id, agents, messages: Mutex::new(begins.messages.clone()) })
    }
}

/// Follows what is said, and hands it over when the agent is gone.
struct Follower {
    id: String,
    agents: Arc<Mutex<Agents>>,
    messages: Mutex<Vec<Message>>,
}

#[async_trait]
impl Hooks for Follower {
    async fn before_turn(&self, cx: &mut Context) -> Result<(Step, Vec<WindowChange>), RunError> {
        let mut messages = locked(&self.messages);
        // The window was shortened since.
        if cx.messages.len() < messages.len() {
            messages.clone_from(&cx.messages);
        }
        Ok((Step::Go, Vec::new()))
    }

    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        if let Record::Message(message) = record {
            locked(&self.messages).push(message.clone());
        }
        Ok(())
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let messages = std::mem::take(&mut *locked(&self.messages));
        if let Some(known) = locked(&self.agents).known.get_mut(&self.id) {
            (known.messages, known.since) = (Some(messages), Instant::now());
        }
    }
}

#[cfg(test)]
mod tests;
