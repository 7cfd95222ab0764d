//! Names of places and variables, as data: what is secret and what must not change (the table of `mica-policy`), what is
//! shared and what is inherited (`data/places.toml`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::SandboxError;

const BUILTIN: &str = include_str!("../data/places.toml");

/// Names, not yet tied to a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Never readable.
    pub secret: Vec<String>,
    /// Below a writable root, and never writable.
    pub frozen: Vec<String>,
    /// Of those, the ones that are held even when they are missing.
    pub held: Vec<String>,
    /// Shared by everybody on the machine.
    pub shared: Vec<PathBuf>,
    /// Variables that are inherited.
    pub variables: Vec<String>,
    /// Parts of names of variables that are not inherited in spite of that.
    pub withheld: Vec<String>,
}

/// What `data/places.toml` has of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Machine {
    shared: Vec<PathBuf>,
    variables: Vec<String>,
    withheld: Vec<String>,
}

impl Places {
    /// The names that come with the program.
    ///
    /// # Errors
    /// When the table cannot be read, which a test rules out.
    pub fn builtin() -> Result<Self, SandboxError> {
        let unreadable = |reason: String| SandboxError::Places { reason };
        let names = mica_policy::Places::builtin().map_err(|error| unreadable(error.to_string()))?;
        let machine: Machine = toml::from_str(BUILTIN).map_err(|error| unreadable(error.to_string()))?;
        Ok(Self {
            secret: names.secret_places.clone(),
            frozen: names.frozen.clone(),
            held: names.held.clone(),
            shared: machine.shared,
            variables: machine.variables,
            withheld: machine.withheld,
        })
    }

    /// The secret places of a person.
    pub fn secrets(&self, home: Option<&Path>) -> Vec<PathBuf> {
        let place = |name: &String| match name.strip_prefix("~/") {
            Some(below) => home.map(|home| home.join(below.trim_end_matches('/'))),
            None => Some(PathBuf::from(name.trim_end_matches('/'))),
        };
        self.secret.iter().filter_map(place).collect()
    }

    /// What is inherited of an environment.
    pub fn clean(&self, environment: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let kept = environment.iter().filter(|(name, _)| self.inherits(name));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    fn inherits(&self, name: &str) -> bool {
        let upper = name.to_ascii_uppercase();
        let listed = self.variables.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == pattern,
        });
        listed && !self.withheld.iter().any(|part| upper.contains(part.as_str()))
    }
}

#[cfg(test)]
mod tests;
