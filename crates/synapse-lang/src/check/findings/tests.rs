//! What is kept of a document with more to say than is kept.

use super::*;
use crate::check::{Setting, check};
use crate::syntax::Document;

const ERROR: u16 = 1;

/// Findings of a severity, one at each of the places.
fn report(findings: &mut Findings, severity: Severity, places: std::ops::Range<u32>) {
    for at in places {
        findings.report(ERROR, Span::at(at), "x").severity(severity);
    }
}

fn count(found: &[Diagnostic], severity: Severity) -> usize {
    found.iter().filter(|one| one.severity == severity).count()
}

#[test]
fn errors_and_warnings_push_hints_out() {
    let mut findings = Findings::default();
    report(&mut findings, Severity::Hint, 0..75_000);
    assert!(findings.len() <= 2 * Findings::LIMIT);
    report(&mut findings, Severity::Warning, 80_000..80_003);
    report(&mut findings, Severity::Error, 90_000..90_001);
    let found = findings.finish();
    assert_eq!(count(&found, Severity::Error), 1);
    assert_eq!(count(&found, Severity::Warning), 3);
    assert_eq!(count(&found, Severity::Hint), Findings::LIMIT - 4);
    let first = found.first().unwrap();
    assert_eq!((first.severity, first.span), (Severity::Info, Span::at(0)));
    assert_eq!(
        first.message,
        "Not everything is listed: 65004 hints more are left out, the least severe; repair what is listed and check again"
    );
}

#[test]
fn nothing_is_said_when_nothing_is_left_out() {
    let mut findings = Findings::default();
    // The second half is told twice.
    report(&mut findings, Severity::Hint, 0..10_000);
    report(&mut findings, Severity::Hint, 5_000..10_000);
    let found = findings.finish();
    assert_eq!((found.len(), count(&found, Severity::Hint)), (Findings::LIMIT, Findings::LIMIT));
}

/// Documents with a mistake behind more hints than are kept, in one piece and resource by resource.
#[test]
fn a_mistake_behind_many_hints_is_found() {
    let hints = "<x.init/>".repeat(12_000);
    let broken = "<variable name=\"a\" expression=\"${1 +}\"/>";
    let xmlns = "xmlns=\"http://ws.apache.org/ns/synapse\"";
    let resource = |at: usize, steps: &str| {
        format!(
            "<resource methods=\"GET\" uri-template=\"/{at}\"><inSequence>{steps}</inSequence></resource>"
        )
    };
    for text in [
        format!("<sequence {xmlns} name=\"a\">{hints}{broken}</sequence>"),
        format!(
            "<api {xmlns} name=\"a\" context=\"/a\">{}{}{}</api>",
            resource(1, &hints),
            resource(2, &hints),
            resource(3, broken)
        ),
    ] {
        let found = check(&Document::parse(text), Setting::default());
        assert_eq!(count(&found, Severity::Error), 1);
        assert_eq!(found.len(), Findings::LIMIT + 1);
        assert!(found.first().unwrap().message.starts_with("Not everything is listed: "));
    }
}
