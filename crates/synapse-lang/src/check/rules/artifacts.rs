//! What holds for one kind of artifact: APIs, proxies, endpoints, tasks, inbound endpoints, stores, processors.

use super::Rule;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[];
