//! Times that were probably meant in another unit.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix, Severity};
use crate::text::Span;

const UNIT: u16 = 510;

/// Seconds that look like milliseconds, and the other way round.
pub(super) struct Units;

impl Rule for Units {
    fn codes(&self) -> &'static [u16] {
        &[UNIT]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["completeCondition", "aggregation", "trigger", "cache", "duration"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        match placed.id() {
            "aggregate.completeCondition" => seconds(placed, "timeout", Severity::Warning, findings),
            "task.trigger" => seconds(placed, "interval", Severity::Info, findings),
            "cache" => seconds(placed, "timeout", Severity::Info, findings),
            "scatter-gather.aggregation" => {
                let Some(timeout) = placed.element.attribute("timeout") else { return };
                milliseconds(&timeout.value(), timeout.value_span(), Severity::Warning, findings);
            }
            "endpoint.duration" => {
                let Some(span) = placed.element.content_span() else { return };
                milliseconds(&placed.element.text(), span, Severity::Info, findings);
            }
            _ => {}
        }
    }
}

/// A number of seconds that is whole in milliseconds and odd in hours: 5000, 30000.
fn seconds(placed: &Placed<'_>, attribute: &str, severity: Severity, findings: &mut Findings) {
    let Some(attribute) = placed.element.attribute(attribute) else { return };
    let text = attribute.value();
    let Ok(number) = text.trim().parse::<u64>() else { return };
    let least = if severity == Severity::Warning { 1000 } else { 5000 };
    if number < least || !number.is_multiple_of(1000) || number.is_multiple_of(3600) {
        return;
    }
    let fewer = number / 1000;
    let message = format!(
        "{} counts seconds: {number} are {}; were milliseconds meant?",
        attribute.name(),
        in_words(number)
    );
    let fix = Fix::review(
        format!("Make it {fewer}"),
        vec![Edit::replace(attribute.value_span(), fewer.to_string())],
    );
    findings.report(UNIT, attribute.value_span(), message).severity(severity).fix(fix);
}

/// A number of milliseconds in which nothing is answered.
fn milliseconds(text: &str, span: Span, severity: Severity, findings: &mut Findings) {
    let Ok(number) = text.trim().parse::<u64>() else { return };
    if number == 0 || number > 120 {
        return;
    }
    let more = number * 1000;
    let message =
        format!("This counts milliseconds: {number} are hardly enough for an answer; were seconds meant?");
    let fix = Fix::review(format!("Make it {more}"), vec![Edit::replace(span, more.to_string())]);
    findings.report(UNIT, span, message).severity(severity).fix(fix);
}

fn in_words(seconds: u64) -> String {
    match seconds {
        0..7200 => format!("{} minutes", seconds / 60),
        7200..172_800 => format!("{} hours", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}
