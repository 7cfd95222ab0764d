//! Data services, data sources, unit tests and mock services.

mod mocks;
mod queries;
mod references;
mod sources;
mod statements;
mod support;
mod tests_of_artifacts;

use super::Rule;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[
    &references::References,
    &queries::Queries,
    &statements::Statements,
    &sources::Sources,
    &tests_of_artifacts::Tests,
    &support::Support,
    &mocks::Mocks,
];
