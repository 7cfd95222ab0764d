//! Findings as one JSON object.

use serde::Serialize;
use synapse_lang::diagnostic::{Diagnostic, Edit};
use synapse_lang::text::Lines;

use super::{Region, Report};

#[derive(Serialize)]
struct Everything<'a> {
    files: Vec<File<'a>>,
    summary: Summary,
}

#[derive(Serialize)]
struct File<'a> {
    path: &'a str,
    kind: &'a str,
    diagnostics: Vec<Finding<'a>>,
}

/// One finding.
#[derive(Serialize)]
pub struct Finding<'a> {
    code: String,
    class: String,
    severity: &'static str,
    #[serde(flatten)]
    place: Place,
    message: &'a str,
    fixes: Vec<Repair<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
struct Repair<'a> {
    title: &'a str,
    safety: &'static str,
    edits: Vec<Change<'a>>,
}

#[derive(Serialize)]
struct Change<'a> {
    #[serde(flatten)]
    place: Place,
    text: &'a str,
}

#[derive(Serialize)]
struct Summary {
    files: usize,
    errors: usize,
    warnings: usize,
    hints: usize,
}

impl From<Region> for Place {
    fn from(region: Region) -> Self {
        let Region { line, column, end_line, end_column } = region;
        Self { line, column, end_line, end_column }
    }
}

impl<'a> Finding<'a> {
    /// A finding in a text.
    pub fn of(text: &str, lines: &Lines, one: &'a Diagnostic) -> Self {
        let change =
            |edit: &'a Edit| Change { place: Region::of(text, lines, edit.span).into(), text: &edit.text };
        let fixes = one.fixes.iter().map(|fix| Repair {
            title: &fix.title,
            safety: fix.safety.word(),
            edits: fix.edits.iter().map(change).collect(),
        });
        Self {
            code: one.code.to_string(),
            class: one.class.word().to_uppercase(),
            severity: one.severity.word(),
            place: Region::of(text, lines, one.span).into(),
            message: &one.message,
            fixes: fixes.collect(),
        }
    }
}

/// All files, clean ones too, and how many findings are listed.
pub fn print(report: &Report<'_>) -> serde_json::Result<String> {
    let files = report.files.iter().map(|file| {
        let lines = Lines::of(&file.text);
        let diagnostics = report.shown(file).map(|one| Finding::of(&file.text, &lines, one)).collect();
        File { path: &file.shown, kind: file.kind, diagnostics }
    });
    let counts = report.counts();
    let everything = Everything {
        files: files.collect(),
        summary: Summary {
            files: report.files.len(),
            errors: counts.errors,
            warnings: counts.warnings,
            hints: counts.hints,
        },
    };
    Ok(serde_json::to_string(&everything)? + "\n")
}
