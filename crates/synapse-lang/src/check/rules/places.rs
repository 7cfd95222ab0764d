//! Dynamic values in a form that their place does not evaluate.

use super::Rule;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[];
