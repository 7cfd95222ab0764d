//! Rules between the attributes and children of one element.

use serde::Deserialize;

use super::condition::{Condition, Node, Thing};
use super::element::Element;
use crate::diagnostic::Class;

/// What must hold between the attributes and children of an element.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule", deny_unknown_fields)]
pub enum Rule {
    /// At least `min` and at most `max` of some things.
    OneOf {
        /// The things.
        of: Vec<Thing>,
        /// How many there must be.
        #[serde(default = "one")]
        min: u16,
        /// How many there may be; no limit when absent.
        #[serde(default)]
        max: Option<u16>,
        /// What too few do.
        #[serde(default = "deploy")]
        missing: Class,
        /// What too many do.
        #[serde(default = "ignored")]
        extra: Class,
        /// The one that counts when there are too many; the first of `of` that is there when absent.
        #[serde(default)]
        winner: Option<Thing>,
        /// When it applies; always when absent.
        #[serde(default)]
        when: Option<Condition>,
        /// What to tell people.
        message: String,
    },
    /// Something must be there.
    Required {
        /// The thing.
        what: Thing,
        /// When.
        when: Condition,
        /// What its absence does.
        #[serde(default = "deploy")]
        class: Class,
        /// What to tell people.
        message: String,
    },
    /// Something must not be there, or must not be there then.
    Forbidden {
        /// The thing.
        what: Thing,
        /// When.
        #[serde(default)]
        when: Option<Condition>,
        /// What its presence does.
        #[serde(default = "deploy")]
        class: Class,
        /// What to tell people.
        message: String,
    },
    /// Something is not read.
    Ignored {
        /// The thing.
        what: Thing,
        /// When.
        when: Condition,
        /// What to tell people.
        message: String,
    },
    /// A combination that is wrong as such.
    Never {
        /// The combination.
        when: Condition,
        /// What it does.
        #[serde(default = "deploy")]
        class: Class,
        /// What to tell people.
        message: String,
    },
    /// Children of one name must differ in an attribute.
    Distinct {
        /// The local name of the children.
        child: String,
        /// The attribute they must differ in; an absent one counts as a value when `absent` says so.
        by: String,
        /// Whether two children without the attribute are a duplicate too.
        #[serde(default)]
        absent: bool,
        /// What a duplicate does.
        class: Class,
        /// What to tell people.
        message: String,
    },
}

impl Rule {
    /// What the rule tells people.
    #[must_use]
    pub fn message(&self) -> &str {
        match self {
            Self::OneOf { message, .. }
            | Self::Required { message, .. }
            | Self::Forbidden { message, .. }
            | Self::Ignored { message, .. }
            | Self::Never { message, .. }
            | Self::Distinct { message, .. } => message,
        }
    }

    /// How an element breaks the rule, if it does.
    pub fn broken(&self, node: &impl Node, element: &Element) -> Option<Broken<'_>> {
        let holds = |when: &Condition| when.holds(node, element);
        let broken =
            |class: Class, what: Option<Thing>| Some(Broken { class, what, message: self.message() });
        match self {
            Self::OneOf { of, min, max, missing, extra, winner, when, .. } => {
                if when.as_ref().is_some_and(|when| !holds(when)) {
                    return None;
                }
                let there: Vec<&Thing> = of.iter().filter(|thing| thing.is_in(node, element)).collect();
                if there.len() < usize::from(*min) {
                    return broken(*missing, None);
                }
                if max.is_none_or(|max| there.len() <= usize::from(max)) {
                    return None;
                }
                let winner = winner.as_ref().filter(|one| there.contains(one)).or(there.first().copied());
                let loser = there.iter().find(|one| Some(**one) != winner);
                broken(*extra, loser.map(|one| (*one).clone()))
            }
            Self::Required { what, when, class, .. } if holds(when) && !what.is_in(node, element) => {
                broken(*class, None)
            }
            Self::Forbidden { what, when, class, .. }
                if what.is_in(node, element) && when.as_ref().is_none_or(holds) =>
            {
                broken(*class, Some(what.clone()))
            }
            Self::Ignored { what, when, .. } if what.is_in(node, element) && holds(when) => {
                broken(Class::Ignored, Some(what.clone()))
            }
            Self::Never { when, class, .. } if holds(when) => broken(*class, None),
            Self::Distinct { child, by, absent, class, .. } => {
                let mut values = node.child_values(child, by);
                values.retain(|value| *absent || value.is_some());
                values.sort_unstable();
                let twice = values.iter().zip(values.iter().skip(1)).any(|(one, next)| one == next);
                if twice { broken(*class, Some(Thing::Child(child.clone()))) } else { None }
            }
            Self::Required { .. } | Self::Forbidden { .. } | Self::Ignored { .. } | Self::Never { .. } => {
                None
            }
        }
    }

    /// Calls `visit` with every thing the rule names.
    pub fn things(&self, visit: &mut impl FnMut(&Thing)) {
        match self {
            Self::OneOf { of, winner, when, .. } => {
                of.iter().chain(winner).for_each(&mut *visit);
                if let Some(when) = when {
                    when.things(visit);
                }
            }
            Self::Required { what, when, .. } | Self::Ignored { what, when, .. } => {
                visit(what);
                when.things(visit);
            }
            Self::Forbidden { what, when, .. } => {
                visit(what);
                if let Some(when) = when {
                    when.things(visit);
                }
            }
            Self::Never { when, .. } => when.things(visit),
            Self::Distinct { child, .. } => visit(&Thing::Child(child.clone())),
        }
    }
}

/// How an element breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken<'a> {
    /// What the runtime makes of it.
    pub class: Class,
    /// What is too much; `None` when something is missing or the combination as such is wrong.
    pub what: Option<Thing>,
    /// What to tell people.
    pub message: &'a str,
}

const fn one() -> u16 {
    1
}

const fn deploy() -> Class {
    Class::Deploy
}

const fn ignored() -> Class {
    Class::Ignored
}
