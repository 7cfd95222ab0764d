//! Data services, data sources, unit tests and mock services.

use super::Rule;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[];
