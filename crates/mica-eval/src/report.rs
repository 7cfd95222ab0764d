//! What came of cases: data, and as people read it.

use std::fmt::Write as _;

use mica_ai::Usage;
use serde::{Deserialize, Serialize};

use crate::case::Case;

/// The version of the JSON report.
pub const VERSION: u32 = 1;

/// What came of a suite.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The version of this form.
    pub version: u32,
    /// How long it took, from the first case to the last.
    #[serde(default)]
    pub seconds: f64,
    /// What came of each case, by name.
    pub cases: Vec<CaseReport>,
}

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All that must be so is.
    Passed,
    /// Something is not.
    Failed,
    /// It could not be played to the end, or not be judged.
    Error,
    /// It was not played.
    Skipped,
}

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseReport {
    /// Its name.
    pub name: String,
    /// What it shows.
    pub about: String,
    /// Where it was played.
    pub product: String,
    /// Which version of it.
    pub digest: String,
    /// How it ended.
    pub status: Status,
    /// Why it could not be played, or was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// How long it took.
    pub seconds: f64,
    /// How often the model was asked.
    pub requests: usize,
    /// What it took.
    pub usage: Usage,
    /// Names the events of the case: two runs with the same ones have the same name. Absent where a product tells none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
    /// What people should know about the case itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What was looked at.
    pub checks: Vec<Check>,
}

impl CaseReport {
    /// Of a case that was not played yet.
    pub(crate) fn of(case: &Case) -> Self {
        let mut notes = Vec::new();
        if !case.expects_something() {
            let note = "it expects nothing but that its runs complete: say what must come of it with [step.expect] or [after]";
            notes.push(note.to_owned());
        }
        Self {
            name: case.name.clone(),
            about: case.file.about.clone(),
            product: case.file.product.clone(),
            digest: case.digest.clone(),
            status: Status::Error,
            problem: None,
            seconds: 0.0,
            requests: 0,
            usage: Usage::default(),
            journal: None,
            notes,
            checks: Vec::new(),
        }
    }
}

/// One thing that must be so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The step, or `the end`.
    pub at: String,
    /// What was looked at.
    pub what: String,
    /// Whether it is so.
    pub passed: bool,
    /// Whether a model said so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub judged: bool,
    /// What was expected.
    pub expected: String,
    /// What was there.
    pub found: String,
}

impl Report {
    /// A report of cases, by name.
    pub fn new(mut cases: Vec<CaseReport>) -> Self {
        cases.sort_by(|one, other| one.name.cmp(&other.name));
        Self { version: VERSION, seconds: 0.0, cases }
    }

    /// The same, with how long all of it took.
    #[must_use]
    pub fn taking(mut self, seconds: f64) -> Self {
        self.seconds = seconds;
        self
    }

    /// How many ended so.
    pub fn count(&self, status: Status) -> usize {
        self.cases.iter().filter(|case| case.status == status).count()
    }

    /// Whether nothing failed.
    pub fn is_fine(&self) -> bool {
        self.cases.iter().all(|case| matches!(case.status, Status::Passed | Status::Skipped))
    }

    /// For people. Cases that passed take a row; the others say what was expected and what was there.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for case in &self.cases {
            let word = match case.status {
                Status::Passed => "ok   ",
                Status::Failed => "FAIL ",
                Status::Error => "ERROR",
                Status::Skipped => "skip ",
            };
            let _ = writeln!(text, "{word} {} ({:.1} s)", in_a_row(&case.name), case.seconds);
            for note in &case.notes {
                let _ = writeln!(text, "      note: {}", visible(note));
            }
            if case.status == Status::Passed {
                continue;
            }
            let _ = writeln!(text, "      {}", visible(&case.about));
            if let Some(problem) = &case.problem {
                let _ = writeln!(text, "{}", indented(&visible(problem), "      "));
            }
            for check in case.checks.iter().filter(|check| !check.passed) {
                let judged = if check.judged { " (judged)" } else { "" };
                let _ = writeln!(text, "      {}: {}{judged}", visible(&check.at), visible(&check.what));
                text.push_str(&sides(&visible(&check.expected), &visible(&check.found)));
            }
        }
        let seconds: f64 = self.cases.iter().map(|case| case.seconds).sum();
        let counts = [
            (self.count(Status::Passed), "passed"),
            (self.count(Status::Failed), "failed"),
            (self.count(Status::Error), "could not be played"),
            (self.count(Status::Skipped), "left out"),
        ];
        let counts: Vec<String> = counts
            .iter()
            .enumerate()
            .filter(|(index, (count, _))| *index < 2 || *count > 0)
            .map(|(_, (count, word))| format!("{count} {word}"))
            .collect();
        let took = self.seconds;
        let _ = writeln!(text, "{} in {took:.1} s ({seconds:.1} s of playing)", counts.join(", "));
        text
    }
}

/// A text in which nothing moves the cursor, paints, or turns the direction of reading: such characters are written as
/// what they are. Rows and tabs stay.
pub fn visible(text: &str) -> String {
    let hidden = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
            || matches!(c, '\u{2028}' | '\u{2029}')
    };
    if !text.contains(hidden) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if hidden(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// The same for what stands in a row: it stays one.
pub fn in_a_row(text: &str) -> String {
    visible(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// Rows of a text that are shown at most: what is longer is in the JSON report.
const ROWS: usize = 24;

/// What was expected and what was there: one below the other, or as a difference where both have several rows.
fn sides(expected: &str, found: &str) -> String {
    if expected.lines().count() > 1 && found.lines().count() > 1 {
        let diff = similar::TextDiff::from_lines(expected, found);
        let diff = diff.unified_diff().context_radius(2).header("expected", "found").to_string();
        return format!("{}\n", indented(&shortened(&diff), "        "));
    }
    let side = |word: &str, text: &str| match text.lines().count() {
        0 => format!("        {word} nothing\n"),
        1 => format!("        {word} {}\n", text.trim_end()),
        _ => format!("        {word}\n{}\n", indented(&shortened(text), "          ")),
    };
    format!("{}{}", side("expected:", expected), side("found:   ", found))
}

fn shortened(text: &str) -> String {
    let rows = text.lines().count();
    let mut short: String = text.lines().take(ROWS).collect::<Vec<_>>().join("\n");
    if rows > ROWS {
        let _ = write!(short, "\n… {} more rows", rows - ROWS);
    }
    short
}

fn indented(text: &str, by: &str) -> String {
    text.lines().map(|line| format!("{by}{line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
