//! References to other artifacts of the project.

use super::Rule;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[];
