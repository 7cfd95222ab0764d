//! What a tested artifact needs must come along: the framework deploys only what a test lists.

use std::collections::BTreeSet;

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::model::RefKind;
use crate::project::Project;
use crate::syntax::Element;

const MISSING: u16 = 1022;

/// Artifacts that the tested ones refer to and that the test does not list.
pub(super) struct Support;

impl Rule for Support {
    fn codes(&self) -> &'static [u16] {
        &[MISSING]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["artifacts"])
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let Some(project) = subject.project.filter(|_| placed.id() == "unit-test.artifacts") else { return };
        let artifacts = placed.element;
        let listed: BTreeSet<String> = ["test-artifact", "supportive-artifacts"]
            .into_iter()
            .filter_map(|name| artifacts.first(name))
            .flat_map(|list| list.elements().filter(|one| one.local() == "artifact"))
            .map(|one| one.text().trim().trim_start_matches('/').to_owned())
            .collect();
        let Some(tested) = artifacts.first("test-artifact").and_then(|one| one.first("artifact")) else {
            return;
        };
        for (path, name) in needed(project, &listed) {
            let message =
                format!("{name} is used and lies in {path}, which is not among the supportive artifacts");
            let fix = insertion(artifacts, &path);
            findings.report(MISSING, tested.name_span(), message).fix_if(fix);
        }
    }
}

/// The files, with what they are needed for, that listed files refer to and that are not listed.
fn needed(project: &Project, listed: &BTreeSet<String>) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for file in listed.iter().filter_map(|path| project.file(path)) {
        for reference in file.references().iter().filter(|one| is_deployed(one.kind)) {
            let mut paths: Vec<&str> = [reference.kind, RefKind::LocalEntry]
                .into_iter()
                .flat_map(|kind| project.definitions(kind, &reference.name))
                .map(|(path, _)| path)
                .collect();
            paths.dedup();
            let [path] = paths.as_slice() else { continue }; // Nowhere, or who knows which.
            if !listed.contains(*path) && !found.iter().any(|(one, _)| one == path) {
                found.push(((*path).to_owned(), reference.name.clone()));
            }
        }
    }
    found
}

const fn is_deployed(kind: RefKind) -> bool {
    matches!(
        kind,
        RefKind::Sequence
            | RefKind::Endpoint
            | RefKind::Template
            | RefKind::EndpointTemplate
            | RefKind::LocalEntry
            | RefKind::Connection
            | RefKind::MessageStore
    )
}

/// Lists one more file, in the form of those that are there.
fn insertion(artifacts: Element<'_>, path: &str) -> Option<Fix> {
    let entry = format!("<artifact>{}</artifact>", crate::syntax::escape_text(path));
    let edit = match artifacts.first("supportive-artifacts") {
        Some(list) if list.is_self_closing() => {
            Edit::replace(list.span(), format!("<supportive-artifacts>{entry}</supportive-artifacts>"))
        }
        Some(list) => Edit::insert(list.content_span()?.start, entry),
        None => Edit::insert(
            artifacts.first("test-artifact")?.span().end,
            format!("<supportive-artifacts>{entry}</supportive-artifacts>"),
        ),
    };
    Some(Fix::review("List it", vec![edit]))
}
