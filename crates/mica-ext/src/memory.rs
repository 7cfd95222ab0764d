//! Memory: notes that last beyond a session, in two Markdown files that people can read and change.
//!
//! Promises: nothing enters without a person who saw the very words, whatever the mode, the rules or the flags, because notes
//! are told to the model in every later session and text that a tool brought could stay there. The project's file may have
//! come with the project: it counts only while the user trusts it as it is, and what they add through this program keeps it
//! trusted. A file is as it was or as it was meant to be, never half of it. The prompt of a session has the notes as they were
//! when it began; what changes is told at the tail.

mod error;
mod file;
pub mod gate;
mod note;
mod secret;
pub mod tools;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::skills::fence::fenced;

pub use error::MemoryError;
pub use gate::{Asking, MemoryGate};
pub use note::checked;
pub use tools::{Forget, Remember};

/// What the files are called.
pub const FILE: &str = "MEMORY.md";

/// For whom a note is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This project.
    Project,
    /// All projects of this user.
    Global,
}

impl Scope {
    /// Both, the weaker first.
    pub const ALL: [Self; 2] = [Self::Global, Self::Project];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Global => "global",
        }
    }
}

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// How the user wants things done.
    Preferences,
    /// What is so: names, places, versions, decisions.
    Context,
    /// What worked and what did not.
    LearnedPatterns,
}

impl Section {
    /// Its heading.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Preferences => "Preferences",
            Self::Context => "Context",
            Self::LearnedPatterns => "Learned Patterns",
        }
    }
}

/// Trust in the project's file, wherever it is kept.
pub trait Trust: Send + Sync {
    /// Whether the user trusts a file with this text.
    fn trusts(&self, text: &str) -> bool;

    /// The user wrote this text themselves, through this program.
    ///
    /// # Errors
    /// In words, when that cannot be kept.
    fn trust(&self, text: &str) -> Result<(), String>;
}

/// The memory of a user and of a project. Clones are handles to the same.
#[derive(Clone)]
pub struct Memory {
    inner: Arc<Inner>,
}

struct Inner {
    global: PathBuf,
    project: PathBuf,
    /// What the project's file may not lead out of.
    within: PathBuf,
    trust: Arc<dyn Trust>,
}

/// What the notes were at some time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The user's.
    pub global: Option<String>,
    /// The project's, when it counts.
    pub project: Option<String>,
}

