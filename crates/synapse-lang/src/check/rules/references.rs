//! What the files of a project say about each other.

mod classes;
mod configs;
mod connectors;
mod cycles;
mod data_sources;
mod descriptors;
mod duplicates;
mod missing;
mod pom;
mod templates;
mod unused;

use super::Rule;
use crate::check::Subject;
use crate::diagnostic::Severity;
use crate::model::RefKind;
use crate::project::Project;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[
    &missing::Missing,
    &templates::Templates,
    &duplicates::Duplicates,
    &cycles::Cycles,
    &unused::Unused,
    &classes::Classes,
    &configs::Configs,
    &connectors::Connectors,
    &descriptors::Descriptors,
    &pom::Pom,
    &data_sources::DataSources,
];

/// How bad it is when something is not in the project: certain in a whole one, likely in any other.
fn certainty(project: &Project) -> Severity {
    if project.is_closed() { Severity::Error } else { Severity::Warning }
}

/// Whether a document is deployed, rather than a test or a description of something.
fn is_deployed(subject: &Subject<'_>) -> bool {
    let file = subject.tree.root().and_then(|root| root.definition).and_then(|one| one.file.as_ref());
    file.is_some_and(|file| file.deployed) && subject.path.is_none_or(|path| !path.starts_with("src/test/"))
}

/// What a kind is called.
const fn word(kind: RefKind) -> &'static str {
    match kind {
        RefKind::Sequence => "sequence",
        RefKind::Endpoint => "endpoint",
        RefKind::Template => "sequence template",
        RefKind::EndpointTemplate => "endpoint template",
        RefKind::LocalEntry => "local entry",
        RefKind::Resource => "resource",
        RefKind::Connection => "connection",
        RefKind::MessageStore => "message store",
        RefKind::Proxy => "proxy",
        RefKind::Api => "API",
        RefKind::DataService => "data service",
        RefKind::InboundEndpoint => "inbound endpoint",
        RefKind::Class => "class",
        RefKind::Variable => "variable",
        RefKind::Property => "property",
        RefKind::File => "file",
    }
}

#[cfg(test)]
mod tests;
