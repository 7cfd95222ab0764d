//! XPath that does not compile, and prefixes that nothing declares.

use std::ops::Range;

use crate::check::value::{Reading, Value};
use crate::check::walk::Role;
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::Severity;
use crate::model::{Place, Version};
use crate::xpath::{self, Expr, ast};

use super::super::structure::{is_filled_in, is_prose, name};
use super::is_expression;

const SYNTAX: u16 = 223;
const PREFIX: u16 = 224;

/// Broken XPath, and names with unknown prefixes.
pub(super) struct XPaths;

impl Rule for XPaths {
    fn codes(&self) -> &'static [u16] {
        &[SYNTAX, PREFIX]
    }

    fn value(&self, subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        let Reading::XPath(range) = &value.reading else { return };
        let text = value.text().get(range.clone()).unwrap_or_default();
        if text.trim().is_empty() || is_filled_in(subject, value) || is_of_another_rule(subject, value, text)
        {
            return;
        }
        match xpath::parse(text) {
            Ok(parsed) => prefixes(value, range, &parsed.root, findings),
            Err(error) => {
                let place = error.span.start as usize..error.span.end as usize;
                let at = range.start + place.start..range.start + place.end.max(place.start);
                let message = format!("{} is no XPath: {}", name(value), error.message);
                let span =
                    if at.is_empty() { value.source_span(range.clone()) } else { value.source_span(at) };
                let finding = findings.report(SYNTAX, span, message);
                // Braces around a whole value may also have been meant as text, and words are to be filled in.
                if value.place == Place::Value || is_prose(text) {
                    finding.severity(Severity::Warning);
                }
            }
        }
    }
}

/// Forms that are no XPath for a reason that has a finding of its own, and values that are no XPath at all.
fn is_of_another_rule(subject: &Subject<'_>, value: &Value<'_>, text: &str) -> bool {
    let expression = text.contains("${")
        || (value.place == Place::Path && subject.runtime >= Version::EXPRESSIONS && is_expression(text));
    let json = value.placed.element.value("evaluator").is_some_and(|evaluator| evaluator == "json");
    let path =
        matches!(value.placed.id(), "payloadFactory.arg" | "dataServiceCall.param" | "unit-test.actual")
            && (json || text.starts_with("$.") || text.starts_with("$[") || text == "$");
    // Connectors take JSON in braces as it is.
    let parameter = matches!(value.placed.role, Role::Parameter | Role::Operation);
    expression || path || parameter || value.placed.id() == "unit-test.actual"
}

/// Reports names in paths whose prefix is declared nowhere around the element.
fn prefixes(value: &Value<'_>, range: &Range<usize>, root: &Expr, findings: &mut Findings) {
    let mut names = Vec::new();
    collect(root, &mut names);
    let mut told: Vec<&str> = Vec::new();
    for found in names {
        let Some(prefix) = found.prefix.as_deref() else { continue };
        if told.contains(&prefix) || value.placed.element.lookup_namespace(prefix).is_some() {
            continue;
        }
        told.push(prefix);
        let span = found.span.start as usize..found.span.end as usize;
        let message =
            format!("The prefix {prefix} is declared nowhere here; the path fails when it is evaluated");
        findings.report(PREFIX, value.source_span(range.start + span.start..range.start + span.end), message);
    }
}

/// The names that paths test for.
fn collect<'x>(expr: &'x Expr, names: &mut Vec<&'x ast::Name>) {
    let mut pending = vec![expr];
    while let Some(expr) = pending.pop() {
        match &expr.kind {
            ast::ExprKind::Binary(_, left, right) => pending.extend([left.as_ref(), right.as_ref()]),
            ast::ExprKind::Negate(inner) => pending.push(inner),
            ast::ExprKind::Call(_, arguments) => pending.extend(arguments),
            ast::ExprKind::Path { steps, .. } => tests(steps, names, &mut pending),
            ast::ExprKind::Filter { primary, predicates, steps } => {
                pending.push(primary);
                pending.extend(predicates);
                tests(steps, names, &mut pending);
            }
            ast::ExprKind::Literal(_) | ast::ExprKind::Number(_) | ast::ExprKind::Variable(_) => {}
        }
    }
}

fn tests<'x>(steps: &'x [ast::Step], names: &mut Vec<&'x ast::Name>, pending: &mut Vec<&'x Expr>) {
    for step in steps {
        if let ast::Test::Name(name) = &step.test {
            names.push(name);
        }
        pending.extend(&step.predicates);
    }
}
