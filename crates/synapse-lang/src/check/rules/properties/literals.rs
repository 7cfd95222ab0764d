//! A literal must fit the type beside it: it is converted when the artifact is deployed.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Class, Severity};
use crate::syntax::Document;
use crate::{java, json};

const MISMATCH: u16 = 605;

/// `value` and `type` of properties and variables.
pub(super) struct Literals;

impl Rule for Literals {
    fn codes(&self) -> &'static [u16] {
        &[MISMATCH]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["property", "variable"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let element = placed.element;
        if !matches!(placed.id(), "property" | "variable") {
            return;
        }
        let (Some(attribute), Some(kind)) = (element.attribute("value"), element.value("type")) else {
            return;
        };
        let text = attribute.value();
        if text.contains("${") {
            return; // That an expression is not evaluated here has a finding of its own.
        }
        let is_property = placed.id() == "property";
        let fits = match kind.as_ref() {
            "INTEGER" => java::parse_int(&text).is_some(),
            "SHORT" => java::parse_int(&text).is_some_and(|number| i16::try_from(number).is_ok()),
            "LONG" => java::parse_long(&text).is_some(),
            "DOUBLE" | "FLOAT" => java::parse_double(&text).is_some(),
            "XML" if !is_property => Document::parse(text.as_ref()).problems().is_empty(),
            "JSON" => json::parse(&text).is_ok(),
            "BOOLEAN" => {
                // Both are read leniently.
                let known = ["true", "false", "yes", "no", "1", "0"];
                if !known.iter().any(|word| word.eq_ignore_ascii_case(text.trim())) {
                    let message = format!("{text:?} is read as false: it is not true");
                    findings.report(MISMATCH, attribute.value_span(), message).severity(Severity::Warning);
                }
                return;
            }
            _ => return,
        };
        if fits {
            return;
        }
        // JSON that cannot be read is logged when the artifact deploys, and the artifact deploys.
        let survives = kind == "JSON";
        let message = match (survives, is_property) {
            (false, _) => format!("{text:?} is not of type {kind}; the artifact does not deploy"),
            (true, false) => format!("{text:?} is not JSON; the variable holds it as a quoted string"),
            (true, true) => format!("{text:?} is not JSON; the property is not set"),
        };
        let finding = findings.report(MISMATCH, attribute.value_span(), message);
        if survives {
            finding.class(Class::Surprise).severity(Severity::Warning);
        }
    }
}
