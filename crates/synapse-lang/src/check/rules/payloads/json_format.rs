//! JSON with holes: quotes where texts are filled in, none where numbers are, and JSON around them.

use std::collections::HashMap;

use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::expr;
use crate::json;
use crate::text::Span;

use super::format::{Filling, Format, Hole, Media};
use super::kinds::{self, Kind};

const UNQUOTED: u16 = 702;
const QUOTED: u16 = 703;
const NOTHING: u16 = 704;
const BROKEN: u16 = 707;

/// Formats that become broken JSON, or JSON of other kinds.
pub(super) struct JsonFormat;

impl Rule for JsonFormat {
    fn codes(&self) -> &'static [u16] {
        &[UNQUOTED, QUOTED, NOTHING, BROKEN]
    }

    fn is_local(&self) -> bool {
        true
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let variables = kinds::variables(subject);
        for placed in subject.tree.placed() {
            if let Some(format) = Format::of(placed).filter(|format| format.media == Media::Json) {
                self::format(&format, &variables, findings);
            }
        }
    }
}

fn format(format: &Format<'_>, variables: &HashMap<String, Kind>, findings: &mut Findings) {
    if format.element.has_element_children() || format.text().trim().is_empty() {
        return;
    }
    for hole in &format.holes {
        let Filling::Expression(range) = &hole.filling else { continue };
        let Some(parsed) = format.text().get(range.clone()).and_then(|text| expr::parse(text).ok()) else {
            continue;
        };
        judge(format, hole, kinds::of(&parsed.root, variables), findings);
    }
    broken(format, findings);
}

fn judge(format: &Format<'_>, hole: &Hole, kind: Kind, findings: &mut Findings) {
    let span = format.decoded.source_span(hole.range.clone());
    match kind {
        Kind::Text if !hole.quoted => {
            let message = "This gives text, which needs quotes around it in JSON; none are added";
            let edits = vec![Edit::insert(span.start, "\""), Edit::insert(span.end, "\"")];
            findings.report(UNQUOTED, span, message).fix(Fix::review("Add quotes", edits));
        }
        Kind::Null if !hole.quoted => {
            let message = "Null is filled in as nothing, which leaves broken JSON; write 'null' for the word";
            findings.report(NOTHING, span, message);
        }
        Kind::Scalar if is_whole_string(format.text(), hole) => {
            let message = "This gives a number or a boolean, and the quotes around it make a string of it";
            let around = Span::new(span.start - 1, span.end + 1);
            let source = format.element.document().source();
            // A quote that is written as a reference is left to people.
            let plain = around.of(source).starts_with('"') && around.of(source).ends_with('"');
            let edits = vec![
                Edit::remove(Span::new(around.start, span.start)),
                Edit::remove(Span::new(span.end, around.end)),
            ];
            let fix = plain.then(|| Fix::review("Remove the quotes", edits));
            findings.report(QUOTED, span, message).fix_if(fix);
        }
        _ => {}
    }
}

/// Whether a hole is all of a string that is a value.
fn is_whole_string(text: &str, hole: &Hole) -> bool {
    let before = text.get(..hole.range.start).unwrap_or_default();
    let after = text.get(hole.range.end..).unwrap_or_default();
    let value = before.strip_suffix('"').is_some_and(|rest| rest.trim_end().ends_with([':', '[', ',']));
    let name = after.strip_prefix('"').is_some_and(|rest| rest.trim_start().starts_with(':'));
    hole.quoted && value && after.starts_with('"') && !name
}

/// Reports what is no JSON whatever fills the holes.
fn broken(format: &Format<'_>, findings: &mut Findings) {
    let Some(filled) = filled(format.text(), &format.holes) else { return };
    let Err(error) = json::parse(&filled) else { return };
    let text = format.text();
    let at = error.at.min(text.len());
    let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let end = text.get(at..).and_then(|rest| rest.chars().next()).map_or(at, |one| at + one.len_utf8());
    let span = if end > at { format.decoded.source_span(at..end) } else { format.element.name_span() };
    findings.report(BROKEN, span, format!("This is no JSON: {}", error.kind));
}

/// The text with every hole filled by something of the same length; nothing where a hole may bring a piece of JSON
/// that is no value, because then nobody can tell.
fn filled(text: &str, holes: &[Hole]) -> Option<String> {
    let mut filled = text.to_owned();
    for hole in holes {
        let length = hole.range.len();
        if hole.quoted {
            filled.replace_range(hole.range.clone(), &"x".repeat(length));
            continue;
        }
        let after = text.get(hole.range.end..).and_then(|rest| rest.chars().next());
        if !stands_for_value(filled.get(..hole.range.start)?)
            || after.is_some_and(|one| one.is_alphanumeric() || "$.\"'_-".contains(one))
        {
            return None;
        }
        filled.replace_range(hole.range.clone(), &format!("0{}", " ".repeat(length.saturating_sub(1))));
    }
    Some(filled)
}

/// Whether what follows a piece of JSON is a value: after a colon, or in an array.
fn stands_for_value(before: &str) -> bool {
    let trimmed = before.trim_end();
    match trimmed.chars().next_back() {
        None | Some(':' | '[') => true,
        Some(',') => innermost(trimmed) == Some('['),
        _ => false,
    }
}

/// The bracket that is open at the end of a piece of JSON.
fn innermost(before: &str) -> Option<char> {
    let mut open = Vec::new();
    let mut quoted = false;
    let mut escaped = false;
    for one in before.chars() {
        match one {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' | '[' => open.push(one),
            '}' | ']' => {
                open.pop();
            }
            _ => {}
        }
    }
    open.last().copied()
}
