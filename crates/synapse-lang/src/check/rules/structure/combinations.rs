//! What must hold between the attributes and children of one element.

use std::collections::HashSet;

use crate::check::walk::{Facts, Placed};
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Class, Edit, Fix};
use crate::model::{self, Thing};
use crate::syntax::Element;
use crate::text::Span;

use super::children::with_indentation;
use super::{outcome, severity};

const INCOMPLETE: u16 = 120;
const UNREAD: u16 = 121;
const FORBIDDEN: u16 = 122;
const TWICE: u16 = 123;

/// The rules of the model.
pub(super) struct Combinations;

impl Rule for Combinations {
    fn codes(&self) -> &'static [u16] {
        &[INCOMPLETE, UNREAD, FORBIDDEN, TWICE]
    }

    fn interest(&self) -> Interest {
        Interest::Every
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let Some(definition) = placed.definition.filter(|definition| !definition.rules.is_empty()) else {
            return;
        };
        if !placed.element.has_complete_tag() || !placed.element.is_closed() {
            return;
        }
        let facts = Facts::of(placed.element);
        for rule in &definition.rules {
            let Some(broken) = rule.broken(&facts, definition) else { continue };
            if let model::Rule::Distinct { child, by, absent, .. } = rule {
                for one in repeated(placed.element, child, by, *absent) {
                    let message = format!("{}; {}", capital(broken.message), outcome(broken.class));
                    let edit = Edit::remove(with_indentation(subject, one));
                    let finding = findings.report(TWICE, one.name_span(), message);
                    let finding = finding.class(broken.class).severity(severity(broken.class));
                    finding.fix(Fix::review(format!("Remove <{child}>"), vec![edit]));
                }
                continue;
            }
            let code = match rule {
                _ if broken.class == Class::Ignored => UNREAD,
                model::Rule::OneOf { .. } | model::Rule::Required { .. } if broken.what.is_none() => {
                    INCOMPLETE
                }
                _ => FORBIDDEN,
            };
            let (span, fix) = broken.what.as_ref().map_or_else(
                || (placed.element.name_span(), None),
                |what| place(subject, placed, what, code),
            );
            let message = format!("{}; {}", capital(broken.message), outcome(broken.class));
            let finding = findings.report(code, span, message);
            finding.class(broken.class).severity(severity(broken.class)).fix_if(fix);
        }
    }
}

/// The children that agree with one before them in the attribute by which they must differ.
fn repeated<'a>(
    parent: Element<'a>,
    child: &str,
    by: &str,
    absent: bool,
) -> impl Iterator<Item = Element<'a>> {
    let mut seen = HashSet::new();
    let named = parent.elements().filter(move |one| one.local() == child);
    named.filter(move |one| {
        let value = one.attribute(by).map(|value| value.raw());
        (absent || value.is_some()) && !seen.insert(value)
    })
}

/// Where the thing is that is too much, and how to get rid of it.
fn place(subject: &Subject<'_>, placed: &Placed<'_>, what: &Thing, code: u16) -> (Span, Option<Fix>) {
    let element = placed.element;
    match what {
        Thing::Attribute(name) => match element.attribute(name) {
            Some(attribute) => {
                let edit = Edit::remove(attribute.span_with_space());
                (attribute.name_span(), Some(Fix::review(format!("Remove {name}"), vec![edit])))
            }
            None => (element.name_span(), None),
        },
        Thing::Child(name) => {
            let named = element.elements().filter(|one| one.local() == name);
            match named.last() {
                Some(child) => {
                    let edit = Edit::remove(with_indentation(subject, child));
                    let fix =
                        (code != INCOMPLETE).then(|| Fix::review(format!("Remove <{name}>"), vec![edit]));
                    (child.name_span(), fix)
                }
                None => (element.name_span(), None),
            }
        }
        _ => (element.name_span(), None),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    // Names of elements and attributes begin with the case that they have.
    match letters.next() {
        Some(first) if text.starts_with("a ") || text.starts_with("an ") || text.starts_with("the ") => {
            first.to_uppercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}
