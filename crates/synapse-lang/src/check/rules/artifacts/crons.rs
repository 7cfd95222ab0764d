//! Cron expressions, wherever one is read.

use crate::check::value::{Reading, Value};
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Edit, Fix, Severity};
use crate::model::ValueType;

use super::super::structure::{is_filled_in, is_prose, name};
use super::quartz;

const CRON: u16 = 810;

/// Schedules that Quartz does not take.
pub(super) struct Crons;

impl Rule for Crons {
    fn codes(&self) -> &'static [u16] {
        &[CRON]
    }

    fn value(&self, subject: &Subject<'_>, value: &Value<'_>, findings: &mut Findings) {
        let text = value.text();
        let judged = *value.kind == ValueType::Cron && value.reading == Reading::Literal;
        if !judged || text.trim().is_empty() || text.contains(['$', '{']) || is_filled_in(subject, value) {
            return;
        }
        let Some(problem) = quartz::problem(text) else { return };
        let message = format!("{} is no cron expression: {problem}", name(value));
        let fix = quartz::with_question_mark(text).map(|better| {
            let edit = Edit::replace(value.span(), value.written(&better));
            Fix::review(format!("Write {better}"), vec![edit])
        });
        let finding = findings.report(CRON, value.span(), message).fix_if(fix);
        if is_prose(text) {
            finding.severity(Severity::Warning);
        }
    }
}
