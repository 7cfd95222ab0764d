//! Setting nothing is a no-op, and some scopes forget nothing.

use crate::check::value::{Reading, Value};
use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};

const NULL: u16 = 608;
const REMOVE: u16 = 609;

/// Values that are meant to be cleared and are not.
pub(super) struct Null;

impl Rule for Null {
    fn codes(&self) -> &'static [u16] {
        &[NULL, REMOVE]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["property"])
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let element = placed.element;
        if placed.id() != "property" || element.value("action").is_none_or(|action| action != "remove") {
            return;
        }
        let Some(scope) = element.attribute("scope") else { return };
        let name = scope.value();
        if subject.model.scope(&name).is_some_and(|known| known.settable && !known.removable) {
            let message = format!("Removing a property from scope {name} does nothing");
            findings.report(REMOVE, scope.value_span(), message);
        }
    }

    fn value(&self, _subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        let Reading::Expression(range) = &value.reading else { return };
        let sets =
            matches!(value.placed.id(), "property" | "variable") && value.attribute() == Some("expression");
        if !sets || value.text().get(range.clone()).is_none_or(|text| text.trim() != "null") {
            return;
        }
        let message = "Setting nothing changes nothing: the old value stays. action=\"remove\" clears it";
        let element = value.placed.element;
        let fix = element
            .attribute("expression")
            .map(|one| Fix::safe("Remove it instead", vec![Edit::replace(one.span(), "action=\"remove\"")]));
        let fix =
            fix.filter(|_| element.attribute("action").is_none() && element.attribute("type").is_none());
        findings.report(NULL, value.span(), message).fix_if(fix);
    }
}
