//! The names of the tools that are really there.

use std::sync::Arc;

/// The names of the tools that are really there. Prompt texts are written from this, so that no text names another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolNames(Arc<[String]>);

impl ToolNames {
    /// The names, in any order.
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        names.into_iter().collect()
    }

    /// Whether a tool is there.
    pub fn has(&self, name: &str) -> bool {
        self.0.binary_search_by(|known| known.as_str().cmp(name)).is_ok()
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
        let mut names: Vec<String> = names.into_iter().map(Into::into).collect();
        names.sort_unstable();
        names.dedup();
        Self(names.into())
    }
}

#[cfg(test)]
mod tests {
    use super::ToolNames;

    #[test]
    fn names_are_sorted_and_told_once() {
        let names = ToolNames::new(["write", "read", "write"]);
        assert_eq!(names.iter().collect::<Vec<_>>(), ["read", "write"]);
        assert_eq!(names, ["read", "write"].into_iter().collect());
        assert_eq!((names.has("read"), names.has("rea"), names.is_empty()), (true, false, false));
        assert_eq!((names.when("read", "Read."), names.when("grep", "Search.")), (Some("Read."), None));
    }
}
