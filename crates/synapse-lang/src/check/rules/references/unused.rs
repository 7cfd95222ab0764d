//! Artifacts that nothing names.

use crate::check::{Findings, Rule, Subject};
use crate::model::RefKind;
use crate::project::Definition;

use super::{is_deployed, word};

const UNUSED: u16 = 909;

/// Sequences, endpoints, templates and local entries that nobody uses.
pub(super) struct Unused;

impl Rule for Unused {
    fn codes(&self) -> &'static [u16] {
        &[UNUSED]
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let (Some(project), Some(path)) = (subject.project.filter(|one| one.is_closed()), subject.path)
        else {
            return;
        };
        let Some(file) = project.file(path).filter(|_| is_deployed(subject)) else { return };
        for one in file.definitions() {
            let Some(named_by) = named_by(one) else { continue };
            let named = named_by.iter().any(|kind| {
                project.names_by_expression(*kind) || project.references(*kind, &one.name).next().is_some()
            });
            // Code and queries name things in ways of their own.
            let mentioned = || {
                project
                    .files()
                    .any(|(other, file)| other != path && file.document().source().contains(&one.name))
            };
            if !named && !mentioned() {
                let message = format!("Nothing in this project uses the {} {}", word(one.kind), one.name);
                findings.report(UNUSED, one.name_span, message);
            }
        }
    }
}

/// The kinds of references that lead to a definition; nothing for what is used from outside.
fn named_by(one: &Definition) -> Option<&'static [RefKind]> {
    match one.kind {
        RefKind::Sequence if one.name == "main" || one.name == "fault" => None,
        RefKind::Sequence => Some(&[RefKind::Sequence]),
        RefKind::Endpoint => Some(&[RefKind::Endpoint]),
        RefKind::Template => Some(&[RefKind::Template]),
        RefKind::EndpointTemplate => Some(&[RefKind::EndpointTemplate]),
        RefKind::LocalEntry | RefKind::Connection => {
            Some(&[RefKind::LocalEntry, RefKind::Resource, RefKind::Connection])
        }
        _ => None,
    }
}
