//! Where the result of an operation goes.

use crate::check::walk::{Placed, Role};
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::model::Version;

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
        if placed.role != Role::Parameter {
            return;
        }
        let element = placed.element;
        let Some(operation) = subject.tree.parent(placed).filter(|one| one.role == Role::Operation) else {
            return;
        };
        if subject.runtime < Version::EXPRESSIONS {
            let message =
                format!("<{}> is not read before 4.4.0: the result becomes the body", element.local());
            let fix = Fix::review("Remove it", vec![Edit::remove(with_indentation(subject, element))]);
            findings.report(VERSION, element.name_span(), message).fix(fix);
            return;
        }
        let overwrites =
            operation.element.first("overwriteBody").is_some_and(|one| one.text().trim() == "true");
        let name = element.text().trim().to_owned();
        if element.local() != "responseVariable" || !overwrites || name.is_empty() {
            return;
        }
        // The editor writes both; only who reads the variable is mistaken.
        if reads(subject.document.source(), &name) {
            let message = format!(
                "With overwriteBody the result becomes the body and vars.{name}, which is read here, is not set"
            );
            findings.report(OVERWRITTEN, element.name_span(), message);
        }
    }
}

/// Whether `vars.name` stands in a text.
fn reads(source: &str, name: &str) -> bool {
    let form = format!("vars.{name}");
    source.match_indices(&form).any(|(at, _)| {
        let after = source.get(at + form.len()..).and_then(|rest| rest.chars().next());
        !after.is_some_and(|one| one.is_alphanumeric() || one == '_' || one == '-')
    })
}
