//! Where rules put what they find.
//!
//! Invariant: what is left out of a document with too much to say is never more severe than what is kept, and is counted.

use crate::diagnostic::{Class, Code, Diagnostic, Fix, Severity};
use crate::pages;
use crate::text::Span;

/// The findings of one document.
///
/// A document of garbage can have a finding for every byte. [`Findings::LIMIT`] of them are kept, the most severe ones;
/// the rest is counted, and the first finding says so.
#[derive(Debug, Default)]
pub struct Findings {
    kept: Kept,
}

/// Findings, and how many more there were.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) found: Vec<Diagnostic>,
    left_out: LeftOut,
}

/// What was not kept.
#[derive(Debug, Default, Clone, Copy)]
struct LeftOut {
    errors: usize,
    warnings: usize,
    hints: usize,
    /// The code of one of the most severe.
    worst: Option<(Severity, Code)>,
}

impl Findings {
    /// More than anybody reads.
    pub const LIMIT: usize = 10_000;

    /// Notes a finding. Class and severity are those of the code's page; the answer allows to say more.
    pub fn report(&mut self, code: u16, span: Span, message: impl Into<String>) -> Finding<'_> {
        let code = Code(code);
        // A code without a page is caught by a test; until then it is shown as an error.
        let (class, severity) =
            pages::page(code).map_or((Class::Surprise, Severity::Error), |page| (page.class, page.severity));
        let message = message.into();
        // Those before it have their severity by now, which a rule may set after it reported.
        self.kept.make_room();
        self.kept.found.push(Diagnostic { code, class, severity, span, message, fixes: Vec::new() });
        Finding { noted: self.kept.found.last_mut() }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept.found.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept.found.is_empty()
    }

    /// The findings in the order of their places, each once.
    #[must_use]
    pub fn finish(self) -> Vec<Diagnostic> {
        self.kept.finish()
    }

    /// The findings, for more to be added.
    pub(super) fn kept(mut self) -> Kept {
        self.kept.settle();
        self.kept
    }
}

impl Kept {
    /// Adds what was found in another part of the document; `place` moves a finding to where it is in the whole.
    pub(super) fn add(&mut self, other: &Self, place: impl Fn(&Diagnostic) -> Diagnostic) {
        for one in &other.found {
            self.make_room();
            self.found.push(place(one));
        }
        self.left_out.errors += other.left_out.errors;
        self.left_out.warnings += other.left_out.warnings;
        self.left_out.hints += other.left_out.hints;
        self.left_out.worst = self.left_out.worst.max(other.left_out.worst);
    }

    /// The findings in the order of their places, each once, behind a word about those that were left out.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.settle();
        if let Some(notice) = self.left_out.notice() {
            self.found.insert(0, notice);
        }
        self.found
    }

    /// Room for one more. Twice the limit is held, so that sorting is rare.
    fn make_room(&mut self) {
        if self.found.len() >= 2 * Findings::LIMIT {
            self.settle();
        }
    }

    /// Leaves out what is beyond the limit: the least severe, of those the last.
    fn settle(&mut self) {
        in_order(&mut self.found);
        if self.found.len() > Findings::LIMIT {
            self.found.sort_by_key(|one| std::cmp::Reverse(one.severity));
            self.found.drain(Findings::LIMIT..).for_each(|one| self.left_out.count(&one));
            in_order(&mut self.found);
        }
    }
}

impl LeftOut {
    fn count(&mut self, one: &Diagnostic) {
        match one.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Info | Severity::Hint => self.hints += 1,
        }
        self.worst = self.worst.max(Some((one.severity, one.code)));
    }

    /// Says how many there are, at the start of the document, where it is read first.
    fn notice(self) -> Option<Diagnostic> {
        let (_, code) = self.worst?;
        let parts = [(self.errors, "error"), (self.warnings, "warning"), (self.hints, "hint")];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0);
        let parts = parts.map(|(count, word)| format!("{count} {word}{}", if count == 1 { "" } else { "s" }));
        let message = format!(
            "Not everything is listed: {} more are left out, the least severe; repair what is listed and check again",
            parts.collect::<Vec<_>>().join(", ")
        );
        let (class, severity) = (Class::Style, Severity::Info);
        Some(Diagnostic { code, class, severity, span: Span::at(0), message, fixes: Vec::new() })
    }
}

/// Sorts findings by their places, and drops what was told twice.
fn in_order(found: &mut Vec<Diagnostic>) {
    found.sort_by(|a, b| {
        (a.span.start, a.code, a.span.end, &a.message).cmp(&(b.span.start, b.code, b.span.end, &b.message))
    });
    found.dedup_by(|a, b| a.code == b.code && a.span == b.span && a.message == b.message);
}

/// A finding that was just noted.
#[derive(Debug)]
pub struct Finding<'a> {
    noted: Option<&'a mut Diagnostic>,
}

impl Finding<'_> {
    /// Another severity than that of the page.
    #[allow(clippy::must_use_candidate, reason = "it is used for its effect")]
    pub fn severity(mut self, severity: Severity) -> Self {
        if let Some(noted) = self.noted.as_deref_mut() {
            noted.severity = severity;
        }
        self
    }

    /// Another class than that of the page.
    #[allow(clippy::must_use_candidate, reason = "it is used for its effect")]
    pub fn class(mut self, class: Class) -> Self {
        if let Some(noted) = self.noted.as_deref_mut() {
            noted.class = class;
        }
        self
    }

    /// A repair; the best is given first.
    #[allow(
        clippy::must_use_candidate,
        reason = "it is used for its effect, and chained for a second repair"
    )]
    pub fn fix(mut self, fix: Fix) -> Self {
        if let Some(noted) = self.noted.as_deref_mut() {
            noted.fixes.push(fix);
        }
        self
    }

    /// A repair, where there is one.
    #[allow(
        clippy::must_use_candidate,
        reason = "it is used for its effect, and chained for a second repair"
    )]
    pub fn fix_if(self, fix: Option<Fix>) -> Self {
        match fix {
            Some(fix) => self.fix(fix),
            None => self,
        }
    }
}

#[cfg(test)]
mod tests;
