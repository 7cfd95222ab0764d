//! What a question rests on: what the call would change, and how that stood when a person was shown it.
//!
//! A preview is true of a moment. Hours may pass before somebody says yes, and others work meanwhile: a yes counts only as
//! long as what it was given for stands as it did.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Letters of one value in words about a change.
const SHORT: usize = 80;

/// What a question rests on: things by name, and how each of them stands. A version, a digest, or a few plain words:
/// whoever says it sees to it that it differs when the thing does. People read both when something has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Base(BTreeMap<String, String>);

impl Base {
    /// One thing, and how it stands.
    pub fn of(what: impl Into<String>, stands: impl Into<String>) -> Self {
        Self::default().with(what, stands)
    }

    /// The same with another thing.
    #[must_use]
    pub fn with(mut self, what: impl Into<String>, stands: impl Into<String>) -> Self {
        self.0.insert(what.into(), stands.into());
        self
    }

    /// Whether it names nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The things, and how they stand.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(what, stands)| (what.as_str(), stands.as_str()))
    }

    /// What stands otherwise now, in words for people. Empty when all is as it was.
    pub fn changes(&self, now: &Self) -> Vec<String> {
        let gone = self.0.iter().filter_map(|(what, was)| match now.0.get(what) {
            Some(is) if is == was => None,
            Some(is) => Some(format!("{what}: {} → {}", short(was), short(is))),
            None => Some(format!("{what}: {} → nothing", short(was))),
        });
        let come = now.0.iter().filter(|(what, _)| !self.0.contains_key(*what));
        gone.chain(come.map(|(what, is)| format!("{what}: nothing → {}", short(is)))).collect()
    }
}

/// A value in one line.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return "nothing".to_owned();
    }
    if line.chars().count() <= SHORT {
        return line;
    }
    let cut: String = line.chars().take(SHORT).collect();
    format!("{cut}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_is_said_thing_by_thing() {
        let check = |was: &[(&str, &str)], now: &[(&str, &str)], expect: &[&str]| {
            let base = |all: &[(&str, &str)]| {
                all.iter().fold(Base::default(), |base, (what, stands)| base.with(*what, *stands))
            };
            assert_eq!(base(was).changes(&base(now)), expect, "{was:?} {now:?}");
        };
        check(&[], &[], &[]);
        check(&[("a", "1")], &[("a", "1")], &[]);
        check(&[("a", "1"), ("b", "x")], &[("a", "2"), ("b", "x")], &["a: 1 → 2"]);
        check(&[("a", "1")], &[], &["a: 1 → nothing"]);
        check(&[], &[("a", "1")], &["a: nothing → 1"]);
        check(&[("a", "")], &[("a", "two\n rows")], &["a: nothing → two rows"]);
    }
}
