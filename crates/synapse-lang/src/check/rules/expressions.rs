//! Synapse expressions, wherever they stand.
//!
//! The findings themselves are made by [`crate::expr::check`]; here each expression gets its surroundings, and its
//! findings and repairs their places in the document.

pub(in crate::check::rules) mod surroundings;

use std::ops::Range;

use super::Rule;
use crate::check::value::{Reading, Value};
use crate::check::{Findings, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::expr::check::{self, ExprFinding, codes};
use crate::model::Version;
use crate::text::Span;
use surroundings::Surroundings;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[&Expressions];

/// Every expression of a document.
struct Expressions;

impl Rule for Expressions {
    fn codes(&self) -> &'static [u16] {
        codes::ALL
    }

    // Variables are known from what stands before, so the values are looked at in one go.
    fn is_local(&self) -> bool {
        true
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        if subject.runtime < Version::EXPRESSIONS {
            return;
        }
        let mut surroundings = Surroundings::new(subject);
        for value in &subject.values {
            let expressions = value.expressions();
            if expressions.is_empty() || value.refuses.is_some() {
                continue;
            }
            surroundings.reach(&value.placed);
            let env = surroundings.env(value);
            for range in expressions {
                let Some(text) = value.text().get(range.clone()) else { continue };
                if is_seen_whole(value, text) {
                    // Which variables are set is known better along the flow, which another rule follows.
                    let found = check::check(text, &env).into_iter();
                    for finding in found.filter(|one| one.code != codes::UNKNOWN_VARIABLE) {
                        place(value, &range, finding, findings);
                    }
                }
            }
        }
    }
}

/// Placeholders that the runtime does not see, or sees only in part, have findings of their own.
fn is_seen_whole(value: &Value<'_>, text: &str) -> bool {
    if !matches!(value.reading, Reading::Template(_)) {
        return true;
    }
    let lines = value.placed.element.local() == "message" && text.contains(['\n', '\r']);
    !lines && !ends_in_string(text)
}

fn ends_in_string(text: &str) -> bool {
    let mut open = None;
    for sign in text.chars() {
        match open {
            None if matches!(sign, '"' | '\'') => open = Some(sign),
            Some(quote) if quote == sign => open = None,
            _ => {}
        }
    }
    open.is_some()
}

/// Notes a finding of an expression at its place in the document.
fn place(value: &Value<'_>, range: &Range<usize>, finding: ExprFinding, findings: &mut Findings) {
    let source = |span: Span| {
        let Range { start, end } = Range::from(span);
        value.source_span(range.start + start..range.start + end)
    };
    let mut noted = findings
        .report(finding.code, source(finding.span), finding.message)
        .class(finding.class)
        .severity(finding.severity);
    for fix in finding.fixes {
        let edits = fix.edits.iter().map(|edit| Edit::replace(source(edit.span), value.written(&edit.text)));
        noted = noted.fix(Fix { title: fix.title, safety: fix.safety, edits: edits.collect() });
    }
}

#[cfg(test)]
mod tests;
