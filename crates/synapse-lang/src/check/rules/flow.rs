//! What runs, what never runs, and who gets an answer.

mod answers;
mod cache;
mod foreach;
mod implicit;
mod loopback;
mod units;
mod unreachable;

use super::Rule;
use crate::syntax::Element;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[
    &unreachable::Unreachable,
    &implicit::Implicit,
    &answers::Answers,
    &loopback::Loopback,
    &foreach::OlderForeach,
    &units::Units,
    &cache::Cache,
];

/// The name of a step beside or below an element, with the prefix that is in use there.
pub(in crate::check) fn named_like(element: Element<'_>, local: &str) -> String {
    element.prefix().map_or_else(|| local.to_owned(), |prefix| format!("{prefix}:{local}"))
}

#[cfg(test)]
mod tests;
