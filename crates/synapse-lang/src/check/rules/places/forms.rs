//! `${…}` with something around it that turns it into something else.

use crate::check::value::{Reading, Value};
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Class, Edit, Fix};
use crate::model::{Place, Version};

use super::super::structure::{name, outcome, severity};

const BLANK: u16 = 202;
const BRACES: u16 = 203;
const XPATH_ONLY: u16 = 207;
const REFUSED: u16 = 208;
const TOO_OLD: u16 = 220;

/// Blanks and braces around an expression, and expressions where none is evaluated.
pub(super) struct Forms;

impl Rule for Forms {
    fn codes(&self) -> &'static [u16] {
        &[BLANK, BRACES, XPATH_ONLY, REFUSED, TOO_OLD]
    }

    fn value(&self, subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        if subject.runtime < Version::EXPRESSIONS {
            too_old(subject, value, findings);
            return;
        }
        match &value.reading {
            Reading::XPath(range) if value.place == Place::Path => {
                let text = value.text().get(range.clone()).unwrap_or_default();
                let trimmed = text.trim();
                let span = value.source_span(range.clone());
                if trimmed != text && trimmed.starts_with("${") && trimmed.ends_with('}') {
                    let message = "A blank beside ${} makes this an XPath, and one that does not compile; \
                                   the artifact does not deploy";
                    let fix =
                        Fix::safe("Remove the blank", vec![Edit::replace(span, value.written(trimmed))]);
                    findings.report(BLANK, span, message).fix(fix);
                } else if let Some(inner) = braces(trimmed) {
                    let message = format!(
                        "{} takes ${{}} as it is; in further braces it is an XPath that does not compile",
                        name(value)
                    );
                    let fix =
                        Fix::safe("Remove the outer braces", vec![Edit::replace(span, value.written(inner))]);
                    findings.report(BRACES, span, message).fix(fix);
                }
            }
            Reading::Expression(range) => {
                let Some(refusal) = value.refuses else { return };
                let message = format!("{}; {}", refusal.reason.trim_end_matches('.'), outcome(refusal.class));
                // What does not even compile is the page of the places that take XPath only.
                let code = if refusal.class == Class::Deploy { XPATH_ONLY } else { REFUSED };
                let finding = findings.report(code, value.source_span(range.clone()), message);
                finding.class(refusal.class).severity(severity(refusal.class));
            }
            _ => {}
        }
    }
}

fn braces(text: &str) -> Option<&str> {
    text.strip_prefix('{')?.strip_suffix('}').filter(|inner| inner.starts_with("${") && inner.ends_with('}'))
}

/// Before expressions existed, `${…}` was an XPath like any other text.
fn too_old(subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
    let Reading::Expression(range) = &value.reading else { return };
    let message = format!(
        "Synapse expressions exist from {} on; {} compiles ${{…}} as XPath and fails",
        Version::EXPRESSIONS,
        subject.runtime
    );
    findings.report(TOO_OLD, value.source_span(range.clone()), message);
}
