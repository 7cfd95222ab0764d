//! What the model says about elements: required, closed sets, numbers, versions.

use super::Rule;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[];
