//! Patterns of dates, where one letter of the wrong case gives another date.

use super::{Look, codes, signatures};
use crate::diagnostic::{Edit, Severity};
use crate::expr::ast::{Call, Node, NodeKind};
use crate::text::Span;

/// The letters of patterns for times in milliseconds.
const LETTERS: &str = "GyYMLwWDdFEuaHkKhmsSzZX";
/// The letters of patterns for texts.
const TEXT_LETTERS: &str = "GuyDMLdQqYwWeEcFaBhKkHmsSAnNVvzOXxZp";

pub(super) fn look(node: &Node, look: &mut Look<'_>) {
    let NodeKind::Call(call) = &node.kind else { return };
    if call.name != "formatDateTime" {
        return;
    }
    for at in 1..call.arguments.len() {
        pattern(call, at, look);
    }
}

/// A run of one letter outside of quotes: the letter, where it begins and how often it stands there.
struct Run {
    letter: char,
    start: usize,
    length: usize,
}

/// The runs of letters, and whether the quotes are balanced.
fn runs(pattern: &str) -> (Vec<Run>, bool) {
    let mut found: Vec<Run> = Vec::new();
    let mut quoted = false;
    for (at, sign) in pattern.char_indices() {
        if sign == '\'' {
            quoted = !quoted;
        } else if !quoted && sign.is_ascii_alphabetic() {
            match found.last_mut() {
                Some(run) if run.letter == sign && run.start + run.length == at => run.length += 1,
                _ => found.push(Run { letter: sign, start: at, length: 1 }),
            }
        }
    }
    (found, !quoted)
}

fn pattern(call: &Call, at: usize, look: &mut Look<'_>) {
    let (Some(text), Some(node)) = (signatures::literal(call, at), call.arguments.get(at)) else { return };
    let (runs, balanced) = runs(text);
    let millis = call.arguments.len() == 2;
    let letters = if millis { LETTERS } else { TEXT_LETTERS };
    if let Some(run) = runs.iter().find(|run| !letters.contains(run.letter)) {
        let message = format!("`{}` is no letter of date patterns: words stand in quotes", run.letter);
        let finding = look.report(codes::BAD_DATE_PATTERN, node.span, message);
        if !millis {
            finding.at_most(Severity::Warning);
        }
        return;
    }
    if !balanced {
        look.report(codes::BAD_DATE_PATTERN, node.span, "a quote in the pattern does not end");
        return;
    }
    let has = |wanted: &str| runs.iter().any(|run| wanted.contains(run.letter));
    let mut replace: Vec<(&Run, char)> = Vec::new();
    let mut reasons: Vec<&str> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let time_before = runs.iter().take(index).any(|one| "HhKk".contains(one.letter));
        let (letter, reason) = match run.letter {
            'Y' if !has("wW") => ('y', "`Y` is the year of the week, `y` the year"),
            'D' if has("ML") || has("m") => ('d', "`D` is the day of the year, `d` the day of the month"),
            'm' if !time_before && !has("ML") && has("yYdD") => ('M', "`m` is the minute, `M` the month"),
            'M' if time_before && !has("m") && run.length == 2 && has("HhKk") && !has("dD") => {
                ('m', "`M` is the month, `m` the minute")
            }
            'h' if !has("aB") => {
                ('H', "`h` counts hours from 1 to 12 and has no meaning without `a`; `H` counts from 0 to 23")
            }
            _ => continue,
        };
        replace.push((run, letter));
        reasons.push(reason);
    }
    if replace.is_empty() {
        return;
    }
    let mut right: Vec<char> = text.chars().collect();
    // Positions are bytes; runs are ASCII, so characters before them are counted.
    for (run, letter) in &replace {
        let first = text.get(..run.start).map_or(0, |before| before.chars().count());
        right.iter_mut().skip(first).take(run.length).for_each(|sign| *sign = *letter);
    }
    let right: String = right.into_iter().collect();
    let message = format!("{}: write `{right}`", reasons.join("; "));
    let inside = Span::new(node.ungrouped().span.start + 1, node.ungrouped().span.end.saturating_sub(1));
    look.report(codes::DATE_PATTERN, node.span, message)
        .review(format!("Write `{right}`"), vec![Edit::replace(inside, right)]);
}
