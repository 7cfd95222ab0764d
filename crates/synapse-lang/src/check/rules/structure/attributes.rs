//! Attributes that must be there, and attributes that nobody reads.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Class, Edit, Fix, Severity};
use crate::model;
use crate::near::nearest;
use crate::syntax::Attribute;

use super::{outcome, severity};

const MISSING: u16 = 103;
const UNREAD: u16 = 106;

/// Missing and misspelt attributes.
pub(super) struct Attributes;

impl Rule for Attributes {
    fn codes(&self) -> &'static [u16] {
        &[MISSING, UNREAD]
    }

    fn interest(&self) -> Interest {
        Interest::Every
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let Some(definition) = placed.definition.filter(|definition| !definition.shallow) else { return };
        if !placed.element.has_complete_tag() {
            return; // What is cut off may have been meant to follow.
        }
        for attribute in subject.model.attributes(definition) {
            if let Some(class) = attribute.required {
                missing(subject, placed, attribute, class, findings);
            }
        }
        for attribute in placed.element.attributes() {
            if attribute.prefix().is_none() && !attribute.is_declaration() {
                unread(subject, placed, definition, attribute, findings);
            }
        }
    }
}

fn missing(
    subject: &Subject<'_>,
    placed: &Placed<'_>,
    attribute: &'static model::Attribute,
    class: Class,
    findings: &mut Findings,
) {
    let element = placed.element;
    let exists = subject.runtime.has(attribute.since, attribute.until);
    let there = element.value(&attribute.name);
    if !exists || there.is_some_and(|value| !(attribute.blank && value.trim().is_empty())) {
        return;
    }
    let name = &attribute.name;
    let message = format!("<{}> has no {name}; without it {}", element.name(), outcome(class));
    let only = attribute.value.choices().and_then(|values| values.first());
    let fix = only.map(|value| {
        let edit = Edit::insert(element.attributes_end(), format!(" {name}=\"{value}\""));
        Fix::review(format!("Add {name}=\"{value}\""), vec![edit])
    });
    findings.report(MISSING, element.name_span(), message).class(class).severity(severity(class)).fix_if(fix);
}

fn unread(
    subject: &Subject<'_>,
    placed: &Placed<'_>,
    definition: &'static model::Element,
    attribute: Attribute<'_>,
    findings: &mut Findings,
) {
    let name = attribute.local();
    if subject.model.attribute(definition, name).is_some() {
        return;
    }
    let element = placed.element;
    let free = |known: &&str| element.attribute(known).is_none();
    if let Some(mistake) = definition.attribute_mistake(name) {
        let right = mistake.right.as_deref().and_then(|right| right.strip_prefix('@'));
        let message = format!("{name} is not read on <{}>. {}", element.name(), mistake.note);
        let fix = right.filter(free).map(|right| rename(attribute, right));
        findings.report(UNREAD, attribute.name_span(), message).fix_if(fix);
        return;
    }
    let known = subject.model.attributes(definition).map(|one| one.name.as_str()).filter(free);
    if let Some(meant) = nearest(name, known) {
        let message = format!("{name} is not read on <{}>; did you mean {meant}?", element.name());
        findings.report(UNREAD, attribute.name_span(), message).fix(rename(attribute, meant));
    } else if definition.attributes.is_empty() && definition.kind == model::Kind::Part {
        let message = format!("{name} is not read on <{}>: it has no attributes", element.name());
        findings.report(UNREAD, attribute.name_span(), message).severity(Severity::Info);
    }
}

fn rename(attribute: Attribute<'_>, to: &str) -> Fix {
    Fix::review(format!("Rename it to {to}"), vec![Edit::replace(attribute.name_span(), to)])
}
