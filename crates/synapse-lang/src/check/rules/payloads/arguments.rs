//! The arguments of a format: one for each `$1`, each in the language of its evaluator.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix, Severity};
use crate::jsonpath::Path;
use crate::syntax::Element;

use super::super::structure::is_prose;
use super::format::{Filling, Format};

const BEYOND: u16 = 705;
const UNUSED: u16 = 706;
const NOT_XPATH: u16 = 710;
const NOT_JSONPATH: u16 = 711;

/// Arguments that are missing, unused, or of the other language.
pub(super) struct Arguments;

impl Rule for Arguments {
    fn codes(&self) -> &'static [u16] {
        &[BEYOND, UNUSED, NOT_XPATH, NOT_JSONPATH]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["payloadFactory", "arg"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        if placed.id() == "payloadFactory.arg" {
            language(placed.element, findings);
        } else if let Some(format) = Format::of(placed) {
            count(&format, findings);
        }
    }
}

fn count(format: &Format<'_>, findings: &mut Findings) {
    let arguments: Vec<Element<'_>> =
        format.factory.first("args").map(|args| args.elements().collect()).unwrap_or_default();
    let mut used = vec![false; arguments.len()];
    for hole in &format.holes {
        let Filling::Argument(number) = hole.filling else { continue };
        match number.checked_sub(1).and_then(|index| used.get_mut(index)) {
            Some(used) => *used = true,
            None => {
                let there = match arguments.len() {
                    0 => "there are no arguments".to_owned(),
                    1 => "there is one argument".to_owned(),
                    count => format!("there are {count} arguments"),
                };
                let message = format!(
                    "${number} is taken for argument {number}, and {there}; from here on nothing is filled in"
                );
                findings.report(BEYOND, format.decoded.source_span(hole.range.clone()), message);
            }
        }
    }
    for (at, argument) in arguments.iter().enumerate() {
        if used.get(at) == Some(&false) {
            let message = format!("${} stands nowhere in the format", at + 1);
            findings.report(UNUSED, argument.name_span(), message);
        }
    }
}

/// Without `evaluator="json"` an expression is XPath; with it, JSONPath.
fn language(argument: Element<'_>, findings: &mut Findings) {
    let Some(expression) = argument.attribute("expression") else { return };
    if argument.attribute("value").is_some() {
        return;
    }
    let text = expression.value();
    let evaluator = argument.attribute("evaluator");
    if evaluator.is_some_and(|one| one.value() == "json") {
        let path = match text.strip_prefix("json-eval(") {
            Some(rest) => rest.strip_suffix(')').unwrap_or(rest),
            None => text.as_ref(),
        };
        // Expressions are another rule's business, and the whole body is written in two ways.
        if path.contains("${") || matches!(path.trim(), "" | "$" | "$.") {
            return;
        }
        if let Err(error) = Path::compile_in_step(path) {
            let message = format!("With evaluator json this is a JSONPath, and {path:?} is none: {error}");
            let finding = findings.report(NOT_JSONPATH, expression.value_span(), message);
            if is_prose(path) {
                finding.severity(Severity::Warning);
            }
        }
    } else if ["$.", "$[", "json-eval("].iter().any(|start| text.starts_with(start)) || text == "$" {
        if evaluator.is_some_and(|written| written.value() != "xml") {
            return; // No evaluator at all, which has a finding of its own.
        }
        let message =
            "This is JSONPath, but without evaluator=\"json\" it is read as XPath and does not compile";
        let edit = match evaluator {
            Some(written) => Edit::replace(written.value_span(), "json"),
            None => Edit::insert(argument.attributes_end(), " evaluator=\"json\""),
        };
        let fix = Fix::safe("Say evaluator=\"json\"", vec![edit]);
        findings.report(NOT_XPATH, expression.value_span(), message).fix(fix);
    }
}
