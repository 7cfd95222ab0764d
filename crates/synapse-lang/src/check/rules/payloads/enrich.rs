//! What enrich cannot replace.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};

const ROOT: u16 = 715;

/// The root of JSON as a selected place.
pub(super) struct Enrich;

impl Rule for Enrich {
    fn codes(&self) -> &'static [u16] {
        &[ROOT]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["target"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let element = placed.element;
        if placed.id() != "enrich.target" {
            return;
        }
        let custom = element.value("type").is_none_or(|kind| kind == "custom");
        let replaces = element.value("action").is_none_or(|action| action == "replace");
        let Some(path) = element.attribute("xpath").filter(|_| custom && replaces) else { return };
        let root = path
            .value()
            .strip_prefix("json-eval(")
            .is_some_and(|rest| matches!(rest.trim_end_matches(')').trim(), "$" | "$."));
        if !root {
            return;
        }
        let message = "The root of JSON is replaced with type=\"body\", not by a path";
        let kind = match element.attribute("type") {
            Some(kind) => Edit::replace(kind.value_span(), "body"),
            None => Edit::insert(element.attributes_end(), " type=\"body\""),
        };
        let fix = Fix::review("Replace the body", vec![kind, Edit::remove(path.span_with_space())]);
        findings.report(ROOT, path.value_span(), message).fix(fix);
    }
}
