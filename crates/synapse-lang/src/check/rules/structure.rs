//! What the model says about elements: required, closed sets, numbers, versions.

mod attributes;
mod children;
mod combinations;
mod mediators;
mod values;
mod versions;

pub(in crate::check) use children::with_indentation;
pub(in crate::check) use values::{is_filled_in, name};

use super::Rule;
use crate::diagnostic::{Class, Severity};

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[
    &mediators::Mediators,
    &attributes::Attributes,
    &values::Values,
    &children::Children,
    &combinations::Combinations,
    &versions::Versions,
];

/// Whether a text is words of a language that people speak: a name to be filled in, as in forms and samples.
pub(in crate::check) fn is_prose(text: &str) -> bool {
    let words = text.split_whitespace().count();
    let plain = text.chars().all(|one| one.is_alphanumeric() || one.is_whitespace());
    words > 1 && plain && text.chars().any(char::is_alphabetic)
}

/// How bad it is when the runtime does that.
pub(in crate::check) const fn severity(class: Class) -> Severity {
    match class {
        Class::Deploy | Class::Fault | Class::Crash => Severity::Error,
        Class::Empty | Class::Ignored | Class::Surprise => Severity::Warning,
        Class::Style => Severity::Hint,
    }
}

/// What the runtime does, in words that follow a semicolon.
pub(in crate::check) const fn outcome(class: Class) -> &'static str {
    match class {
        Class::Deploy => "the artifact does not deploy",
        Class::Fault => "it fails when it runs",
        Class::Crash => "it fails when it runs, with an unhelpful message",
        Class::Empty => "the value becomes empty and the flow goes on",
        Class::Ignored => "the runtime does not read it",
        Class::Surprise => "it does something else than it says",
        Class::Style => "there is a better form",
    }
}
