//! Mock services: paths with a slash, methods that exist, and one answer for each request.

use std::collections::HashSet;

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::near::nearest;
use crate::syntax::Element;
use crate::text::Span;

const PATH: u16 = 1023;
const METHOD: u16 = 1024;
const TWICE: u16 = 1025;

const METHODS: [&str; 7] = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"];

/// Mocks that answer something else than asked.
pub(super) struct Mocks;

impl Rule for Mocks {
    fn codes(&self) -> &'static [u16] {
        &[PATH, METHOD, TWICE]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["context", "sub-context", "method", "request-method", "resources"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        match placed.id() {
            "mock-service.context" | "mock-service.sub-context" => path(placed.element, findings),
            "mock-service.method" | "unit-test.request-method" => method(placed.element, findings),
            "mock-service.resources" => twice(placed.element, findings),
            _ => {}
        }
    }
}

/// The text of an element and where it is written, without blanks.
fn text(element: Element<'_>) -> Option<(String, Span)> {
    let span = element.content_span()?;
    let raw = span.of(element.document().source());
    let lead = u32::try_from(raw.len() - raw.trim_start().len()).ok()?;
    let start = span.start + lead;
    let end = start + u32::try_from(raw.trim().len()).ok()?;
    let text = element.text().trim().to_owned();
    (!text.is_empty() && !text.contains('$')).then(|| (text, Span::new(start, end)))
}

fn path(element: Element<'_>, findings: &mut Findings) {
    let Some((path, span)) = text(element) else { return };
    if !path.starts_with('/') {
        let message = format!("The path {path} begins without /, so no request has it");
        let fix = Fix::safe("Begin it with /", vec![Edit::insert(span.start, "/")]);
        findings.report(PATH, span, message).fix(fix);
    }
}

fn method(element: Element<'_>, findings: &mut Findings) {
    let Some((method, span)) = text(element) else { return };
    if METHODS.contains(&method.to_ascii_uppercase().as_str()) {
        return;
    }
    let message = format!("{method} is no method of HTTP");
    let fix = nearest(&method, METHODS)
        .map(|meant| Fix::review(format!("Change it to {meant}"), vec![Edit::replace(span, meant)]));
    findings.report(METHOD, span, message).fix_if(fix);
}

fn twice(resources: Element<'_>, findings: &mut Findings) {
    let mut seen: HashSet<(Option<String>, Option<String>)> = HashSet::new();
    for resource in resources.elements().filter(|one| one.local() == "resource") {
        // What a request must have besides path and method tells resources apart.
        if resource.first("request").is_some_and(|request| request.has_element_children()) {
            continue;
        }
        let part = |name: &str| resource.first(name).map(|one| one.text().trim().to_owned());
        let key = (part("sub-context"), part("method"));
        if seen.contains(&key) {
            let message = "Another resource answers the same path and method; only one of them is used";
            findings.report(TWICE, resource.name_span(), message);
        } else {
            seen.insert(key);
        }
    }
}
