//! The index of references: what a model reads to decide what to load.

use std::fmt::Write as _;

use synapse_lang::model::Version;

use super::library::Library;

/// One line for each reference that is true for the runtime, with the names of its sections. Without a known runtime,
/// all are listed and say what they need.
#[must_use]
pub fn index(version: Option<Version>) -> String {
    Library::builtin().index(version)
}

impl Library {
    /// See [`index`].
    #[must_use]
    pub fn index(&self, version: Option<Version>) -> String {
        let mut out = String::new();
        for reference in self.references() {
            if version.is_some_and(|version| !reference.runtimes.has(version)) {
                continue;
            }
            let _ = write!(out, "- {}: {}", reference.name, reference.description.trim_end_matches('.'));
            if version.is_none()
                && let Some(needs) = reference.runtimes.words()
            {
                let _ = write!(out, " (MI {needs})");
            }
            let sections: Vec<&str> = reference
                .sections
                .iter()
                .filter(|one| version.is_none_or(|version| one.runtimes.has(version)))
                .map(|one| one.name.as_str())
                .collect();
            let _ = writeln!(out, " [{}]", sections.join(" "));
        }
        out
    }
}
