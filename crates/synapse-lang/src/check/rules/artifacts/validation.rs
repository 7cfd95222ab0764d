//! Validation of JSON: the last schema counts.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::syntax::Element;

const SCHEMAS: u16 = 826;

/// More than one schema for JSON.
pub(super) struct Validation;

impl Rule for Validation {
    fn codes(&self) -> &'static [u16] {
        &[SCHEMAS]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["validate"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        if !placed.is_mediator("validate") {
            return;
        }
        let schemas: Vec<Element<'_>> =
            placed.element.elements().filter(|one| one.local() == "schema").collect();
        let is_json = |one: &Element<'_>| one.value("key").is_some_and(|key| key.trim().ends_with(".json"));
        let source = placed.element.value("source").unwrap_or_default();
        let json = source.starts_with("json-eval(") || schemas.iter().all(is_json);
        if let ([first, .., _], true) = (schemas.as_slice(), json) {
            let message = "Of several schemas for JSON only the last is used";
            findings.report(SCHEMAS, first.name_span(), message);
        }
    }
}
