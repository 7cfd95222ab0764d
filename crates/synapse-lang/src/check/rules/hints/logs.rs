//! Logs of properties, as a message.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::model::Version;
use crate::syntax::{Element, escape_text};
use crate::text::Span;

use super::convert;

const MESSAGE: u16 = 1206;

/// `level="custom"` with properties and without a message.
pub(super) struct Logs;

impl Rule for Logs {
    fn codes(&self) -> &'static [u16] {
        &[MESSAGE]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["log"])
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let element = placed.element;
        let custom = element.attribute("level").filter(|level| level.value() == "custom");
        let Some(level) =
            custom.filter(|_| placed.is_mediator("log") && subject.runtime >= Version::EXPRESSIONS)
        else {
            return;
        };
        let properties: Vec<Element<'_>> = element.elements().collect();
        let Some(((first, last), true)) = properties
            .first()
            .zip(properties.last())
            .map(|ends| (ends, properties.iter().all(|one| one.local() == "property")))
        else {
            return;
        };
        let parts: Option<Vec<String>> = properties.iter().map(|one| part(*one, subject)).collect();
        let message = "A message is read more easily than a list of properties: <message>…${…}…</message>";
        let fix = parts.filter(|_| element.attribute("separator").is_none()).map(|parts| {
            let text = format!("<message>{}</message>", parts.join(", "));
            let all = Span::new(first.span().start, last.span().end);
            let edits = vec![Edit::remove(level.span_with_space()), Edit::replace(all, text)];
            Fix::review("Make it a message", edits)
        });
        findings.report(MESSAGE, level.value_span(), message).fix_if(fix);
    }
}

/// A property as it is printed, in template text.
fn part(property: Element<'_>, subject: &Subject<'_>) -> Option<String> {
    let name = property.value("name")?;
    if name.contains("${") {
        return None;
    }
    let value = match (property.value("value"), property.value("expression")) {
        (Some(value), None) if !value.contains("${") => value.into_owned(),
        (None, Some(expression)) => {
            let expression = convert::expression(&expression, subject.model)?;
            // The first closing brace ends a placeholder.
            if expression.contains('}') {
                return None;
            }
            format!("${{{expression}}}")
        }
        _ => return None,
    };
    Some(escape_text(&format!("{name} = {value}")).into_owned())
}
