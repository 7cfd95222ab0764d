//! Names of places and variables, as data (`data/places.toml`): what is secret, what must not change, what is shared.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::SandboxError;

const BUILTIN: &str = include_str!("../data/places.toml");

/// Names, not yet tied to a machine.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
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

impl Places {
    /// The names that come with the program.
    ///
    /// # Errors
    /// When the table cannot be read, which a test rules out.
    pub fn builtin() -> Result<Self, SandboxError> {
        toml::from_str(BUILTIN).map_err(|error| SandboxError::Places { reason: error.to_string() })
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
