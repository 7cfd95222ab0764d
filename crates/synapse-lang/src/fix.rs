//! Applying repairs: edits that do not meet are applied together, and the text is looked at again.
//!
//! A repair never makes things worse, and it repairs: a round whose result has errors that were not there before, or as
//! many findings of a repaired code, is taken back, and its repairs are tried in smaller groups.

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
        let chosen = choose(&before, extent);
        let mut round = Round {
            text: &repaired.text,
            before: &before,
            after: None,
            accepted: Vec::new(),
            refused: Vec::new(),
        };
        round.settle(&chosen, &look);
        let Round { after, accepted, mut refused, .. } = round;
        refused.sort_unstable();
        refused.dedup();
        repaired.refused = refused;
        let Some(after) = after else { break };
        note(&mut repaired.applied, &accepted);
        repaired.text = after;
    }
    repaired
}

/// The repairs of one text that go together.
struct Round<'a> {
    text: &'a str,
    before: &'a [Diagnostic],
    /// The text with all accepted repairs, when there are any.
    after: Option<String>,
    accepted: Vec<(Code, &'a Fix)>,
    refused: Vec<Code>,
}

impl<'a> Round<'a> {
    /// Takes a group in when the result is better, else its halves: one bad repair among many costs a few looks.
    fn settle(&mut self, group: &[(Code, &'a Fix)], look: &impl Fn(&str) -> Vec<Diagnostic>) {
        if group.is_empty() {
            return;
        }
        let mut together = self.accepted.clone();
        together.extend_from_slice(group);
        let edits: Vec<&Edit> = together.iter().flat_map(|(_, fix)| &fix.edits).collect();
        let better = apply(self.text, &edits)
            .filter(|after| is_better(self.text, self.before, after, &look(after), &together));
        match (better, group) {
            (Some(after), _) => {
                self.after = Some(after);
                self.accepted = together;
            }
            (None, [(code, _)]) => self.refused.push(*code),
            (None, _) => {
                let (first, second) = group.split_at(group.len() / 2);
                self.settle(first, look);
                self.settle(second, look);
            }
        }
    }
}

fn note(applied: &mut Vec<Applied>, chosen: &[(Code, &Fix)]) {
    applied.extend(chosen.iter().map(|(code, fix)| Applied { code: *code, title: fix.title.clone() }));
}

/// The repairs of a round: the first fitting one of each finding, as long as it meets no other.
fn choose(found: &[Diagnostic], extent: Extent) -> Vec<(Code, &Fix)> {
    let mut taken: Vec<Span> = Vec::new();
    let mut chosen = Vec::new();
    for one in found {
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

/// Whether a text is at least as well-formed as before, has no error of a code that it did not have as often, and has
/// fewer findings of every code that was repaired.
fn is_better(
    before: &str,
    was: &[Diagnostic],
    after: &str,
    is: &[Diagnostic],
    chosen: &[(Code, &Fix)],
) -> bool {
    let count = |found: &[Diagnostic], code: Code| found.iter().filter(|one| one.code == code).count();
    if chosen.iter().any(|(code, _)| count(is, *code) >= count(was, *code)) {
        return false;
    }
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
