//! Places that take XPath only.

use crate::check::value::{Reading, Value};
use crate::check::{Findings, Rule, Subject};
use crate::model::Place;

use super::super::structure::name;

const XPATH_ONLY: u16 = 207;

/// `${…}` where only XPath or `json-eval()` compiles.
pub(super) struct Queries;

impl Rule for Queries {
    fn codes(&self) -> &'static [u16] {
        &[XPATH_ONLY]
    }

    fn value(&self, _subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        let Reading::XPath(range) = &value.reading else { return };
        let takes = match value.place {
            Place::XPath => "XPath",
            Place::Query => "XPath or json-eval()",
            _ => return,
        };
        let text = value.text().get(range.clone()).unwrap_or_default().trim();
        if !(text.starts_with("${") || text.starts_with("{${")) {
            return;
        }
        let instead = match value.placed.id() {
            "payloadFactory.args.arg" | "payloadFactory.arg" => "; write ${…} into the format itself",
            "call.source" => "; put the value into the body or a property first",
            _ => "; put the value into a property and read that with get-property()",
        };
        let message =
            format!("{} takes {takes}, not a Synapse expression, and does not compile{instead}", name(value));
        findings.report(XPATH_ONLY, value.source_span(range.clone()), message);
    }
}
