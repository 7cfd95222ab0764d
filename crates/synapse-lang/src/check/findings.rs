//! Where rules put what they find.

use crate::diagnostic::{Class, Code, Diagnostic, Fix, Severity};
use crate::pages;
use crate::text::Span;

/// The findings of one document.
///
/// A document of garbage can have a finding for every byte; after [`Findings::LIMIT`] no more are kept.
#[derive(Debug, Default)]
pub struct Findings {
    found: Vec<Diagnostic>,
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
        if self.found.len() < Self::LIMIT {
            self.found.push(Diagnostic { code, class, severity, span, message, fixes: Vec::new() });
            Finding { noted: self.found.last_mut() }
        } else {
            Finding { noted: None }
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The findings in the order of their places, each once.
    #[must_use]
    pub fn finish(mut self) -> Vec<Diagnostic> {
        in_order(&mut self.found);
        self.found
    }
}

/// Sorts findings by their places, and drops what was told twice.
pub(super) fn in_order(found: &mut Vec<Diagnostic>) {
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
