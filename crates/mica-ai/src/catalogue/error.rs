//! What can be wrong with model facts, and with a model's name.

use std::fmt;

use super::check::Fault;

/// A line of a configuration text. Zero when the fault is not in the text at hand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// Counted from one.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 { f.write_str("built in") } else { write!(f, "line {}", self.line) }
    }
}

/// Why model facts cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueError {
    /// It is not TOML.
    #[error("{place}: not TOML: {problem}")]
    Syntax {
        /// Where.
        place: Place,
        /// What the parser says.
        problem: String,
    },
    /// There is no such field.
    #[error("{place}: {owner} has no field {field:?}; use one of {}", .known.join(", "))]
    UnknownField {
        /// The model or family, as the text names it.
        owner: String,
        /// The field.
        field: String,
        /// Where.
        place: Place,
        /// The fields there are.
        known: Vec<&'static str>,
    },
    /// A value has the wrong kind or is out of range.
    #[error("{place}: {owner}: {field}: {problem}")]
    BadValue {
        /// The model or family, as the text names it.
        owner: String,
        /// The field.
        field: String,
        /// Where.
        place: Place,
        /// What is wrong.
        problem: String,
    },
    /// The facts of a model contradict each other.
    #[error("{place}: model {model:?}: {fault}")]
    BadFacts {
        /// The model.
        model: String,
        /// What is wrong.
        fault: Fault,
        /// Where its entry begins.
        place: Place,
    },
    /// A new model lacks a fact that nothing can stand in for.
    #[error("{place}: model {model:?} needs {field}: set it, or name a family that has it")]
    MissingField {
        /// The model.
        model: String,
        /// The field.
        field: &'static str,
        /// Where its entry begins.
        place: Place,
    },
    /// A model names a family that is not there.
    #[error("{place}: model {model:?}: there is no family {family:?}; use one of {}", .known.join(", "))]
    UnknownFamily {
        /// The model.
        model: String,
        /// The family.
        family: String,
        /// Where its entry begins.
        place: Place,
        /// The families there are.
        known: Vec<String>,
    },
    /// Two models would answer to one name.
    #[error("{place}: {name:?} names both {model:?} and {other:?}: drop it from one of them")]
    SameName {
        /// The name.
        name: String,
        /// The one.
        model: String,
        /// The other.
        other: String,
        /// Where the entry of `model` begins.
        place: Place,
    },
}

/// A name that no model is known by.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown model {name:?}{}: add it as [model.\"{name}\"] to the configuration, or map a known model to this deployment", alike_text(.alike))]
pub struct UnknownModel {
    /// The name that was asked for.
    pub name: String,
    /// Known ids that look alike.
    pub alike: Vec<String>,
}

fn alike_text(alike: &[String]) -> String {
    if alike.is_empty() { String::new() } else { format!(" (known: {} …)", alike.join(", ")) }
}
