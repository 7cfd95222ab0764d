//! Approvals for projects: one file in the user's own folder, by the path of the project.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::{Context as _, Result};
use mica_agent::{Proposal, Scope};
use mica_policy::shell::Remembered;
use mica_session::{Readers, Worth, replace_file};
use serde::{Deserialize, Serialize};

use crate::surroundings::Surroundings;

/// The file, seen from one project.
#[derive(Debug, Clone)]
pub struct ProjectFile {
    folder: PathBuf,
    project: String,
}

/// What tells one state of the file from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    modified: Option<SystemTime>,
    bytes: u64,
}

/// An approval as it is written: commands by their first words, whatever else by its key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Row {
    /// Commands.
    Command(Remembered),
    /// Something else.
    Other(Proposal),
}

impl From<&Proposal> for Row {
    fn from(approval: &Proposal) -> Self {
        Remembered::of(approval).map_or_else(|| Self::Other(approval.clone()), Self::Command)
    }
}

impl From<Row> for Proposal {
    fn from(row: Row) -> Self {
        match row {
            Row::Command(remembered) => remembered.proposal(),
            Row::Other(approval) => approval,
        }
    }
}

type Every = BTreeMap<String, Vec<Row>>;

impl ProjectFile {
    /// For the project that is worked in.
    pub fn of(surroundings: &Surroundings) -> Self {
        Self { folder: surroundings.config.clone(), project: surroundings.folder.display().to_string() }
    }

    fn path(&self) -> PathBuf {
        self.folder.join("shell-approvals.json")
    }

    /// What the file looks like from outside. None when it is not there.
    pub fn seen(&self) -> Option<Seen> {
        let facts = fs::metadata(self.path()).ok()?;
        Some(Seen { modified: facts.modified().ok(), bytes: facts.len() })
    }

    /// What was remembered for the project.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&self) -> Result<Vec<Proposal>> {
        let rows = self.every()?.remove(&self.project).unwrap_or_default();
        // Whatever it says, what stands here is for the project.
        Ok(rows.into_iter().map(|row| Proposal { scope: Scope::Project, ..row.into() }).collect())
    }

    /// Remembers an approval for the project.
    ///
    /// # Errors
    /// When the file cannot be read or written. It is then as it was.
    pub fn remember(&self, approval: &Proposal) -> Result<()> {
        self.change(|rows| {
            rows.retain(|row| !Proposal::from(row.clone()).is(approval));
            rows.push(approval.into());
        })
    }

    /// Takes an approval for the project back.
    ///
    /// # Errors
    /// As [`ProjectFile::remember`].
    pub fn forget(&self, approval: &Proposal) -> Result<()> {
        self.change(|rows| rows.retain(|row| Proposal::from(row.clone()).key != approval.key))
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Row>)) -> Result<()> {
        let path = self.path();
        let unwritable = || format!("{} cannot be written", path.display());
        fs::create_dir_all(&self.folder).with_context(unwritable)?;
        // Two processes may remember something at the same time, and neither may lose what the other kept.
        let lock = File::create(path.with_extension("lock")).with_context(unwritable)?;
        lock.lock().with_context(unwritable)?;
        let mut every = self.every()?;
        let rows = every.entry(self.project.clone()).or_default();
        change(rows);
        if rows.is_empty() {
            every.remove(&self.project);
        }
        let text = serde_json::to_string_pretty(&every)?;
        replace_file(&path, text.as_bytes(), Worth::Truth, Readers::Usual).with_context(unwritable)
    }

    fn every(&self) -> Result<Every> {
        let path = self.path();
        match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("{} is damaged; mend or delete it", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Every::new()),
            Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
        }
    }
}
