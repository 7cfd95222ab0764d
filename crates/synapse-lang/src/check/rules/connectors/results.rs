//! Where the result of an operation goes.

use crate::check::walk::{Placed, Role};
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::model::Version;

use super::super::hints::names_after;
use super::super::structure::with_indentation;

const VERSION: u16 = 1105;
const OVERWRITTEN: u16 = 1106;

/// Results that go elsewhere.
pub(super) struct Results;

impl Rule for Results {
    fn codes(&self) -> &'static [u16] {
        &[VERSION, OVERWRITTEN]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["responseVariable", "overwriteBody"])
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let element = placed.element;
        let of_operation = subject.tree.parent(placed).is_some_and(|one| one.role == Role::Operation);
        if placed.role == Role::Parameter && of_operation && subject.runtime < Version::EXPRESSIONS {
            let message =
                format!("<{}> is not read before 4.4.0: the result becomes the body", element.local());
            let fix = Fix::review("Remove it", vec![Edit::remove(with_indentation(subject, element))]);
            findings.report(VERSION, element.name_span(), message).fix(fix);
        }
    }

    fn is_local(&self) -> bool {
        true
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        if subject.runtime < Version::EXPRESSIONS {
            return;
        }
        // The editor writes both parameters; only who reads the variable is mistaken.
        let mut read = None;
        for placed in subject.tree.placed().iter().filter(|one| one.role == Role::Operation) {
            let Some(variable) = placed.element.first("responseVariable") else { continue };
            let overwrites =
                placed.element.first("overwriteBody").is_some_and(|one| one.text().trim() == "true");
            let name = variable.text().trim().to_owned();
            if !overwrites || name.is_empty() {
                continue;
            }
            let read = read.get_or_insert_with(|| names_after(subject.document.source(), &["vars."]));
            if read.contains(name.as_str()) {
                let message = format!(
                    "With overwriteBody the result becomes the body and vars.{name}, which is read here, is not set"
                );
                findings.report(OVERWRITTEN, variable.name_span(), message);
            }
        }
    }
}
