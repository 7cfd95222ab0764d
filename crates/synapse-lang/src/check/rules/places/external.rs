//! Values from outside (`$SYSTEM:X`, `${configs.x}`), and expressions where an address stands.

use crate::check::value::Value;
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::model::Place;

use super::super::structure::name;
use super::placeholders;

const ADDRESS: u16 = 209;
const SUFFIX: u16 = 210;
const MIDDLE: u16 = 211;
const KEY: u16 = 212;

/// Addresses with expressions, and markers that are not where they must be.
pub(super) struct External;

impl Rule for External {
    fn codes(&self) -> &'static [u16] {
        &[ADDRESS, SUFFIX, MIDDLE, KEY]
    }

    fn value(&self, subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        if value.place != Place::Resolved || in_template(subject, value) {
            return;
        }
        let text = value.text();
        for (marker, close) in [("$SYSTEM:", ""), ("$FILE:", ""), ("${configs.", "}")] {
            let Some(at) = text.find(marker) else { continue };
            let start = at + marker.len();
            let rest = text.get(start..).unwrap_or_default();
            let key =
                rest.find(|one: char| !(one.is_ascii_alphanumeric() || one == '_')).unwrap_or(rest.len());
            let span = value.source_span(at..start + key);
            if at > 0 {
                let message = format!(
                    "{marker}…{close} is resolved only at the start of the value; here it stays as it is written. \
                     Put the whole value of {} into the variable",
                    name(value)
                );
                findings.report(MIDDLE, span, message);
                return;
            }
            let after = rest.get(key..).unwrap_or_default();
            let end = after.strip_prefix(close).filter(|_| key > 0);
            match end {
                Some("") => {}
                Some(suffix) if !close.is_empty() || suffix.starts_with(['/', ':', '?']) => {
                    let message = format!(
                        "The variable replaces the whole value, so {suffix:?} is dropped; put all of it into the variable"
                    );
                    let place = text.len() - suffix.len();
                    findings.report(SUFFIX, value.source_span(place..text.len()), message);
                }
                _ => wrong_key(value, start, rest, close, findings),
            }
            return;
        }
        expression(value, findings);
    }
}

/// A key with a character that keys cannot have.
fn wrong_key(value: &Value<'_>, start: usize, rest: &str, close: &str, findings: &mut Findings) {
    let end = if close.is_empty() { rest.len() } else { rest.find(close).unwrap_or(rest.len()) };
    let key = rest.get(..end).unwrap_or_default();
    let message = format!("{key:?} is not resolved: names of outside values have letters, digits and _ only");
    let better: String = key.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '_' }).collect();
    let span = value.source_span(start..start + end);
    let fix =
        Fix::review(format!("Call it {better} (and rename the variable)"), vec![Edit::replace(span, better)]);
    findings.report(KEY, span, message).fix(fix);
}

fn expression(value: &Value<'_>, findings: &mut Findings) {
    let found = placeholders(value.text());
    let Some(first) = found.first() else { return };
    let message = format!(
        "{} is not evaluated: set a property uri.var.NAME before and write {{uri.var.NAME}} in the uri-template",
        name(value)
    );
    findings.report(ADDRESS, value.source_span(first.start - 2..first.end + 1), message);
}

/// Endpoint templates fill in `$name` themselves.
fn in_template(subject: &Subject<'_>, value: &Value<'_>) -> bool {
    subject.tree.ancestors(&value.placed).any(|one| one.id() == "artifact.template")
}
