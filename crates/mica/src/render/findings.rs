//! What was found in files, for people and for programs.

mod excerpt;
pub mod github;
pub mod json;
pub mod sarif;
pub mod text;

use std::time::Duration;

use synapse_lang::diagnostic::{Diagnostic, Severity};
use synapse_lang::text::{Lines, Span, Unit};

use crate::sources::Checked;

pub use excerpt::excerpt;

/// What a check found.
pub struct Report<'a> {
    /// All files that were checked, clean ones too.
    pub files: &'a [Checked],
    /// The least severity that is shown.
    pub least: Severity,
    /// How long it took.
    pub took: Duration,
}

impl Report<'_> {
    /// The findings of a file that are shown.
    pub fn shown<'f>(&self, file: &'f Checked) -> impl Iterator<Item = &'f Diagnostic> + use<'f> {
        let least = self.least;
        file.found.iter().filter(move |one| one.severity >= least)
    }

    /// How many findings are shown.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for file in self.files {
            let mut any = false;
            for one in self.shown(file) {
                counts.add(one.severity);
                any = true;
            }
            counts.files += usize::from(any);
            counts.hidden += file.found.iter().filter(|one| one.severity < self.least).count();
        }
        counts
    }
}

/// How many findings there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files with findings.
    pub files: usize,
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// All that is less.
    pub hints: usize,
    /// Findings that are not shown.
    pub hidden: usize,
}

impl Counts {
    /// Counts one more.
    pub fn add(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Info | Severity::Hint => self.hints += 1,
        }
    }

    /// In words: `2 errors, 1 warning`; nothing when there are none.
    pub fn words(&self) -> Option<String> {
        let parts = [(self.errors, "error"), (self.warnings, "warning"), (self.hints, "hint")];
        let said: Vec<String> = parts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| many(count, word))
            .collect();
        (!said.is_empty()).then(|| said.join(", "))
    }
}

/// A number and its word: `1 file`, `2 files`.
pub fn many(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// A range for people and programs: lines and columns from 1, the end being the place after it. Columns count code
/// units of UTF-16, as editors and SARIF do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// The first line.
    pub line: u32,
    /// The first column.
    pub column: u32,
    /// The line of the end.
    pub end_line: u32,
    /// The column after the end.
    pub end_column: u32,
}

impl Region {
    /// The region of a span.
    pub fn of(text: &str, lines: &Lines, span: Span) -> Self {
        let start = lines.position(text, span.start, Unit::Utf16);
        let end = lines.position(text, span.end, Unit::Utf16);
        Self {
            line: start.line + 1,
            column: start.column + 1,
            end_line: end.line + 1,
            end_column: end.column + 1,
        }
    }
}
