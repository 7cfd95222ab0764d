//! The part of a text that one read shows, and a note for every part it does not.

use std::fmt::Write;
use std::ops::RangeInclusive;

use crate::limits::Limits;
use crate::text::{Line, floor, lines};

/// Of the room for a file that does not fit, the part that its beginning gets. Most of what a reader needs (imports,
/// types, the first definitions) is there; the end shows how it closes.
const HEAD_FIFTHS: usize = 4;

/// Which lines are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// As much as fits, from both ends.
    All,
    /// From a line on (counted from 1), at most so many.
    From { line: usize, count: usize },
}

/// Whether lines are shown with their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    Shown,
    Hidden,
}

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// What to show, with notes where something is left out.
    pub(crate) text: String,
    /// Lines that are shown whole, counted from 1.
    pub(crate) whole: Vec<RangeInclusive<usize>>,
    /// Lines there are.
    pub(crate) total: usize,
}

/// Takes the part. `None`: it would begin behind the last line.
pub(crate) fn take(text: &str, wanted: Wanted, numbers: Numbers, limits: &Limits) -> Option<Excerpt> {
    let all = lines(text);
    let total = all.len();
    let mut page = Page { text, all: &all, numbers, limits, shown: String::new(), whole: Vec::new() };
    match wanted {
        Wanted::All => {
            let head = page.fitting(0, limits.read_lines, limits.read_bytes);
            if head == total {
                page.show(0, total);
            } else {
                let head =
                    page.fitting(0, limits.read_lines * HEAD_FIFTHS / 5, limits.read_bytes * HEAD_FIFTHS / 5);
                let tail = page.fitting_tail(head, limits.read_lines / 5, limits.read_bytes / 5);
                page.show(0, head);
                page.leave_out(head, tail);
                page.show(tail, total);
            }
        }
        Wanted::From { line, count } => {
            let from = line.max(1) - 1;
            if from >= total && total > 0 {
                return None;
            }
            let end = page.fitting(from, count.min(limits.read_lines), limits.read_bytes);
            page.show(from, end);
            page.leave_out(end, total);
        }
    }
    Some(Excerpt { text: page.shown, whole: page.whole, total })
}

struct Page<'a> {
    text: &'a str,
    all: &'a [Line],
    numbers: Numbers,
    limits: &'a Limits,
    shown: String,
    whole: Vec<RangeInclusive<usize>>,
}

impl Page<'_> {
    fn cost(&self, line: Line) -> usize {
        (line.end - line.start).min(self.limits.line_bytes) + 1
    }

    /// The end of what fits from a line on: at least one line, because something must be shown.
    fn fitting(&self, from: usize, lines: usize, bytes: usize) -> usize {
        let mut left = bytes;
        let mut end = from;
        for line in self.all.iter().skip(from).take(lines.max(1)) {
            let cost = self.cost(*line);
            if cost > left && end > from {
                break;
            }
            left = left.saturating_sub(cost);
            end += 1;
        }
        end
    }

    /// The beginning of what fits before the end, not before `from`.
    fn fitting_tail(&self, from: usize, lines: usize, bytes: usize) -> usize {
        let mut left = bytes;
        let mut start = self.all.len();
        while start > from && self.all.len() - start < lines {
            let cost = self.cost(self.all[start - 1]);
            if cost > left {
                break;
            }
            left -= cost;
            start -= 1;
        }
        start
    }

    fn show(&mut self, from: usize, to: usize) {
        let width = self.all.len().to_string().len();
        for (index, line) in self.all.iter().enumerate().take(to).skip(from) {
            let content = line.of(self.text);
            let cut = floor(content, self.limits.line_bytes);
            if self.numbers == Numbers::Shown {
                // Writing to a string cannot fail.
                let _ = write!(self.shown, "{:>width$}\t", index + 1);
            }
            self.shown.push_str(&content[..cut]);
            if cut < content.len() {
                let _ =
                    write!(self.shown, "[… {} more bytes of this line are left out …]", content.len() - cut);
            } else {
                self.saw(index + 1);
            }
            self.shown.push('\n');
        }
    }

    fn saw(&mut self, line: usize) {
        match self.whole.last_mut() {
            Some(last) if *last.end() + 1 == line => *last = *last.start()..=line,
            _ => self.whole.push(line..=line),
        }
    }

    fn leave_out(&mut self, from: usize, to: usize) {
        if from < to {
            let _ = writeln!(
                self.shown,
                "[… lines {}-{to} of {} are left out here; read on with offset {} …]",
                from + 1,
                self.all.len(),
                from + 1
            );
        }
    }
}

#[cfg(test)]
mod tests;
