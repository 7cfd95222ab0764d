//! XPath and JSONPath where only the object of a Synapse expression is of use.

use crate::check::value::{Reading, Value};
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Class, Edit, Fix, Severity};

const VARIABLE: u16 = 218;
const COLLECTION: u16 = 221;
const VALIDATE: u16 = 222;

/// Variables without a type, collections, and the source of validate.
pub(super) struct Untyped;

impl Rule for Untyped {
    fn codes(&self) -> &'static [u16] {
        &[VARIABLE, COLLECTION, VALIDATE]
    }

    fn value(&self, _subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        let element = value.placed.element;
        let query = matches!(value.reading, Reading::XPath(_) | Reading::JsonPath(_));
        let named = |id: &str, attribute: &str| value.is(id, attribute);
        if query && named("variable", "expression") {
            if super::is_expression(value.text().trim().trim_start_matches('$'))
                || value.text().contains("${")
            {
                return; // That has a finding of its own.
            }
            let typed = element.value("type");
            let is_text = typed.as_deref().is_none_or(|kind| kind == "STRING" || kind == "XML");
            if typed.is_some() && is_text {
                return;
            }
            let insert = Edit::insert(element.attributes_end(), " type=\"STRING\"");
            if typed.is_none() {
                let message =
                    "XPath and json-eval() give a variable without a type nothing, so it is not set at all";
                findings
                    .report(VARIABLE, value.span(), message)
                    .fix(Fix::review("Add type=\"STRING\"", vec![insert]));
            } else {
                let message =
                    "XPath and json-eval() give text, which does not become this type; it fails when it runs";
                findings
                    .report(VARIABLE, value.span(), message)
                    .class(Class::Fault)
                    .severity(Severity::Error);
            }
        } else if query && value.attribute() == Some("collection") && element.local() == "foreach" {
            // An empty collection counts as absent: that is the older form, with an expression.
            if value.text().trim().is_empty()
                || super::is_expression(value.text().trim().trim_start_matches('$'))
                || value.text().contains("${")
            {
                return;
            }
            let message =
                "A collection must be the array of a Synapse expression; XPath and json-eval() give none";
            let path = json_path(value).map(|path| {
                let edit = Edit::replace(value.span(), value.written(&format!("${{{path}}}")));
                Fix::review("Make it an expression", vec![edit])
            });
            findings.report(COLLECTION, value.span(), message).fix_if(path);
        } else if matches!(value.reading, Reading::Expression(_)) && named("validate", "source") {
            let message = "With an XML body this source is ignored and the whole body is validated; \
                           an XPath is needed there";
            findings.report(VALIDATE, value.span(), message);
        }
    }
}

/// `json-eval($.a.b)` as the expression `payload.a.b`.
fn json_path(value: &Value<'_>) -> Option<String> {
    let Reading::JsonPath(range) = &value.reading else { return None };
    let path = value.text().get(range.clone())?.trim().strip_prefix('$')?;
    let expression = format!("payload{path}");
    crate::expr::parse(&expression).is_ok().then_some(expression)
}
