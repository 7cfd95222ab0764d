//! What a check found, as the model reads it and as interfaces show it.

use std::fmt::Write as _;

use serde_json::{Value, json};
use synapse_lang::diagnostic::{Diagnostic, Safety, Severity};
use synapse_lang::text::{Lines, Unit};

use super::Checked;

/// Findings of one severity that the model is shown of one file. Whoever has more begins with the first ones anyway.
const MOST: usize = 15;
/// Hints that it is shown: they are advice, and cost as much to read as errors.
const HINTS: usize = 3;

/// How many findings there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// What will not deploy or will fail.
    pub errors: usize,
    /// What is likely not meant.
    pub warnings: usize,
    /// Advice.
    pub hints: usize,
}

impl Counts {
    /// Those of some findings.
    #[must_use]
    pub fn of<'a>(found: impl IntoIterator<Item = &'a Diagnostic>) -> Self {
        let mut counts = Self::default();
        for one in found {
            match one.severity {
                Severity::Error => counts.errors += 1,
                Severity::Warning => counts.warnings += 1,
                Severity::Info | Severity::Hint => counts.hints += 1,
            }
        }
        counts
    }

    /// In words: `2 errors, 1 warning`; `nothing wrong` when there are none.
    #[must_use]
    pub fn words(&self) -> String {
        let parts = [(self.errors, "error"), (self.warnings, "warning"), (self.hints, "hint")];
        let said: Vec<String> = parts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}{}", if count == 1 { "" } else { "s" }))
            .collect();
        if said.is_empty() { "nothing wrong".to_owned() } else { said.join(", ") }
    }
}

/// What checks found.
pub struct Report<'a> {
    /// The files.
    pub files: &'a [Checked],
    /// Whether the model can apply repairs by name.
    pub can_apply: bool,
}

impl Report<'_> {
    /// How many findings there are in all.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts::of(self.files.iter().flat_map(|file| &file.found))
    }

    /// As the model reads it. Files with nothing wrong take one line together.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let (clean, found): (Vec<_>, Vec<_>) =
            self.files.iter().partition(|file| file.found.is_empty() && file.broken.is_empty());
        for file in found {
            self.file(file, &mut text);
        }
        match clean.as_slice() {
            [] => {}
            [one] => line(&mut text, &format!("Checked {}{}: nothing wrong.", one.shown, runtime(one))),
            [first, ..] => line(
                &mut text,
                &format!(
                    "Checked{}, nothing wrong: {}.",
                    runtime(first),
                    listed(clean.iter().map(|one| &*one.shown))
                ),
            ),
        }
        text.truncate(text.trim_end().len());
        text
    }

    fn file(&self, file: &Checked, text: &mut String) {
        let counts = Counts::of(&file.found);
        line(text, &format!("Checked {}{}: {}.", file.shown, runtime(file), counts.words()));
        let lines = Lines::of(&file.text);
        for (severity, most) in [(Severity::Error, MOST), (Severity::Warning, MOST), (Severity::Info, HINTS)]
        {
            let level = |one: &Diagnostic| match one.severity {
                Severity::Hint => Severity::Info,
                other => other,
            };
            let those: Vec<_> = file.found.iter().filter(|one| level(one) == severity).collect();
            for one in those.iter().take(most) {
                let at = lines.position(&file.text, one.span.start, Unit::Scalar);
                let (at, column) = (at.line + 1, at.column + 1);
                // Writing to a string cannot fail.
                let _ = writeln!(
                    text,
                    "- {} {} at {at}:{column}: {}",
                    one.severity.word(),
                    one.code,
                    one.message
                );
                for fix in one.fixes.iter().take(2).filter(|_| self.can_apply) {
                    let _ = writeln!(text, "  repair{}: {}", safety(fix.safety), fix.title);
                }
            }
            if those.len() > most {
                let _ = writeln!(text, "- and {} more of these", those.len() - most);
            }
        }
        for one in file.broken.iter().take(MOST) {
            let _ = writeln!(
                text,
                "- error: {}:{} uses {:?}, which this change took away",
                one.path, one.line, one.name
            );
        }
    }

    /// As data, for interfaces.
    #[must_use]
    pub fn checks(&self) -> Value {
        self.files.iter().map(checks).collect()
    }
}

fn checks(file: &Checked) -> Value {
    let lines = Lines::of(&file.text);
    let counts = Counts::of(&file.found);
    let found: Vec<Value> = file
        .found
        .iter()
        .map(|one| {
            let start = lines.position(&file.text, one.span.start, Unit::Scalar);
            let end = lines.position(&file.text, one.span.end, Unit::Scalar);
            let fixes: Vec<Value> = one
                .fixes
                .iter()
                .map(|fix| json!({ "title": fix.title, "safe": fix.safety == Safety::Safe }))
                .collect();
            json!({
                "severity": one.severity.word(), "code": one.code.to_string(), "message": one.message,
                "line": start.line + 1, "column": start.column + 1,
                "end_line": end.line + 1, "end_column": end.column + 1, "fixes": fixes,
            })
        })
        .collect();
    let broken: Vec<Value> = file
        .broken
        .iter()
        .map(|one| json!({ "path": one.path, "line": one.line, "name": one.name }))
        .collect();
    json!({
        "path": file.shown, "errors": counts.errors, "warnings": counts.warnings, "hints": counts.hints,
        "findings": found, "broken": broken,
    })
}

fn line(text: &mut String, said: &str) {
    text.push_str(said);
    text.push('\n');
}

fn runtime(file: &Checked) -> String {
    file.runtime.map_or_else(String::new, |version| format!(" (MI {version})"))
}

/// Names, the first ten of them.
fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let count = names.len();
    let shown: Vec<&str> = names.take(10).collect();
    let more = count - shown.len();
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

fn safety(safety: Safety) -> &'static str {
    match safety {
        Safety::Safe => " (safe)",
        Safety::Review => "",
    }
}
