//! The document itself: well-formed, in the namespace, of a known kind.

use super::Rule;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[];
