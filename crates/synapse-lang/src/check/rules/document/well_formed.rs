//! A document that is not XML does not deploy.

use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::Severity;
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
            // Deployers skip blanks before the declaration, other readers do not.
            if matches!(problem.kind, ProblemKind::MisplacedDeclaration) {
                finding.severity(Severity::Warning);
            }
        }
    }
}
