//! What scripts print, kept until somebody reads it.

use std::fmt;

/// A line that a script printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Which function of `console` was called.
    pub level: Level,
    /// What it said.
    pub text: String,
}

/// Which function of `console` was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// `console.debug`.
    Debug,
    /// `console.log` and `console.info`.
    Info,
    /// `console.warn`.
    Warn,
    /// `console.error`.
    Error,
}

impl Level {
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "debug" => Self::Debug,
            "warn" => Self::Warn,
            "error" => Self::Error,
            _ => Self::Info,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        })
    }
}

/// What was printed since somebody read it last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Console {
    /// The first lines.
    pub lines: Vec<Line>,
    /// Lines that found no room.
    pub dropped: u64,
    bytes: usize,
}

impl Console {
    /// Keeps a line, if there is room for all of it.
    pub(crate) fn print(&mut self, level: Level, text: String, limit: usize) {
        // An empty line takes room as well.
        let bytes = self.bytes + text.len() + 1;
        if bytes > limit {
            self.dropped += 1;
            return;
        }
        self.bytes = bytes;
        self.lines.push(Line { level, text });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_room_is_counted() {
        let mut console = Console::default();
        for text in ["abc", "", "def", "g"] {
            console.print(Level::Info, text.to_owned(), 7);
        }
        let kept: Vec<&str> = console.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!((kept, console.dropped), (vec!["abc", "", "g"], 1));
    }
}
