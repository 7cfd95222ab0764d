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
}

/// The variables that settings take keys from, whatever they are called.
fn named_in(value: &toml::Value, names: &mut Vec<String>) {
    match value {
        toml::Value::Table(members) => {
            for (key, member) in members {
                match member {
                    toml::Value::String(name) if key == "env" || key.ends_with("_env") => {
                        names.push(name.clone());
                    }
                    other => named_in(other, names),
                }
            }
        }
        toml::Value::Array(members) => members.iter().for_each(|member| named_in(member, names)),
        _ => {}
    }
}

impl Live for Configured {
    fn model(&self, name: Option<&str>) -> Result<LiveModel, String> {
        self.find(name).map_err(|error| format!("{error:#}"))
    }

    /// Values of the environment that are named like secrets, and those that keys are taken from.
    fn secrets(&self) -> Vec<String> {
        const WORDS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSPHRASE", "CREDENTIAL"];
        let mut keys: Vec<String> = self.flags.api_key_env.iter().cloned().collect();
        let values = Config::read(&self.surroundings, &self.flags).and_then(|config| config.values());
        values.iter().flat_map(|values| &values.endpoints).for_each(|one| named_in(one, &mut keys));
        let named = |name: &String| {
            keys.contains(name) || WORDS.iter().any(|word| name.to_ascii_uppercase().contains(word))
        };
        let variables = self.surroundings.variables.iter();
        variables.filter(|(name, _)| named(name)).map(|(_, value)| value.clone()).collect()
    }
}
