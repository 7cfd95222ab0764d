//! Two artifacts of one name, and two APIs under one path.

use crate::check::walk::Role;
use crate::check::{Findings, Rule, Subject};
use crate::model::RefKind;
use crate::project::Project;

use super::{certainty, is_deployed, word};

const NAME: u16 = 906;
const CONTEXT: u16 = 907;

/// What only one artifact can have.
pub(super) struct Duplicates;

impl Rule for Duplicates {
    fn codes(&self) -> &'static [u16] {
        &[NAME, CONTEXT]
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let (Some(project), Some(path)) = (subject.project.filter(|_| is_deployed(subject)), subject.path)
        else {
            return;
        };
        let Some(file) = project.file(path) else { return };
        if !subject.tree.root().is_some_and(|root| root.role == Role::Artifact) {
            return;
        }
        for one in file.definitions() {
            let others = kinds(one.kind).iter().flat_map(|kind| project.definitions(*kind, &one.name));
            let mut others = others.filter(|(other, definition)| {
                !other.starts_with("src/test/") && (*other != path || definition.name_span != one.name_span)
            });
            if let Some((other, _)) = others.next() {
                let message = format!(
                    "{other} has a {} {} too; the second one does not deploy",
                    word(one.kind),
                    one.name
                );
                findings.report(NAME, one.name_span, message).severity(certainty(project));
            }
            if let Some(context) = &one.context {
                contexts(project, path, context, one.name_span, findings);
            }
        }
    }
}

/// The kinds that share their names with a kind.
const fn kinds(kind: RefKind) -> &'static [RefKind] {
    match kind {
        RefKind::LocalEntry | RefKind::Connection => &[RefKind::LocalEntry, RefKind::Connection],
        RefKind::Template | RefKind::EndpointTemplate => &[RefKind::Template, RefKind::EndpointTemplate],
        RefKind::Sequence => &[RefKind::Sequence],
        RefKind::Endpoint => &[RefKind::Endpoint],
        RefKind::Api => &[RefKind::Api],
        RefKind::Proxy => &[RefKind::Proxy],
        RefKind::DataService => &[RefKind::DataService],
        RefKind::InboundEndpoint => &[RefKind::InboundEndpoint],
        RefKind::MessageStore => &[RefKind::MessageStore],
        _ => &[],
    }
}

fn contexts(project: &Project, path: &str, context: &str, span: crate::text::Span, findings: &mut Findings) {
    let mut others =
        project.contexts(context).filter(|other| *other != path && !other.starts_with("src/test/"));
    if let Some(other) = others.next() {
        let message =
            format!("The API of {other} has the context {context} too; the second one does not deploy");
        findings.report(CONTEXT, span, message).severity(certainty(project));
    }
}
