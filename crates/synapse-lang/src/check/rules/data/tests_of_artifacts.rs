//! Unit tests: files that exist, and questions that the framework can answer.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::near::nearest;
use crate::text::Span;

const FILE: u16 = 1020;
const ACTUAL: u16 = 1021;

/// Tests of files that are not there, and assertions about nothing.
pub(super) struct Tests;

impl Rule for Tests {
    fn codes(&self) -> &'static [u16] {
        &[FILE, ACTUAL]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["artifact", "connector-resource", "mock-service", "actual"])
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        match placed.id() {
            "unit-test.artifact" | "unit-test.connector-resource" | "unit-test.mock-service" => {
                file(subject, placed, findings);
            }
            "unit-test.actual" => actual(placed, findings),
            _ => {}
        }
    }
}

fn file(subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
    let (Some(project), Some(span)) = (subject.project, placed.element.content_span()) else { return };
    let text = placed.element.text();
    let path = text.trim();
    let plain = path.trim_start_matches("./").trim_start_matches('/').replace('\\', "/");
    let inline = placed.element.has_element_children() || path.is_empty() || path.contains('$');
    // A connector may be named as in the build file, artifact and version; then it comes from a repository.
    let by_name =
        placed.id() == "unit-test.connector-resource" && !plain.contains('/') && !plain.ends_with(".zip");
    if inline || by_name || project.has_file(&plain) {
        return;
    }
    // The same name in another folder is the likeliest slip.
    let name = plain.rsplit('/').next().unwrap_or_default();
    let paths = || project.files().map(|(path, _)| path);
    let same = paths().find(|path| path.rsplit('/').next() == Some(name));
    let meant = same.or_else(|| nearest(&plain, paths()));
    let message = format!("There is no file {plain} in this project");
    let fix = meant.map(|meant| {
        Fix::review(format!("Change it to {meant}"), vec![Edit::replace(trimmed(subject, span), meant)])
    });
    findings.report(FILE, trimmed(subject, span), message).fix_if(fix);
}

fn actual(placed: &Placed<'_>, findings: &mut Findings) {
    const WORDS: [&str; 3] = ["$body", "$statusCode", "$httpVersion"];
    const SCOPES: [&str; 3] = ["$ctx:", "$axis2:", "$trp:"];
    let text = placed.element.text();
    let text = text.trim();
    let known = WORDS.contains(&text)
        || SCOPES.iter().any(|scope| text.strip_prefix(scope).is_some_and(|name| !name.is_empty()))
        || text.starts_with("${")
        || text.starts_with("json-eval(")
        || text.starts_with("$body");
    if known || text.is_empty() {
        return;
    }
    let span = placed.element.content_span().unwrap_or_else(|| placed.element.name_span());
    let message = format!(
        "{text:?} is nothing that a test can look at: $body, $ctx:name, $axis2:name, $trp:name, $statusCode, \
         $httpVersion or an expression"
    );
    let fix = nearest(text, WORDS)
        .map(|meant| Fix::review(format!("Change it to {meant}"), vec![Edit::replace(span, meant)]));
    findings.report(ACTUAL, span, message).fix_if(fix);
}

/// A place without the blanks around its text.
fn trimmed(subject: &Subject<'_>, span: Span) -> Span {
    let text = span.of(subject.document.source());
    let lead = u32::try_from(text.len() - text.trim_start().len()).unwrap_or(0);
    let length = u32::try_from(text.trim().len()).unwrap_or(0);
    Span::new(span.start + lead, span.start + lead + length)
}
