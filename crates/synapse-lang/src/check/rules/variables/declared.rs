//! The declared type of a variable, held against what its expression gives.

use super::super::expressions::surroundings::Surroundings;
use crate::check::value::{Reading, Value};
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::expr;
use crate::expr::check::{Env, Fit, Kind, kind_of};
use crate::model::Version;

const TYPE: u16 = 653;

/// The types, those that keep the value as it is first.
const TYPES: [&str; 6] = ["INTEGER", "LONG", "DOUBLE", "BOOLEAN", "JSON", "STRING"];

/// Types that no value of the expression fits.
pub(super) struct Declared;

impl Rule for Declared {
    fn codes(&self) -> &'static [u16] {
        &[TYPE]
    }

    fn is_local(&self) -> bool {
        true
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        if subject.runtime < Version::EXPRESSIONS {
            return;
        }
        let typed = |value: &&Value<'_>| {
            value.is("variable", "expression") && value.placed.element.attribute("type").is_some()
        };
        let mut surroundings = Surroundings::new(subject);
        for value in subject.values.iter().filter(typed) {
            surroundings.reach(&value.placed);
            judge(value, &surroundings.env(value), findings);
        }
    }
}

fn judge(value: &Value<'_>, env: &Env, findings: &mut Findings) {
    let Reading::Expression(range) = &value.reading else { return };
    let Some(declared) = value.placed.element.attribute("type") else { return };
    let Ok(expression) = expr::parse(value.text().get(range.clone()).unwrap_or_default()) else { return };
    let kind = kind_of(&expression, env);
    // What always fails is told where it stands.
    if kind.is_never() || kind.is_open() || Fit::of(kind, &declared.value()) != Some(Fit::Never) {
        return;
    }
    let message =
        format!("The expression never gives a value of type {}, so the step fails", declared.value());
    let fix = fitting(kind).map(|fitting| {
        Fix::review(format!("Make it {fitting}"), vec![Edit::replace(declared.value_span(), fitting)])
    });
    findings.report(TYPE, declared.value_span(), message).fix_if(fix);
}

/// The first type that takes every value of a kind.
fn fitting(kind: Kind) -> Option<&'static str> {
    TYPES.into_iter().find(|name| Fit::of(kind, name) == Some(Fit::Always))
}
