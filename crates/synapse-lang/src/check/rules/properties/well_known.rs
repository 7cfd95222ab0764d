//! Properties that the runtime reads: each in its own scope and of its own type.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::model::{Access, JavaType, WellKnownProperty};
use crate::syntax::Element;

use super::super::structure::{outcome, severity};

const SCOPE: u16 = 601;
const TYPE: u16 = 602;
const VALUE: u16 = 603;

/// Well-known properties in another scope, of another type, or with a value that is not one.
pub(super) struct WellKnown;

impl Rule for WellKnown {
    fn codes(&self) -> &'static [u16] {
        &[SCOPE, TYPE, VALUE]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["property"])
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        if placed.id() != "property" {
            return;
        }
        let element = placed.element;
        let Some(name) = element.value("name") else { return };
        let Some(known) = subject.model.property(&name) else { return };
        let removes = element.value("action").is_some_and(|action| action == "remove");
        if known.access != Access::Read {
            scope(element, &name, known, findings);
        }
        if !removes {
            // In another scope nobody reads it, so its type does no harm.
            if element.value("scope").as_deref().unwrap_or("default") == known.scope.as_str() {
                kind(element, &name, known, findings);
            }
            value(element, &name, known, findings);
        }
    }
}

fn scope(element: Element<'_>, name: &str, known: &WellKnownProperty, findings: &mut Findings) {
    let Some(class) = known.wrong_scope else { return };
    let attribute = element.attribute("scope");
    let scope = attribute.map_or("default".into(), |one| one.value());
    if scope == known.scope.as_str() {
        return;
    }
    let message = format!("{name} counts in scope {}; in scope {scope} nobody reads it", known.scope);
    let edit = match attribute {
        Some(_) if known.scope == "default" => attribute.map(|one| Edit::remove(one.span_with_space())),
        Some(one) => Some(Edit::replace(one.value_span(), known.scope.as_str())),
        None => Some(Edit::insert(element.attributes_end(), format!(" scope=\"{}\"", known.scope))),
    };
    let fix = edit.map(|edit| Fix::safe(format!("Set it in scope {}", known.scope), vec![edit]));
    let span =
        attribute.or_else(|| element.attribute("name")).map_or(element.name_span(), |one| one.value_span());
    findings.report(SCOPE, span, message).class(class).fix_if(fix);
}

fn kind(element: Element<'_>, name: &str, known: &WellKnownProperty, findings: &mut Findings) {
    let Some(class) = known.wrong_type else { return };
    let attribute = element.attribute("type");
    let written = attribute.map_or("STRING".into(), |one| one.value());
    let wanted = match known.java {
        JavaType::Any => return,
        JavaType::String => "STRING",
        JavaType::Boolean => "BOOLEAN",
    };
    if written == wanted || (wanted == "BOOLEAN") != (written != "BOOLEAN") {
        return;
    }
    let message =
        format!("{name} must be a {}; with type {written} {}", wanted.to_lowercase(), outcome(class));
    let edit = match attribute {
        Some(one) if wanted == "STRING" => Edit::remove(one.span_with_space()),
        Some(one) => Edit::replace(one.value_span(), wanted),
        None => Edit::insert(element.attributes_end(), format!(" type=\"{wanted}\"")),
    };
    let span =
        attribute.or_else(|| element.attribute("name")).map_or(element.name_span(), |one| one.value_span());
    let fix = Fix::safe(format!("Make it a {}", wanted.to_lowercase()), vec![edit]);
    findings.report(TYPE, span, message).class(class).severity(severity(class)).fix(fix);
}

fn value(element: Element<'_>, name: &str, known: &WellKnownProperty, findings: &mut Findings) {
    let Some(attribute) = element.attribute("value") else { return };
    let text = attribute.value();
    if !known.value.takes(&text) && !text.contains(['$', '{']) {
        let message = format!("{name} is {text:?}, which is not {}, and is not read", known.value);
        findings.report(VALUE, attribute.value_span(), message);
    }
}
