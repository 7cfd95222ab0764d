//! Applying repairs: edits that do not meet are applied together, and the text is looked at again.
//!
//! A repair never makes things worse: a round whose result has errors that were not there before is taken back, and
//! its repairs are tried one by one.

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Diagnostic, Edit, Fix, Safety, Severity};
use crate::syntax::Document;
use crate::text::Span;

/// Which repairs are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Only those that need no look.
    Safe,
    /// All; of several for one finding, the first.
    Everything,
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// The text.
    pub text: String,
    /// The repairs that were applied, in their order.
    pub applied: Vec<Applied>,
    /// Findings whose repair was left out, because it would have broken something else.
    pub refused: Vec<Code>,
}

/// A repair that was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// What it repaired.
    pub code: Code,
    /// What it did.
    pub title: String,
}

/// How often the text is looked at again: a repair can uncover the next finding, but not for ever.
const ROUNDS: usize = 10;

/// Repairs a text. `look` finds what is wrong with it; it is asked again after every round.
pub fn repair(text: &str, extent: Extent, look: impl Fn(&str) -> Vec<Diagnostic>) -> Repaired {
    let mut repaired = Repaired { text: text.to_owned(), applied: Vec::new(), refused: Vec::new() };
    for _ in 0..ROUNDS {
        let before = look(&repaired.text);
        let chosen = choose(&before, extent, &repaired.refused);
        if chosen.is_empty() {
            break;
        }
        let edits: Vec<&Edit> = chosen.iter().flat_map(|(_, fix)| &fix.edits).collect();
        match apply(&repaired.text, &edits)
            .filter(|after| is_no_worse(&repaired.text, &before, after, &look(after)))
        {
            Some(after) => {
                repaired.text = after;
                note(&mut repaired.applied, &chosen);
            }
            None => one_by_one(&mut repaired, &before, &chosen, &look),
        }
    }
    repaired
}

/// Tries the repairs of a round alone: one goes in, the ones that break something are named.
fn one_by_one(
    repaired: &mut Repaired,
    before: &[Diagnostic],
    chosen: &[(Code, &Fix)],
    look: &impl Fn(&str) -> Vec<Diagnostic>,
) {
    for (code, fix) in chosen {
        let edits: Vec<&Edit> = fix.edits.iter().collect();
        match apply(&repaired.text, &edits)
            .filter(|after| is_no_worse(&repaired.text, before, after, &look(after)))
        {
            Some(after) => {
                repaired.text = after;
                note(&mut repaired.applied, &[(*code, fix)]);
                return;
            }
            None => repaired.refused.push(*code),
        }
    }
}

fn note(applied: &mut Vec<Applied>, chosen: &[(Code, &Fix)]) {
    applied.extend(chosen.iter().map(|(code, fix)| Applied { code: *code, title: fix.title.clone() }));
}

/// The repairs of a round: the first fitting one of each finding, as long as it meets no other.
fn choose<'a>(found: &'a [Diagnostic], extent: Extent, refused: &[Code]) -> Vec<(Code, &'a Fix)> {
    let mut taken: Vec<Span> = Vec::new();
    let mut chosen = Vec::new();
    for one in found.iter().filter(|one| !refused.contains(&one.code)) {
        let fits = |fix: &&Fix| extent == Extent::Everything || fix.safety == Safety::Safe;
        let Some(fix) = one.fixes.iter().find(fits) else { continue };
        let meets = |span: Span| taken.iter().any(|other| span.start <= other.end && other.start <= span.end);
        if fix.edits.iter().any(|edit| meets(edit.span)) {
            continue;
        }
        taken.extend(fix.edits.iter().map(|edit| edit.span));
        chosen.push((one.code, fix));
    }
    chosen
}

/// The text with edits applied; nothing when they overlap or do not lie in the text.
#[must_use]
pub fn apply(text: &str, edits: &[&Edit]) -> Option<String> {
    let mut sorted: Vec<&&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut after = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for edit in sorted {
        after.push_str(text.get(at..edit.span.start as usize)?);
        after.push_str(&edit.text);
        at = edit.span.end as usize;
    }
    after.push_str(text.get(at..)?);
    Some(after)
}

/// Whether a text is at least as well-formed as before and has no error of a code that it did not have as often.
fn is_no_worse(before: &str, was: &[Diagnostic], after: &str, is: &[Diagnostic]) -> bool {
    let problems = |text: &str| Document::parse(text).problems().len();
    if problems(after) > problems(before) {
        return false;
    }
    let (was, is) = (errors(was), errors(is));
    is.iter().all(|(code, count)| was.get(code).is_some_and(|had| count <= had))
}

fn errors(found: &[Diagnostic]) -> BTreeMap<Code, usize> {
    let mut counts = BTreeMap::new();
    for one in found.iter().filter(|one| one.severity == Severity::Error) {
        *counts.entry(one.code).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests;
