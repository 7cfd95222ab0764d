//! A file that output is appended to while it is made.
//!
//! It has an end like everything: what is beyond the limit is counted and not written, and the file says so at its end.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file that grows.
#[derive(Debug)]
pub struct SpillLog {
    file: File,
    path: PathBuf,
    room: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Everything until now is in it.
    Whole,
    /// It is full, or the disk said no: what comes now is not in it.
    Closed,
}

impl SpillLog {
    pub(super) fn new(file: File, path: PathBuf, room: u64) -> Self {
        Self { file, path, room, state: State::Whole }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether everything that was appended is in it.
    pub fn is_whole(&self) -> bool {
        self.state == State::Whole
    }

    /// Appends. What does not fit any more, or cannot be written, is left out from there on; nothing that comes later is
    /// written, because a log with a hole in it would be read as one without.
    pub fn append(&mut self, text: &str) {
        if self.state == State::Closed || text.is_empty() {
            return;
        }
        let room = usize::try_from(self.room).unwrap_or(usize::MAX);
        let fits = text.get(..text.floor_char_boundary(room)).unwrap_or_default();
        let note =
            if fits.len() < text.len() { "\n[… the log is full; the rest is not kept …]\n" } else { "" };
        let written =
            self.file.write_all(fits.as_bytes()).and_then(|()| self.file.write_all(note.as_bytes()));
        self.room = self.room.saturating_sub(fits.len() as u64);
        if let Err(error) = &written {
            tracing::warn!(path = %self.path.display(), %error, "output was not written to its log");
        }
        if written.is_err() || !note.is_empty() {
            self.state = State::Closed;
        }
    }
}
