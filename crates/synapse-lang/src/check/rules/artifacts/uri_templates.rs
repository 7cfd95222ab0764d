//! URI templates: braces in pairs, and variables that somebody fills.

use crate::check::value::{Reading, Value};
use crate::check::{Findings, Rule, Subject};
use crate::model::ValueType;

use super::super::structure::{is_filled_in, name};

const BRACES: u16 = 805;
const VARIABLE: u16 = 806;

/// Broken templates, and variables of endpoints that stay empty.
pub(super) struct UriTemplates;

impl Rule for UriTemplates {
    fn codes(&self) -> &'static [u16] {
        &[BRACES, VARIABLE]
    }

    fn value(&self, subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        let text = value.text();
        // What an expression does in an address is another rule's business.
        if *value.kind != ValueType::UriTemplate || text.contains('$') || value.reading != Reading::Literal {
            return;
        }
        if is_filled_in(subject, value) {
            return;
        }
        let mut open: Option<usize> = None;
        for (at, one) in text.char_indices() {
            match (one, open) {
                ('{', None) => open = Some(at),
                ('{', Some(first)) => {
                    let message =
                        format!("{} has a {{ inside braces; the one before it does not close", name(value));
                    findings.report(BRACES, value.source_span(first..first + 1), message);
                    return;
                }
                ('}', None) => {
                    let message = format!("{} has a }} that nothing opens", name(value));
                    findings.report(BRACES, value.source_span(at..at + 1), message);
                    return;
                }
                ('}', Some(first)) => {
                    if value.placed.id() == "endpoint.http" {
                        variables(value, first + 1, at, findings);
                    }
                    open = None;
                }
                _ => {}
            }
        }
        if let Some(first) = open {
            let message = format!("{} has a {{ that does not close", name(value));
            findings.report(BRACES, value.source_span(first..first + 1), message);
        }
    }
}

/// The variables of `{+a,b*}` that no property fills.
fn variables(value: &Value<'_>, start: usize, end: usize, findings: &mut Findings) {
    let Some(inner) = value.text().get(start..end) else { return };
    let list = inner.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']);
    for written in list.split(',') {
        let variable = written.split([':', '*']).next().unwrap_or_default().trim();
        let filled = ["uri.var.", "query.param."].iter().any(|prefix| variable.starts_with(prefix));
        if !filled && !variable.is_empty() {
            let message = format!(
                "{{{variable}}} stays empty: an endpoint fills only variables named uri.var.… and query.param.…"
            );
            findings.report(VARIABLE, value.source_span(start..end), message);
        }
    }
}