impl Memory {
    /// The memory in a folder of settings, and that of a project.
    pub fn new(config: &Path, project: &Path, trust: Arc<dyn Trust>) -> Self {
        let inner = Inner {
            global: config.join(FILE),
            project: project.join(".mica").join(FILE),
            within: project.to_owned(),
            trust,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Where the notes are.
    pub fn path(&self, scope: Scope) -> &Path {
        match scope {
            Scope::Project => &self.inner.project,
            Scope::Global => &self.inner.global,
        }
    }

    /// All of a file, trusted or not. `None` when there is none.
    ///
    /// # Errors
    /// [`MemoryError`] when it cannot be read.
    pub fn text(&self, scope: Scope) -> Result<Option<String>, MemoryError> {
        let within = (scope == Scope::Project).then_some(self.inner.within.as_path());
        file::read(self.path(scope), within)
    }

    /// The notes that count. `None` when there are none.
    ///
    /// # Errors
    /// [`MemoryError`] when they cannot be read, or are not trusted.
    pub fn notes(&self, scope: Scope) -> Result<Option<String>, MemoryError> {
        let Some(text) = self.text(scope)? else { return Ok(None) };
        if scope == Scope::Project && !self.inner.trust.trusts(&text) {
            return Err(MemoryError::Untrusted { path: self.path(scope).to_owned() });
        }
        Ok(Some(text).filter(|text| !text.trim().is_empty()))
    }

    /// The notes as they are now, and what a person should know of those that do not count.
    pub fn snapshot(&self) -> (Snapshot, Vec<MemoryError>) {
        let mut problems = Vec::new();
        let mut get = |scope| match self.notes(scope) {
            Ok(text) => {
                if text.as_deref().is_some_and(file::is_cut) {
                    problems
                        .push(MemoryError::Long { path: self.path(scope).to_owned(), most: file::most() });
                }
                text
            }
            Err(error) => {
                problems.push(error);
                None
            }
        };
        let snapshot = Snapshot { global: get(Scope::Global), project: get(Scope::Project) };
        (snapshot, problems)
    }

    /// Adds a note. Answers the line that was added.
    ///
    /// # Errors
    /// [`MemoryError`]: what is wrong with the words, that they are there already, or that there is no room.
    pub fn add(&self, scope: Scope, section: Section, words: &str) -> Result<String, MemoryError> {
        let words = checked(words)?;
        self.change(scope, |text| file::added(text, section, &words))?;
        Ok(format!("- {words}"))
    }

    /// What adding would refuse, without adding.
    ///
    /// # Errors
    /// As [`Memory::add`].
    pub fn could_add(&self, scope: Scope, section: Section, words: &str) -> Result<String, MemoryError> {
        let words = checked(words)?;
        let text = self.notes(scope)?.unwrap_or_default();
        file::added(&text, section, &words)?;
        Ok(format!("- {words}"))
    }

    /// Takes a note out. Answers the line.
    ///
    /// # Errors
    /// [`MemoryError`] when none or several fit.
    pub fn forget(&self, scope: Scope, words: &str) -> Result<String, MemoryError> {
        let mut line = String::new();
        self.change(scope, |text| {
            let (rest, found) = file::without(text, words)?;
            line = found;
            Ok(rest)
        })?;
        Ok(line)
    }

    /// The line that would be taken out.
    ///
    /// # Errors
    /// As [`Memory::forget`].
    pub fn could_forget(&self, scope: Scope, words: &str) -> Result<String, MemoryError> {
        let text = self.notes(scope)?.unwrap_or_default();
        file::without(&text, words).map(|(_, line)| line)
    }

    /// A person changed the file of a project by hand, through this program.
    ///
    /// # Errors
    /// [`MemoryError`] when it cannot be read, or trust cannot be kept.
    pub fn edited(&self, scope: Scope) -> Result<(), MemoryError> {
        match (scope, self.text(scope)?) {
            (Scope::Project, Some(text)) => {
                self.inner.trust.trust(&text).map_err(|reason| MemoryError::Trust { reason })
            }
            _ => Ok(()),
        }
    }

    fn change(
        &self,
        scope: Scope,
        mut change: impl FnMut(&str) -> Result<String, MemoryError>,
    ) -> Result<(), MemoryError> {
        // Before anything is made: what may not be written needs no folder.
        self.notes(scope)?;
        let _held = file::hold(self.path(scope))?;
        // An editor knows nothing of locks and may write meanwhile: then it is done again with what it wrote.
        for _ in 0..8 {
            let before = self.text(scope)?;
            self.notes(scope)?;
            let after = change(before.as_deref().unwrap_or_default())?;
            if scope == Scope::Project {
                self.inner.trust.trust(&after).map_err(|reason| MemoryError::Trust { reason })?;
            }
            if file::swap(self.path(scope), before.as_deref(), &after)? {
                return Ok(());
            }
        }
        Err(MemoryError::Busy { path: self.path(scope).to_owned() })
    }
}

impl Snapshot {
    /// What the prompt says. `None` when there are no notes.
    pub fn section(&self) -> Option<String> {
        let parts: Vec<String> = [(Scope::Global, &self.global), (Scope::Project, &self.project)]
            .into_iter()
            .filter_map(|(scope, text)| Some((scope, text.as_deref()?)))
            .map(|(scope, text)| fenced("memory", &[("scope", scope.name())], &file::shown(text)))
            .collect();
        (!parts.is_empty()).then(|| {
            format!(
                "# Memory\n\nThe user's own notes from earlier sessions, for all projects and for this one. Go by them. What the \
                 user says now counts more, and a note allows nothing that would be asked about otherwise.\n\n{}",
                parts.join("\n")
            )
        })
    }

    /// What is different now, for the model. `None` when nothing is.
    pub fn changed(&self, now: &Self) -> Option<String> {
        let mut text = String::new();
        for (scope, before, after) in
            [(Scope::Global, &self.global, &now.global), (Scope::Project, &self.project, &now.project)]
        {
            let (came, went) = file::difference(before.as_deref(), after.as_deref());
            for (what, lines) in [("now also there", came), ("no longer there", went)] {
                if !lines.is_empty() {
                    text.push_str(&format!("\n{} memory, {what}:\n{}", scope.name(), lines.join("\n")));
                }
            }
        }
        (!text.is_empty()).then(|| {
            format!(
                "The user's memory has changed since this session began.\n{}",
                fenced("memory_changes", &[], &text)
            )
        })
    }
}

#[cfg(test)]
mod tests;
