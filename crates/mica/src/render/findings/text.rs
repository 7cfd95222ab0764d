//! Findings for people: where, what, why, what the runtime does, and how to repair it.

use std::fmt::Write as _;
use std::time::Duration;

use synapse_lang::diagnostic::{Class, Diagnostic, Edit, Fix, Safety};
use synapse_lang::text::{Lines, Unit};

use super::excerpt::{excerpt, style};
use super::{Report, many};
use crate::render::paint::{Paint, Style, clean};

/// All findings, and a last row that sums up.
pub fn print(report: &Report<'_>, paint: Paint) -> String {
    let mut out = String::new();
    for file in report.files {
        let mut found = report.shown(file).peekable();
        if found.peek().is_none() {
            continue;
        }
        let lines = Lines::of(&file.text);
        for one in found {
            finding(&mut out, &file.shown, &file.text, &lines, one, paint, Repairs::ByCommand);
            out.push('\n');
        }
    }
    out.push_str(&summary(report, paint));
    out
}

/// How a reader can repair what was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repairs {
    /// It is in a file: there is a command for it.
    ByCommand,
    /// It was typed: the repaired text is shown.
    ByHand,
}

/// One finding.
pub fn finding(
    out: &mut String,
    path: &str,
    text: &str,
    lines: &Lines,
    one: &Diagnostic,
    paint: Paint,
    repairs: Repairs,
) {
    let at = lines.position(text, one.span.start, Unit::Utf16);
    let place = format!("{}:{}:{}", clean(path), at.line + 1, at.column + 1);
    let severity = paint.paint(style(one.severity), one.severity.word());
    let _ = writeln!(
        out,
        "{}: {severity} {}: {}",
        paint.paint(Style::Bold, &place),
        paint.paint(Style::Bold, &one.code.to_string()),
        clean(&one.message)
    );
    out.push_str(&excerpt(text, lines, one.span, one.severity, paint));
    if let Some(words) = at_run_time(one.class) {
        let _ = writeln!(out, "   {} {words}", paint.paint(Style::Dim, "at run time:"));
    }
    let Some(fix) = one.fixes.first() else { return };
    let label = paint.paint(Style::Green, "fix:");
    let _ = match repairs {
        Repairs::ByCommand => {
            writeln!(out, "   {label} {} {}", clean(&fix.title), paint.paint(Style::Dim, how(fix)))
        }
        Repairs::ByHand => {
            let edits: Vec<&Edit> = fix.edits.iter().collect();
            let after = synapse_lang::fix::apply(text, &edits).unwrap_or_default();
            writeln!(
                out,
                "   {label} {}\n   {} {}",
                clean(&fix.title),
                paint.paint(Style::Green, "try:"),
                clean(&after)
            )
        }
    };
}

/// What the runtime does, in words; nothing where it does what was meant.
pub fn at_run_time(class: Class) -> Option<&'static str> {
    Some(match class {
        Class::Deploy => "the artifact does not deploy",
        Class::Fault => "an exception; the fault sequence takes over",
        Class::Crash => "an exception that the expression engine does not catch",
        Class::Empty => "the value is empty, and the flow goes on",
        Class::Ignored => "nobody looks at it",
        Class::Surprise => "it runs, but does something else than it seems to say",
        Class::Style => return None,
    })
}

/// The command that applies a repair.
fn how(fix: &Fix) -> &'static str {
    match fix.safety {
        Safety::Safe => "(mica fix)",
        Safety::Review => "(mica fix --unsafe)",
    }
}

fn summary(report: &Report<'_>, paint: Paint) -> String {
    let counts = report.counts();
    let mut out = match counts.words() {
        Some(words) => {
            let style = if counts.errors > 0 { Style::Red } else { Style::Yellow };
            format!(
                "{} in {} of {}",
                paint.paint(style, &words),
                counts.files,
                many(report.files.len(), "file")
            )
        }
        None => {
            format!("{} in {}", paint.paint(Style::Green, "No findings"), many(report.files.len(), "file"))
        }
    };
    let _ = write!(out, ", {}.", took(report.took));
    let best = || report.files.iter().flat_map(|file| report.shown(file)).filter_map(|one| one.fixes.first());
    let safe = best().filter(|fix| fix.safety == Safety::Safe).count();
    let review = best().count() - safe;
    let mut repairs = Vec::new();
    if safe > 0 {
        repairs.push(format!("`mica fix` repairs {safe}"));
    }
    if review > 0 {
        repairs.push(format!("`mica fix --unsafe` repairs {review}{}", if safe > 0 { " more" } else { "" }));
    }
    if !repairs.is_empty() {
        let _ = write!(out, " {}.", repairs.join(", "));
    }
    if counts.hidden > 0 {
        let _ = write!(out, " {} below --severity {}.", counts.hidden, report.least.word());
    }
    out.push('\n');
    if let Some(first) = report.files.iter().flat_map(|file| report.shown(file)).map(|one| one.code).min() {
        let _ = writeln!(
            out,
            "{}",
            paint.paint(Style::Dim, &format!("`mica explain {first}` says more about a code."))
        );
    }
    out
}

/// A duration for people.
pub fn took(time: Duration) -> String {
    if time.as_millis() < 1000 {
        format!("{} ms", time.as_millis())
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}
