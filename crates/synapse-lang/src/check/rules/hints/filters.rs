//! Filters that compare with one word, as an expression.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::model::Version;
use crate::syntax::escape_attribute;
use crate::text::Span;

use super::convert;

const FILTER: u16 = 1205;

/// `source` and a `regex` without any sign of a pattern.
pub(super) struct Filters;

impl Rule for Filters {
    fn codes(&self) -> &'static [u16] {
        &[FILTER]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["filter"])
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let element = placed.element;
        if subject.runtime < Version::EXPRESSIONS
            || !placed.is_mediator("filter")
            || element.attribute("xpath").is_some()
        {
            return;
        }
        let (Some(source), Some(regex)) = (element.attribute("source"), element.attribute("regex")) else {
            return;
        };
        let word = regex.value();
        let plain = !word.is_empty()
            && word.chars().all(|one| one.is_alphanumeric() || one == '_' || one == '-' || one == ' ');
        let Some(expression) = convert::expression(&source.value(), subject.model).filter(|_| plain) else {
            return;
        };
        let condition = escape_attribute(&format!("${{{expression} == '{word}'}}"), '"').into_owned();
        let message = "One expression in xpath says what source and regex say together";
        let (first, second) =
            if source.span().start < regex.span().start { (source, regex) } else { (regex, source) };
        let edits = vec![
            Edit::replace(Span::new(first.span().start, first.span().end), format!("xpath=\"{condition}\"")),
            Edit::remove(second.span_with_space()),
        ];
        findings
            .report(FILTER, source.name_span(), message)
            .fix(Fix::review("Make it one expression", edits));
    }
}
