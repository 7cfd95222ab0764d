//! Findings as tools tell them.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use synapse_lang::diagnostic::Diagnostic;
use synapse_lang::text::Lines;

use crate::render::findings::{Counts, Region};

/// Findings of one answer at most.
pub const MOST: usize = 500;
/// Rows of its text.
const ROWS: usize = 100;

/// One thing that is wrong.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// For example SYN0201; `explain_finding` says more.
    code: String,
    /// error, warning, info or hint.
    severity: &'static str,
    /// What the runtime does with it.
    class: String,
    /// Lines and columns count from 1; columns are in UTF-16 code units, as in editors.
    line: u32,
    column: u32,
    /// The place after the end.
    end_line: u32,
    end_column: u32,
    message: String,
    /// Repairs that are offered, the best first.
    fixes: Vec<Repair>,
}

/// A repair that is offered.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Repair {
    title: String,
    /// safe: nothing else changes. review: look at it.
    safety: &'static str,
}

impl Finding {
    /// A finding in a text.
    pub fn of(text: &str, lines: &Lines, one: &Diagnostic) -> Self {
        let Region { line, column, end_line, end_column } = Region::of(text, lines, one.span);
        let repair = |fix: &synapse_lang::diagnostic::Fix| Repair {
            title: fix.title.clone(),
            safety: fix.safety.word(),
        };
        Self {
            code: one.code.to_string(),
            severity: one.severity.word(),
            class: one.class.word().to_uppercase(),
            line,
            column,
            end_line,
            end_column,
            message: one.message.clone(),
            fixes: one.fixes.iter().map(repair).collect(),
        }
    }

    /// All findings in a text.
    pub fn all<'a>(text: &str, found: impl IntoIterator<Item = &'a Diagnostic>) -> Vec<Self> {
        let lines = Lines::of(text);
        found.into_iter().map(|one| Self::of(text, &lines, one)).collect()
    }
}

/// How many findings there are.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Summary {
    /// Files that were checked.
    pub files: usize,
    pub errors: usize,
    pub warnings: usize,
    pub hints: usize,
}

impl Summary {
    /// Those of some findings.
    pub fn of(files: usize, counts: &Counts) -> Self {
        Self { files, errors: counts.errors, warnings: counts.warnings, hints: counts.hints }
    }

    /// In words.
    pub fn words(&self) -> String {
        let counts =
            Counts { errors: self.errors, warnings: self.warnings, hints: self.hints, ..Counts::default() };
        counts.words().unwrap_or_else(|| "nothing wrong".to_owned())
    }
}

/// One row for each finding, as many as there is room for.
pub fn rows<'a>(found: impl IntoIterator<Item = (&'a str, &'a Finding)>) -> String {
    let mut text = String::new();
    let mut more = 0;
    for (at, (path, one)) in found.into_iter().enumerate() {
        if at >= ROWS {
            more += 1;
            continue;
        }
        let _ =
            write!(text, "{path}:{}:{} {} {}: {}", one.line, one.column, one.severity, one.code, one.message);
        if let Some(fix) = one.fixes.first() {
            let _ = write!(text, " [fix, {}: {}]", fix.safety, fix.title);
        }
        text.push('\n');
    }
    if more > 0 {
        let _ = writeln!(text, "and {more} more");
    }
    text
}
