//! What changed between two reports: which cases were fixed, which broke, and about which nothing can be said.
//!
//! A case that was changed meanwhile says nothing about the product, so it is kept apart. So is what only the judge sees
//! otherwise: a model may change its mind without anything having changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::report::{CaseReport, Report, Status, in_a_row};

/// What became of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It passed, and does not any more.
    Regressed,
    /// It passes, and did not before.
    Fixed,
    /// It does not pass, as before.
    StillFailing,
    /// It passes, as before.
    StillPassing,
    /// It was not there before.
    New,
    /// It is not there any more.
    Gone,
    /// It was changed, or one of the two did not play it.
    Incomparable,
}

/// What became of one case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// The case.
    pub name: String,
    /// What became of it.
    pub change: Change,
    /// Whether only what was judged is otherwise.
    pub judged: bool,
    /// How it ended now, in words.
    pub now: String,
}

/// What changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// Case by case, by name.
    pub cases: Vec<Changed>,
}

/// Compares what is now with what was before.
pub fn compare(before: &Report, now: &Report) -> Comparison {
    let names = |report: &Report| -> BTreeMap<String, CaseReport> {
        report.cases.iter().map(|case| (case.name.clone(), case.clone())).collect()
    };
    let (before, now) = (names(before), names(now));
    let mut all: Vec<&String> = before.keys().chain(now.keys()).collect();
    all.sort_unstable();
    all.dedup();
    let cases = all.into_iter().map(|name| changed(name, before.get(name), now.get(name))).collect();
    Comparison { cases }
}

fn changed(name: &str, before: Option<&CaseReport>, now: Option<&CaseReport>) -> Changed {
    let (change, judged) = match (before, now) {
        (Some(before), Some(now)) => flip(before, now),
        (None, _) => (Change::New, false),
        (_, None) => (Change::Gone, false),
    };
    let now = now.map_or("not there", |now| match now.status {
        Status::Passed => "passed",
        Status::Failed => "failed",
        Status::Error => "could not be played",
        Status::Skipped => "left out",
    });
    Changed { name: name.to_owned(), change, judged, now: now.to_owned() }
}

fn flip(before: &CaseReport, now: &CaseReport) -> (Change, bool) {
    let skipped = |case: &CaseReport| case.status == Status::Skipped;
    if before.digest != now.digest || skipped(before) || skipped(now) {
        return (Change::Incomparable, false);
    }
    let passed = |case: &CaseReport| case.status == Status::Passed;
    match (passed(before), passed(now)) {
        (true, true) => (Change::StillPassing, false),
        (false, false) => (Change::StillFailing, false),
        (true, false) => (Change::Regressed, stands(before) == stands(now)),
        (false, true) => (Change::Fixed, stands(before) == stands(now)),
    }
}

/// Whether a case stands without its judge.
fn stands(case: &CaseReport) -> bool {
    match case.status {
        Status::Passed => true,
        Status::Failed => case.checks.iter().all(|check| check.passed || check.judged),
        Status::Error | Status::Skipped => false,
    }
}

impl Comparison {
    /// Those that something became of.
    pub fn of(&self, change: Change) -> impl Iterator<Item = &Changed> {
        self.cases.iter().filter(move |case| case.change == change)
    }

    /// Whether something that passed does not any more.
    pub fn has_regressed(&self) -> bool {
        self.of(Change::Regressed).next().is_some()
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let kinds = [
            (Change::Regressed, "regressed"),
            (Change::Fixed, "fixed"),
            (Change::StillFailing, "still failing"),
            (Change::New, "new"),
            (Change::Gone, "gone"),
            (Change::Incomparable, "incomparable: the case was changed, or left out"),
        ];
        for (kind, word) in kinds {
            let found: Vec<&Changed> = self.of(kind).collect();
            if found.is_empty() {
                continue;
            }
            let _ = writeln!(text, "{} {word}:", found.len());
            for case in found {
                let judged = if case.judged { " (only what is judged)" } else { "" };
                let now = if matches!(kind, Change::New | Change::Incomparable) {
                    format!(" ({})", case.now)
                } else {
                    String::new()
                };
                let _ = writeln!(text, "  {}{judged}{now}", in_a_row(&case.name));
            }
        }
        if text.is_empty() {
            text.push_str("nothing changed\n");
        }
        text
    }
}

#[cfg(test)]
mod tests;
