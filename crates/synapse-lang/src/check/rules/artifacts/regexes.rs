//! Regular expressions that Java does not compile.

use crate::check::value::{Holder, Reading, Value};
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::Class;
use crate::java::{Pattern, PatternError, PatternFlags};
use crate::model::ValueType;

use super::super::structure::{is_filled_in, name, outcome, severity};

const REGEX: u16 = 817;

/// Broken regular expressions.
pub(super) struct Regexes;

impl Rule for Regexes {
    fn codes(&self) -> &'static [u16] {
        &[REGEX]
    }

    fn value(&self, subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        if *value.kind != ValueType::Regex || value.reading != Reading::Literal {
            return;
        }
        if is_filled_in(subject, value) {
            return;
        }
        let Err(PatternError::Syntax { at, reason }) =
            Pattern::compile(value.text(), PatternFlags::default())
        else {
            return; // It compiles, or only the engine here does not know it.
        };
        let class = match value.holder {
            Holder::Attribute(_, Some(known)) => known.wrong.unwrap_or(Class::Surprise),
            _ => Class::Surprise,
        };
        let text = value.text();
        let from = text.char_indices().nth(at.saturating_sub(1)).map_or(0, |(offset, _)| offset);
        let message = format!("{} is no regular expression: {reason}; {}", name(value), outcome(class));
        let span = if from < text.len() { value.source_span(from..text.len()) } else { value.span() };
        findings.report(REGEX, span, message).class(class).severity(severity(class));
    }
}
