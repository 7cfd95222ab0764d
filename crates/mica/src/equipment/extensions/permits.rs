//! What the user decided about extensions: which are off, and what each may do.
//!
//! Kept beside the user's settings by `mica ext`; the settings themselves can say the same under `[extensions]`. Nothing
//! that a project brings has a say here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow};
use serde::{Deserialize, Serialize};

use super::store::replace;
use crate::config::ExtensionValues;
use crate::surroundings::Surroundings;

/// What was decided.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Permits {
    /// Extensions that are off, by name.
    pub disabled: BTreeSet<String>,
    /// What each may do, by name.
    pub granted: BTreeMap<String, BTreeSet<String>>,
    /// What the user was asked about and did not allow: they are not asked again.
    pub declined: BTreeMap<String, BTreeSet<String>>,
}

impl Permits {
    fn file(surroundings: &Surroundings) -> PathBuf {
        surroundings.config.join("extensions.json")
    }

    /// What `mica ext` keeps.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn kept(surroundings: &Surroundings) -> Result<Self> {
        let path = Self::file(surroundings);
        match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
            Ok(bytes) => serde_json::from_slice(&bytes)
                .with_context(|| format!("{} is damaged: mend it, or delete it", path.display())),
        }
    }

    /// The same, with what the settings say.
    ///
    /// # Errors
    /// As [`Permits::kept`].
    pub fn find(surroundings: &Surroundings, values: &ExtensionValues) -> Result<Self> {
        let mut permits = Self::kept(surroundings)?;
        permits.disabled.extend(values.disable.iter().cloned());
        for (name, granted) in &values.grants {
            permits.granted.entry(name.clone()).or_default().extend(granted.iter().cloned());
        }
        Ok(permits)
    }

    /// Keeps it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&self, surroundings: &Surroundings) -> Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        replace(&Self::file(surroundings), text.as_bytes()).map_err(|error| anyhow!(error))
    }

    /// Whether an extension is off.
    pub fn is_disabled(&self, name: &str) -> bool {
        self.disabled.contains(name)
    }

    /// Which of what an extension asks for the user has not allowed.
    pub fn missing(&self, name: &str, asked: &[String]) -> Vec<String> {
        let granted = self.granted.get(name);
        asked.iter().filter(|one| !granted.is_some_and(|all| all.contains(*one))).cloned().collect()
    }

    /// Which of what an extension asks for the user said nothing about yet.
    pub fn unanswered(&self, name: &str, asked: &[String]) -> Vec<String> {
        let declined = self.declined.get(name);
        let mut open = self.missing(name, asked);
        open.retain(|one| !declined.is_some_and(|all| all.contains(one)));
        open
    }

    /// Does not allow an extension what it asks for, and is not asked again.
    pub fn decline(&mut self, name: &str, asked: &[String]) {
        self.declined.entry(name.to_owned()).or_default().extend(asked.iter().cloned());
    }

    /// Allows an extension what it asks for.
    pub fn grant(&mut self, name: &str, asked: &[String]) {
        self.declined.remove(name);
        self.granted.entry(name.to_owned()).or_default().extend(asked.iter().cloned());
    }
}
