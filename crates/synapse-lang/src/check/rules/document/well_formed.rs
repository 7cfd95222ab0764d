//! A document that is not XML does not deploy.

use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Class, Severity};
use crate::syntax::ProblemKind;

/// Reports every mistake of the syntax, with the repair that the parser knows.
pub(super) struct WellFormed;

impl Rule for WellFormed {
    fn codes(&self) -> &'static [u16] {
        &[1]
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        for problem in subject.document.problems() {
            let finding = findings.report(1, problem.span, problem.to_string()).fix_if(problem.fix.clone());
            // Artifacts with blanks before the declaration are in use; whether one deploys depends on who reads it.
            if matches!(problem.kind, ProblemKind::MisplacedDeclaration { after_blanks: true }) {
                finding.severity(Severity::Warning).class(Class::Style);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, Severity};
    use crate::check::{Setting, check};
    use crate::syntax::Document;

    #[test]
    fn only_blanks_may_stand_before_a_declaration() {
        let artifact =
            "<?xml version=\"1.0\"?><sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"a\"/>";
        for (before, expected) in [
            ("", None),
            ("\u{feff}", None),
            (" \n", Some((Severity::Warning, Class::Style))),
            ("<!-- first -->", Some((Severity::Error, Class::Deploy))),
            ("<!-- first -->\n", Some((Severity::Error, Class::Deploy))),
        ] {
            let found = check(&Document::parse(format!("{before}{artifact}")), Setting::default());
            let said = found.iter().find(|one| one.code.0 == 1).map(|one| (one.severity, one.class));
            assert_eq!(said, expected, "{before:?}");
        }
    }
}
