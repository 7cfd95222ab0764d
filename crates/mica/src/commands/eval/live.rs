//! Real models for cases: those that the settings and flags lead to.

use std::sync::Arc;

use mica_ai::Provider;
use mica_eval::{Live, LiveModel};

use crate::cli::RunFlags;
use crate::config::Config;
use crate::reach::{self, Reach};
use crate::surroundings::Surroundings;

/// What is configured.
pub struct Configured {
    flags: RunFlags,
    surroundings: Surroundings,
}

impl Configured {
    /// What the flags and the surroundings lead to. Nothing is read before somebody asks.
    pub fn new(flags: &RunFlags, surroundings: &Surroundings) -> Self {
        Self { flags: flags.clone(), surroundings: surroundings.clone() }
    }

    fn find(&self, name: Option<&str>) -> anyhow::Result<LiveModel> {
        let mut values = Config::read(&self.surroundings, &self.flags)?.values()?;
        // A flag wins over what the case names: it is how another model is tried.
        if let (None, Some(name)) = (&self.flags.model, name) {
            values.model = Some(name.to_owned());
        }
        let reach = Reach::find(&values, &self.flags, &self.surroundings)?;
        let choice = reach.choose(&values)?;
        let provider: Arc<dyn Provider> = reach::means(&values, &self.surroundings)?.provider(&choice);
        Ok(LiveModel { provider, model: Arc::clone(&choice.model), secrets: self.secrets() })
    }

    /// Values of the environment that are named like secrets.
    fn secrets(&self) -> Vec<String> {
        const WORDS: [&str; 4] = ["KEY", "TOKEN", "SECRET", "PASSWORD"];
        let named = |name: &str| WORDS.iter().any(|word| name.to_ascii_uppercase().contains(word));
        let variables = self.surroundings.variables.iter();
        variables.filter(|(name, _)| named(name)).map(|(_, value)| value.clone()).collect()
    }
}

impl Live for Configured {
    fn model(&self, name: Option<&str>) -> Result<LiveModel, String> {
        self.find(name).map_err(|error| format!("{error:#}"))
    }
}
