//! Expressions in places that are never evaluated, or only as a whole in braces.

use crate::check::value::{Holder, Reading, Value};
use crate::check::walk::Role;
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Class, Edit, Fix, Severity};
use crate::model::{Place, Version};

use super::super::structure::name;
use super::{joined, placeholders, whole};

const LITERAL: u16 = 204;
const UNWRAPPED: u16 = 205;
const PARAMETER: u16 = 215;

/// Expressions that stay text.
pub(super) struct Literals;

impl Rule for Literals {
    fn codes(&self) -> &'static [u16] {
        &[LITERAL, UNWRAPPED, PARAMETER]
    }

    fn value(&self, subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        if value.reading != Reading::Literal || subject.runtime < Version::EXPRESSIONS {
            return;
        }
        let text = value.text();
        if !text.contains("${") || is_refused(value) {
            return;
        }
        let found = placeholders(text);
        let Some(first) = found.first() else { return };
        let span = value.source_span(first.start - 2..first.end + 1);
        match value.place {
            Place::Literal if is_scripted(value) => {}
            Place::Literal => {
                let message =
                    format!("{} is never evaluated: the text ${{…}} itself is the value", name(value));
                findings.report(LITERAL, span, message).fix_if(to_expression(value));
            }
            Place::Value if value.placed.role == Role::Parameter => {
                let message = "A connector gets this as text unless the whole value is written {${…}}; \
                               some connectors evaluate it themselves";
                findings.report(PARAMETER, span, message).severity(Severity::Info).class(Class::Surprise);
            }
            Place::Value => {
                let message = format!(
                    "{} is evaluated only when the whole value is written {{${{…}}}}; as it stands it is text",
                    name(value)
                );
                let wrapped = whole(text).map(|inner| (inner.to_owned(), true));
                let wrapped = wrapped.or_else(|| joined(text).map(|inner| (inner, false)));
                let fix = wrapped.map(|(inner, same)| {
                    let edit = Edit::replace(value.span(), value.written(&format!("{{${{{inner}}}}}")));
                    if same {
                        Fix::safe("Wrap it in braces", vec![edit])
                    } else {
                        Fix::review("Make it one expression in braces", vec![edit])
                    }
                });
                findings.report(UNWRAPPED, span, message).fix_if(fix);
            }
            _ => {}
        }
    }
}

/// Whether the text is no value of its place in the first place, which has a finding of its own.
fn is_refused(value: &Value<'_>) -> bool {
    let wrong = match value.holder {
        Holder::Attribute(_, known) => known.and_then(|known| known.wrong),
        Holder::Text => None,
    };
    wrong.is_some() && value.place == Place::Literal && !value.kind.takes(value.text())
}

/// Text that is code of another language, or a document handed to somebody else.
fn is_scripted(value: &Value<'_>) -> bool {
    matches!(value.holder, Holder::Text)
}

/// `value` becomes `expression` where the element has such an attribute.
fn to_expression(value: &Value<'_>) -> Option<Fix> {
    let Holder::Attribute(attribute, _) = value.holder else { return None };
    let definition = value.placed.definition?;
    let has = definition.attribute("expression").is_some();
    if attribute.local() != "value" || !has || value.placed.element.attribute("expression").is_some() {
        return None;
    }
    let rename = Edit::replace(attribute.name_span(), "expression");
    if whole(value.text()).is_some() {
        return Some(Fix::safe("Make it an expression", vec![rename]));
    }
    let expression = joined(value.text())?;
    let edit = Edit::replace(value.span(), value.written(&format!("${{{expression}}}")));
    Some(Fix::review("Make it one expression", vec![rename, edit]))
}
