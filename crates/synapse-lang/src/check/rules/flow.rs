//! What runs, what never runs, and what is gone afterwards.

use super::Rule;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[];
