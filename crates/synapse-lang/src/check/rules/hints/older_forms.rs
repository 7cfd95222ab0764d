//! Values that an expression reads as well: `json-eval()`, `$ctx:x`, `get-property('x')`, and the old encoding.

use crate::check::value::{Holder, Reading, Value};
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::model::{Place, ValueType, Version};

use super::convert;

const EXPRESSION: u16 = 1207;
const ENCODING: u16 = 1208;

/// Older forms where an expression works too.
pub(super) struct OlderForms;

impl Rule for OlderForms {
    fn codes(&self) -> &'static [u16] {
        &[EXPRESSION, ENCODING]
    }

    fn value(&self, subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        if subject.runtime < Version::EXPRESSIONS {
            return;
        }
        if *value.kind == ValueType::UriTemplate && value.text().starts_with("legacy-encoding:") {
            let message = "legacy-encoding: keeps how old versions encoded variables; {+uri.var.x} inserts one unencoded";
            findings.report(ENCODING, value.source_span(0.."legacy-encoding:".len()), message);
            return;
        }
        // Where expressions are taken and then do not work, the older form is the right one.
        let judged = value.place == Place::Path
            && value.refuses.is_none()
            && matches!(value.holder, Holder::Attribute(..));
        if !judged || value.placed.id().starts_with("unit-test") || matches!(value.placed.id(), "validate") {
            return;
        }
        if !matches!(value.reading, Reading::XPath(_) | Reading::JsonPath(_)) {
            return;
        }
        if value.text().trim_start().starts_with("${") {
            return; // An expression already, with a blank beside it.
        }
        let Some(expression) = convert::expression(value.text(), subject.model) else { return };
        let message = format!("${{{expression}}} reads the same, with its type");
        let edit = Edit::replace(value.span(), value.written(&format!("${{{expression}}}")));
        let fix = Fix::review("Make it an expression", vec![edit]);
        findings.report(EXPRESSION, value.span(), message).fix(fix);
    }
}
