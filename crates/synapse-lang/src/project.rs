//! The files of a project, and what they say about each other.
//!
//! Callers hand in texts and paths; nothing here reads a disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::check::{self, Setting};
use crate::diagnostic::Diagnostic;
use crate::model::Version;
use crate::syntax::Document;

/// The files of a project by their paths, relative to its root and with forward slashes.
#[derive(Default)]
pub struct Project {
    documents: BTreeMap<String, Document>,
    runtime: Option<Version>,
}

impl Project {
    /// Takes in a file, or its new text.
    pub fn set(&mut self, path: impl Into<String>, text: impl Into<Arc<str>>) {
        self.documents.insert(path.into(), Document::parse(text));
    }

    /// Forgets a file.
    pub fn remove(&mut self, path: &str) {
        self.documents.remove(path);
    }

    /// The runtime that the project is built for, when it says so.
    #[must_use]
    pub const fn runtime(&self) -> Option<Version> {
        self.runtime
    }

    /// Checks one of its files; nothing is found in a file that it does not have.
    #[must_use]
    pub fn check_file(&self, path: &str) -> Vec<Diagnostic> {
        let Some(document) = self.documents.get(path) else { return Vec::new() };
        check::check(document, Setting { path: Some(path), runtime: self.runtime, project: Some(self) })
    }
}
