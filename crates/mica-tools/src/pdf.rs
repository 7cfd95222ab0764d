//! The text of a PDF document, page by page.
//!
//! A reader of our own, because documents come from anywhere and the work must end: no recursion without a depth, no
//! stream that unpacks to more than its limit, no loop without a budget. It finds text, not layout: lines and words are
//! told apart by where letters stand, and tables come as lines.
//!
//! Promise: whatever the bytes are, it answers, within [`Bounds`], and never panics.

mod content;
mod document;
mod filter;
mod font;
mod object;

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use document::Document;

/// How much one document may cost.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes that one stream may unpack to.
    pub stream: usize,
    /// Bytes that all streams together may unpack to.
    pub unpacked: usize,
    /// Objects that are known at most.
    pub objects: usize,
    /// Steps of all pages together: operators, entries of tables, nodes of trees.
    pub steps: usize,
    /// Bytes of text that are kept.
    pub text: usize,
    /// How long it may take, should all of this still be much on a slow machine.
    pub time: Duration,
}

impl Default for Bounds {
    /// A thick manual has some tens of megabytes of content and a million operators; this is ten times that.
    fn default() -> Self {
        Self {
            stream: 16 << 20,
            unpacked: 128 << 20,
            objects: 500_000,
            steps: 10_000_000,
            text: 4 << 20,
            time: Duration::from_secs(10),
        }
    }
}

/// What is left of the bounds.
pub struct Budget<'a> {
    bounds: Bounds,
    unpacked: usize,
    steps: usize,
    deadline: Instant,
    cancel: &'a CancellationToken,
}

impl<'a> Budget<'a> {
    /// A whole budget, which a token can end.
    pub fn new(bounds: Bounds, cancel: &'a CancellationToken) -> Self {
        let deadline = Instant::now() + bounds.time;
        Self { bounds, unpacked: bounds.unpacked, steps: bounds.steps, deadline, cancel }
    }

    /// Takes one step. `false`: there is none left.
    fn step(&mut self) -> bool {
        self.steps = self.steps.saturating_sub(1);
        // The clock is asked now and then: asking costs more than a step.
        if self.steps.is_multiple_of(4_096) && (self.cancel.is_cancelled() || Instant::now() > self.deadline)
        {
            self.steps = 0;
        }
        self.steps > 0
    }

    /// Takes a step that may be a long one: looking an object up, unpacking a stream.
    fn long_step(&mut self) -> bool {
        if self.cancel.is_cancelled() || Instant::now() > self.deadline {
            self.steps = 0;
        }
        self.step()
    }

    /// How much a stream may unpack to now.
    fn room(&self) -> usize {
        self.bounds.stream.min(self.unpacked)
    }

    fn unpack(&mut self, bytes: usize) {
        self.unpacked = self.unpacked.saturating_sub(bytes);
    }

    fn is_over(&self) -> bool {
        self.steps == 0 || self.unpacked == 0
    }
}

/// Why there is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PdfError {
    /// It needs a password.
    #[error("it is encrypted")]
    Encrypted,
    /// It has no pages.
    #[error("no pages were found in it: it is damaged, or no PDF document")]
    NoPages,
    /// It has fewer pages than were asked for.
    #[error("it has {0} pages, and the pages asked for are behind the last")]
    Behind(usize),
}

/// The text of some pages.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pages {
    /// How many the document has.
    pub total: usize,
    /// Number (from 1) and text.
    pub pages: Vec<(usize, String)>,
    /// Letters whose meaning the document does not tell.
    pub unknown: usize,
    /// Whether the bounds ended it.
    pub cut: bool,
}

/// Reads the pages `first` to `last`, counted from 1.
///
/// # Errors
/// [`PdfError`] when there is no text to read.
pub fn read(bytes: &[u8], first: usize, last: usize, budget: &mut Budget<'_>) -> Result<Pages, PdfError> {
    let document = Document::open(bytes, budget);
    if document.is_encrypted() {
        return Err(PdfError::Encrypted);
    }
    // All are counted first: reading some may take all that is left of the bounds.
    let total = document.pages(budget, &mut |_, _| true);
    if total == 0 {
        return Err(PdfError::NoPages);
    }
    if first > total {
        return Err(PdfError::Behind(total));
    }
    let mut found = Pages { total, ..Pages::default() };
    let mut room = budget.bounds.text;
    let mut number = 0;
    document.pages(budget, &mut |page, budget| {
        number += 1;
        if number < first {
            return true;
        }
        if number > last {
            return false;
        }
        let mut page = content::text(&document, page, room, budget);
        found.unknown += page.unknown;
        room = room.saturating_sub(page.text.len());
        let kept = page.text.trim_end().len();
        page.text.truncate(kept);
        found.pages.push((number, page.text));
        found.cut = room == 0 || budget.is_over();
        !found.cut && number < last
    });
    // Nothing is read once the bounds were reached by counting alone.
    found.cut |= budget.is_over();
    Ok(found)
}

#[cfg(test)]
mod tests;
