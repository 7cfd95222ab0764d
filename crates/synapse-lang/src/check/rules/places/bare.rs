//! Expressions without `${}`: they are valid XPath, find nothing and say nothing.

use crate::check::value::{Reading, Value};
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::model::{Place, Version};
use crate::text::Span;

use super::is_expression;

const BARE: u16 = 201;

/// An expression that is read as XPath.
pub(super) struct Bare;

impl Rule for Bare {
    fn codes(&self) -> &'static [u16] {
        &[BARE]
    }

    fn value(&self, subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        let Reading::XPath(range) = &value.reading else { return };
        if !matches!(value.place, Place::Path | Place::Value) || subject.runtime < Version::EXPRESSIONS {
            return;
        }
        let text = value.text().get(range.clone()).unwrap_or_default().trim();
        let bare = text.strip_prefix('$').filter(|rest| rest.starts_with("payload")).unwrap_or(text);
        if !is_expression(bare) {
            return;
        }
        let message = format!(
            "{bare:?} is read as XPath here, looks for an element of that name and finds nothing; \
             a Synapse expression stands in ${{}}"
        );
        let span = value.source_span(range.clone());
        // What is written inside stays as it is, with its references.
        let inside = value.text().find(bare).map_or(span, |at| value.source_span(at..at + bare.len()));
        let edits = vec![
            Edit::replace(Span::new(span.start, inside.start), "${"),
            Edit::replace(Span::new(inside.end, span.end), "}"),
        ];
        let refused = value.refuses.is_some();
        let fix = (!refused).then(|| Fix::safe("Wrap it in ${}", edits));
        findings.report(BARE, span, message).fix_if(fix);
    }
}
