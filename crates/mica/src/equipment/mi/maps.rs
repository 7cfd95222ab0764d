//! Who writes data mappings from words: one question to the small model, without tools.

use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use mica_agent::{Agent, Context, Hooks, Listener, Outcome, Settings};
use mica_ai::Message;
use mica_policy::budget::{Budget, Limits, Meter};
use mica_policy::rules::RuleSet;
use mica_tools::subagent::ModelWish;
use pack_mi::datamapper::Mapper;

use crate::assembly::Shared;
use crate::switching::Models;

/// Asks a model for mappings. What it takes counts in the limits of the run.
#[derive(Default)]
pub struct Maps {
    /// Set once the session is there.
    base: OnceLock<Base>,
}

struct Base {
    models: Arc<Models>,
    meter: Meter,
    limits: Limits,
    polls: RuleSet,
    settings: Settings,
}

impl Maps {
    /// Says which models there are, and what counts.
    pub fn ready(&self, models: &Arc<Models>, shared: &Shared, settings: Settings) {
        let base = Base {
            models: Arc::clone(models),
            meter: shared.meter.clone(),
            limits: Limits { turns: Some(1), ..shared.limits.clone() },
            polls: shared.polls.clone(),
            settings,
        };
        // The second one would be of another session, which has its own.
        let _ = self.base.set(base);
    }

    async fn ask(&self, prompt: &str) -> Result<String> {
        let base = self.base.get().context("the session is not ready yet")?;
        let choice = base.models.wished(&ModelWish::Small)?;
        let mut context = Context::new(base.models.provider(&choice), Arc::clone(&choice.model));
        context.settings = base.settings.clone();
        let share = Arc::new(base.meter.share());
        let budget = Budget::new(base.limits.clone(), base.polls.clone());
        let agent = Agent::new(context, vec![Arc::clone(&share) as Arc<dyn Hooks>, Arc::new(budget)]);
        agent.listen(share as Arc<dyn Listener>);
        match agent.prompt(prompt).await? {
            Outcome::Completed => {}
            Outcome::Exhausted { limit } => anyhow::bail!("{limit}"),
            Outcome::Failed { error } => return Err(error.into()),
            Outcome::Aborted | Outcome::Suspended { .. } => anyhow::bail!("it was stopped"),
        }
        let said = agent.with(|context| match context.messages.last() {
            Some(Message::Assistant(said)) => said.text(),
            _ => String::new(),
        });
        let said = said.await?;
        if said.trim().is_empty() { anyhow::bail!("the model said nothing") } else { Ok(said) }
    }
}

#[async_trait]
impl Mapper for Maps {
    async fn map(&self, prompt: &str) -> Result<String, String> {
        self.ask(prompt).await.map_err(|error| format!("{error:#}."))
    }
}
