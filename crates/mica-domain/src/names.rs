//! The names of the tools that are really there.

use std::collections::BTreeSet;

/// The names of the tools that are really there. Prompt texts are written from this, so that no text names another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolNames(BTreeSet<String>);

impl ToolNames {
    /// Whether a tool is there.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// A text, if a tool is there.
    pub fn when<'a>(&self, name: &str, text: &'a str) -> Option<&'a str> {
        self.has(name).then_some(text)
    }

    /// All of them, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Into<String>> FromIterator<T> for ToolNames {
    fn from_iter<I: IntoIterator<Item = T>>(names: I) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }
}
