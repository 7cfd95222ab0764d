//! Properties, scopes, headers and variables.

mod headers;
mod literals;
mod null;
mod uri_variables;
mod well_known;

use super::Rule;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[
    &well_known::WellKnown,
    &headers::Headers,
    &literals::Literals,
    &uri_variables::UriVariables,
    &null::Null,
];
