//! Better forms, for runtimes that have them. None of these is a mistake.

mod convert;
mod filters;
mod legacy;
mod logs;
mod older_forms;
mod properties;
mod splitting;

pub(super) use properties::names_after;

use super::Rule;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[
    &legacy::Legacy,
    &properties::Properties,
    &splitting::Splitting,
    &filters::Filters,
    &logs::Logs,
    &older_forms::OlderForms,
];
