//! Payload templates, their arguments and what they make.

use super::Rule;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[];
