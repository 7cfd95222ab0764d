//! Names of Java classes: such that Java can have them, and near the ones that everybody uses.

use crate::check::value::{Reading, Value};
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Edit, Fix, Severity};
use crate::model::ValueType;
use crate::near::nearest;

use super::super::structure::{is_filled_in, is_prose, name};

const NAME: u16 = 816;
const NEAR: u16 = 815;

/// Class names that cannot be, or that look like a slip.
pub(super) struct Classes;

impl Rule for Classes {
    fn codes(&self) -> &'static [u16] {
        &[NEAR, NAME]
    }

    fn value(&self, subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        let text = value.text();
        let judged = *value.kind == ValueType::ClassName && value.reading == Reading::Literal;
        if !judged || text.trim().is_empty() || text.contains(['{', '$']) || is_filled_in(subject, value) {
            return;
        }
        if let Some((reason, better)) = problem(text) {
            let message = format!("{} is {text:?}: {reason}", name(value));
            let fix = better.map(|better| {
                let edit = Edit::replace(value.span(), value.written(better));
                Fix::review(format!("Write {better}"), vec![edit])
            });
            let severity = if is_prose(text) { Severity::Warning } else { loads(value) };
            findings.report(NAME, value.span(), message).severity(severity).fix_if(fix);
            return;
        }
        let of = value.placed.element.local();
        let known = || subject.model.catalogues(of).map(|one| one.name.as_str());
        if known().any(|one| one == text.trim()) || value.attribute() != Some("class") {
            return;
        }
        if let Some(meant) = nearest(text.trim(), known().filter(|one| !one.is_empty())) {
            let message = format!("There is no class {}; did you mean {meant}?", text.trim());
            let fix = Fix::review(format!("Change it to {meant}"), vec![Edit::replace(value.span(), meant)]);
            findings.report(NEAR, value.span(), message).fix(fix);
        }
    }
}

/// Classes of these are loaded when the artifact deploys; others when they are first needed, if ever.
fn loads(value: &Value<'_>) -> Severity {
    match value.placed.id() {
        "class"
        | "api.handler"
        | "artifact.task"
        | "artifact.messageStore"
        | "artifact.messageProcessor"
        | "endpoint.class" => Severity::Error,
        _ => Severity::Warning,
    }
}

/// Why no class can have that name, and the name without it.
fn problem(text: &str) -> Option<(&'static str, Option<&str>)> {
    let trimmed = text.trim();
    if let Some(stem) = trimmed.strip_suffix(".class").or_else(|| trimmed.strip_suffix(".java")) {
        return Some(("a class is named without the ending of its file", Some(stem)));
    }
    let letters = |one: char| one.is_alphanumeric() || matches!(one, '_' | '.');
    if let Some(wrong) = trimmed.chars().find(|one| !letters(*one)) {
        return Some(match wrong {
            '/' => ("packages are separated by dots", None),
            _ => ("that is not the name of a Java class", None),
        });
    }
    let empty =
        trimmed.split('.').any(|part| part.is_empty() || part.starts_with(|one: char| one.is_numeric()));
    empty.then_some(("that is not the name of a Java class", None))
}
