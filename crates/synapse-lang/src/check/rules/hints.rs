//! Newer and better forms.

use super::Rule;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[];
