//! What is known about the surroundings of an expression. Everything is optional; what is unknown stays silent.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::kind::Kind;
use super::shape::Shape;
use crate::expr::ast::Place;

/// What a variable holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// Its kind.
    pub kind: Kind,
    /// What lies behind a path into it.
    pub shape: Shape,
}

impl Known {
    /// A variable of a kind, into which paths lead nowhere known.
    #[must_use]
    pub const fn of(kind: Kind) -> Self {
        Self { kind, shape: Shape::Any }
    }
}

/// Whether the flow runs in a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InTemplate {
    /// Nobody said.
    #[default]
    Unknown,
    /// It does.
    Yes,
    /// It does not, and cannot be called by one that does.
    No,
}

/// What is made of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wanted {
    /// Nobody said.
    #[default]
    Unknown,
    /// A text.
    Text,
    /// The value itself: an untyped variable, the collection of a loop.
    Object,
}

/// The surroundings of an expression.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Env {
    /// Variables and what they hold.
    pub variables: BTreeMap<String, Known>,
    /// Whether there are no other variables.
    pub all_variables: bool,
    /// What the body looks like.
    pub payload: Shape,
    /// Headers, properties, parameters and configurations with a known kind.
    pub texts: HashMap<(Place, String), Kind>,
    /// Whether there are no other headers, properties, parameters and configurations.
    pub all_texts: bool,
    /// The parameters of the resource's path.
    pub path_parameters: Option<BTreeSet<String>>,
    /// The parameters of the template that the expression stands in.
    pub template_parameters: Option<BTreeSet<String>>,
    /// Whether it stands in a template.
    pub in_template: InTemplate,
    /// What is made of the result.
    pub wanted: Wanted,
}
