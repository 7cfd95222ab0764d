//! Operations of connectors that the project does not depend on.

use std::collections::HashSet;

use crate::check::walk::Role;
use crate::check::{Findings, Rule, Subject};
use crate::project::Project;

const CONNECTOR: u16 = 912;

/// Operations without their connector.
pub(super) struct Connectors;

impl Rule for Connectors {
    fn codes(&self) -> &'static [u16] {
        &[CONNECTOR]
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let Some(project) = subject.project.filter(|one| one.is_closed()) else { return };
        let mut told = HashSet::new();
        for placed in subject.tree.placed().iter().filter(|one| one.role == Role::Operation) {
            let element = placed.element;
            let Some((prefix, _)) = element.local().split_once('.') else { continue };
            // One connector is missed once, however many of its operations are used.
            let known = has_connector(project, prefix) || subject.model.mediator(prefix).is_some();
            if known || !told.insert(prefix) {
                continue;
            }
            let message = format!(
                "<{}> is an operation of a connector that pom.xml does not list; \
                 without it the artifact does not deploy",
                element.name()
            );
            findings.report(CONNECTOR, element.name_span(), message);
        }
    }
}

/// Whether the project has a connector that may be called so. The names of connectors and the prefixes of their
/// operations are alike, not equal: `kafkaTransport` comes with `mi-connector-kafka`.
fn has_connector(project: &Project, prefix: &str) -> bool {
    let prefix = prefix.to_lowercase();
    let start = prefix.get(..3).unwrap_or(&prefix);
    let listed = project.poms().flat_map(|(_, facts)| &facts.connectors).map(|one| one.artifact.as_str());
    let files = project.other_files().filter(|path| path.ends_with(".zip"));
    let files = files.map(|path| path.rsplit('/').next().unwrap_or(path));
    listed.chain(files).any(|name| name.to_lowercase().contains(start))
}
