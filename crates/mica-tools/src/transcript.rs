//! What something printed: both ends in memory, all of it in a log when it does not fit.
//!
//! Invariant: memory is bounded whatever is printed, and nothing is dropped from memory that is not in the log, unless
//! the log itself is full or could not be made; then that is said.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use mica_context::spill::{Clock, SpillFolder, SpillLog};

/// Where logs go and what time it is.
#[derive(Clone)]
pub(crate) struct Logs {
    pub(crate) folder: Arc<SpillFolder>,
    pub(crate) clock: Clock,
}

/// How many bytes are kept of each end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// Of the beginning.
    pub head: usize,
    /// Of the end. Failures are told there, so it is the larger one.
    pub tail: usize,
}

impl Default for Ends {
    /// Together below what is spilled of a result, so that no result of these is spilled a second time.
    fn default() -> Self {
        Self { head: 8 << 10, tail: 16 << 10 }
    }
}

/// A text that grows at its end, of which both ends are kept.
pub(crate) struct Transcript {
    ends: Ends,
    head: String,
    tail: String,
    total: u64,
    log: Option<SpillLog>,
    logs: Option<(Logs, String)>,
    problem: Option<String>,
}

/// A part of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// The text, with a note where something is left out.
    pub(crate) text: String,
    /// Bytes that are left out.
    pub(crate) left_out: u64,
}

impl Transcript {
    /// An empty one, whose log would be called after `of`.
    pub(crate) fn new(ends: Ends, logs: Logs, of: &str) -> Self {
        let logs = Some((logs, of.to_owned()));
        Self { ends, head: String::new(), tail: String::new(), total: 0, log: None, logs, problem: None }
    }

    /// Begins the log now, whether or not it will be needed.
    pub(crate) fn open_log(&mut self) {
        let Some((logs, of)) = self.logs.take() else { return };
        match logs.folder.begin(&of, (logs.clock)()) {
            Ok(mut log) => {
                log.append(&self.head);
                log.append(&self.tail);
                self.log = Some(log);
            }
            Err(error) => {
                tracing::warn!(%error, "output has no log");
                self.problem = Some(error.to_string());
            }
        }
    }

    /// Appends.
    pub(crate) fn append(&mut self, text: &str) {
        // Three less than fit: the head may end that much early, so as not to cut a letter.
        let fits = (self.ends.head + self.ends.tail).saturating_sub(3);
        if self.total + text.len() as u64 > fits as u64 {
            self.open_log();
        }
        if let Some(log) = &mut self.log {
            log.append(text);
        }
        self.total += text.len() as u64;
        // Once something is in the tail, the head is closed: text must not change its order.
        let room = if self.tail.is_empty() { self.ends.head.saturating_sub(self.head.len()) } else { 0 };
        let (head, rest) = text.split_at(text.floor_char_boundary(room.min(text.len())));
        self.head.push_str(head);
        // Of a piece that is larger than what is kept, only its end is copied, and what was before it goes.
        let over = rest.ceil_char_boundary(rest.len().saturating_sub(2 * self.ends.tail));
        if over > 0 {
            self.tail.clear();
        }
        self.tail.push_str(rest.get(over..).unwrap_or_default());
        // Cut now and then, not with every piece.
        if self.tail.len() > 2 * self.ends.tail {
            self.tail.drain(..self.tail_over());
        }
    }

    /// Where what is shown of the tail begins: within its limit, and after a line end when there is one near.
    fn tail_over(&self) -> usize {
        let over = self.tail.ceil_char_boundary(self.tail.len().saturating_sub(self.ends.tail));
        if over == 0 {
            return 0;
        }
        let rest = self.tail.get(over..).unwrap_or_default();
        let line = rest.find('\n').filter(|at| *at < self.ends.tail / 4).map_or(0, |at| at + 1);
        over + line
    }

    /// Bytes of text until now.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// What there is from a place on, which was a total before.
    pub(crate) fn since(&self, from: u64) -> Part {
        let place = |from: u64| usize::try_from(from).unwrap_or(usize::MAX);
        let head = self
            .head
            .get(self.head.ceil_char_boundary(place(from).min(self.head.len()))..)
            .unwrap_or_default();
        let tail_starts = self.total - self.tail.len() as u64;
        let wanted = place(from.saturating_sub(tail_starts)).min(self.tail.len());
        // The whole tail is shown when it fits with nothing dropped; it may be twice as long as its limit until it is cut.
        let fits = tail_starts <= self.head.len() as u64 && self.tail.len() <= self.ends.tail;
        let starts = if fits { wanted } else { wanted.max(self.tail_over()) };
        let starts = self.tail.ceil_char_boundary(starts);
        let tail = self.tail.get(starts..).unwrap_or_default();
        let shown = (head.len() + tail.len()) as u64;
        let left_out = self.total.saturating_sub(from).saturating_sub(shown);
        let mut text = head.to_owned();
        if left_out > 0 {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            // Writing to a string cannot fail.
            let _ = writeln!(text, "[… {left_out} bytes are left out here …]");
        }
        text.push_str(tail);
        Part { text, left_out }
    }

    /// The log, when there is one.
    pub(crate) fn log(&self) -> Option<&Path> {
        self.log.as_ref().map(SpillLog::path)
    }

    /// Where the rest is, in words, when a part leaves something out.
    pub(crate) fn rest(&self) -> String {
        match (&self.log, &self.problem) {
            (Some(log), _) if log.is_whole() => format!("All of it is in {}.", log.path().display()),
            (Some(log), _) => format!("The beginning of it is in {}; the log is full.", log.path().display()),
            (None, Some(problem)) => format!("The rest could not be saved ({problem})."),
            (None, None) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests;
