//! What somebody may do, and what is left when one acts for another.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What somebody may do. Rights are names that the product chooses, such as `records.write`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rights {
    /// Everything: the product asks nobody.
    All,
    /// These, and nothing else.
    These(BTreeSet<String>),
}

impl Rights {
    /// No right at all.
    pub fn none() -> Self {
        Self::These(BTreeSet::new())
    }

    /// Some rights.
    pub fn of<'a>(rights: impl IntoIterator<Item = &'a str>) -> Self {
        Self::These(rights.into_iter().map(str::to_owned).collect())
    }

    /// Whether something may be done.
    pub fn allow(&self, right: &str) -> bool {
        match self {
            Self::All => true,
            Self::These(rights) => rights.contains(right),
        }
    }

    /// What both may do: an agent has the rights of its policy, as far as whoever it acts for has them, too.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::All, rights) | (rights, Self::All) => rights.clone(),
            (Self::These(one), Self::These(two)) => Self::These(one.intersection(two).cloned().collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_who_acts_for_another_has_what_both_have() {
        let agent = Rights::of(["records.read", "records.write"]);
        let person = Rights::of(["records.read", "mail.send"]);
        assert_eq!(agent.and(&person), Rights::of(["records.read"]));
        assert_eq!(agent.and(&Rights::All), agent);
        assert_eq!(Rights::All.and(&person), person);
        assert_eq!(agent.and(&Rights::none()), Rights::none());
        assert!(Rights::All.allow("anything") && !person.allow("records.write"));
    }
}
