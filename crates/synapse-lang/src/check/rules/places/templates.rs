//! Placeholders in text that the runtime does not see whole.

use crate::check::value::{Holder, Reading, Value};
use crate::check::{Findings, Rule, Subject};
use crate::expr;
use crate::model::Version;

const CUT: u16 = 213;
const LINES: u16 = 214;
const OPEN: u16 = 217;

/// Placeholders over several lines, with a brace inside, or without an end.
pub(super) struct Templates;

impl Rule for Templates {
    fn codes(&self) -> &'static [u16] {
        &[CUT, LINES, OPEN]
    }

    fn value(&self, subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        let Reading::Template(ranges) = &value.reading else { return };
        if !matches!(value.holder, Holder::Text) || subject.runtime < Version::EXPRESSIONS {
            return;
        }
        let text = value.text();
        let is_log = value.placed.element.local() == "message";
        for range in ranges {
            let inner = text.get(range.clone()).unwrap_or_default();
            let span = value.source_span(range.start - 2..range.end + 1);
            if is_log && inner.contains(['\n', '\r']) {
                let message =
                    "A placeholder must stand on one line here; over several it stays as it is written";
                findings.report(LINES, span, message);
            } else if in_string(inner) && expr::parse(inner).is_err() {
                let message = "The first } ends a placeholder, even inside a string: this one is cut there. \
                               Put the text with the brace into a variable";
                findings.report(CUT, span, message);
            }
        }
        let from = ranges.last().map_or(0, |range| range.end + 1);
        if let Some(at) = text.get(from..).and_then(|rest| rest.find("${")).map(|at| from + at) {
            let message = "This ${ has no closing brace, so it is text";
            findings.report(OPEN, value.source_span(at..at + 2), message);
        }
    }
}

/// Whether a text ends inside a string.
fn in_string(text: &str) -> bool {
    let mut open = None;
    for one in text.chars() {
        match (open, one) {
            (None, '"' | '\'') => open = Some(one),
            (Some(quote), _) if quote == one => open = None,
            _ => {}
        }
    }
    open.is_some()
}
