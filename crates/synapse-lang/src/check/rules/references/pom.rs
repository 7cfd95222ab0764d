//! What a project says about the runtime it is for.

use crate::check::{Findings, Rule, Subject};

const RUNTIME: u16 = 915;

/// A build file that does not say which runtime.
pub(super) struct Pom;

impl Rule for Pom {
    fn codes(&self) -> &'static [u16] {
        &[RUNTIME]
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let (Some(project), Some("pom.xml")) = (subject.project, subject.path) else { return };
        let is_integration = project.has_artifacts();
        let Some(root) = subject.document.root().filter(|root| root.local() == "project" && is_integration)
        else {
            return;
        };
        if project.poms().all(|(_, facts)| facts.runtime.is_none()) {
            let message = "No runtime is named, so the newest one is taken for granted; \
                           the property project.runtime.version names it";
            findings.report(RUNTIME, root.name_span(), message);
        }
    }
}
