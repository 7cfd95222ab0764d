//! Regular expressions that Java does not compile.

use std::cell::RefCell;
use std::collections::HashSet;

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
        if is_plain(value.text()) || is_known_good(value.text()) {
            return;
        }
        let Err(PatternError::Syntax { at, reason }) =
            Pattern::compile(value.text(), PatternFlags::default())
        else {
            // It compiles, or only the engine here does not know it.
            remember_good(value.text());
            return;
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

/// Whether a text has no sign that means something in a regular expression.
fn is_plain(text: &str) -> bool {
    !text.contains(['\\', '^', '$', '.', '|', '?', '*', '+', '(', ')', '[', ']', '{', '}'])
}

/// How many good ones are remembered: more different ones than a project has.
const MOST: usize = 1000;

thread_local! {
    // Compiling one costs as much as a hundred other checks, and a project has few different ones many times.
    static GOOD: RefCell<HashSet<String>> = RefCell::default();
}

fn is_known_good(text: &str) -> bool {
    GOOD.with_borrow(|good| good.contains(text))
}

fn remember_good(text: &str) {
    GOOD.with_borrow_mut(|good| {
        if good.len() >= MOST {
            good.clear();
        }
        good.insert(text.to_owned());
    });
}
