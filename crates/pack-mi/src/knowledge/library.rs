//! All references, read once.

use std::sync::LazyLock;

use super::document::{self, BadDocument, Reference};

/// The documents that are part of the program: file name and text.
static EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/references.rs"));

/// The references there are.
#[derive(Debug, Default)]
pub struct Library {
    references: Vec<Reference>,
    bad: Vec<BadDocument>,
}

impl Library {
    /// The references that are part of the program, read at first use.
    #[must_use]
    pub fn builtin() -> &'static Self {
        static BUILTIN: LazyLock<Library> = LazyLock::new(|| Library::read(EMBEDDED.iter().copied()));
        &BUILTIN
    }

    /// Reads documents, given as file name and text. What is wrong with them is told by [`Library::bad`].
    pub fn read<'a>(documents: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut library = Self::default();
        for (file, text) in documents {
            let (reference, bad) = document::read(file, text);
            library.references.extend(reference);
            library.bad.extend(bad);
        }
        library
    }

    /// The files that are part of the program: name and text as written.
    #[must_use]
    pub fn sources() -> &'static [(&'static str, &'static str)] {
        EMBEDDED
    }

    /// All references, by name.
    #[must_use]
    pub fn references(&self) -> &[Reference] {
        &self.references
    }

    /// The reference of exactly that name.
    #[must_use]
    pub fn reference(&self, name: &str) -> Option<&Reference> {
        self.references.iter().find(|reference| reference.name == name)
    }

    /// What is wrong with the documents; a test holds that it is nothing for those of the program.
    #[must_use]
    pub fn bad(&self) -> &[BadDocument] {
        &self.bad
    }
}
