//! Regular expressions of Java, run by a Rust engine.
//!
//! A pattern is translated: Java's classes are ASCII unless told otherwise, `.` and `$` know more line
//! terminators, and case is ignored for ASCII letters only. The engine is `fancy-regex`, because Java patterns
//! may look around, refer back and quantify possessively, which a linear engine cannot do; it counts its steps
//! back, so a pattern that explodes gives [`PatternError::TooMuchWork`] instead of a hang.

mod translate;

use fancy_regex::{Regex, RegexBuilder};
use thiserror::Error;

/// How often the engine may step back before it gives up.
const BACKTRACK_LIMIT: usize = 500_000;

/// How long a pattern may be; people write tens of characters.
const MAX_PATTERN: usize = 10_000;

/// Why a pattern gives no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternError {
    /// Java refuses it as well.
    #[error("invalid pattern at character {at}: {reason}")]
    Syntax {
        /// How many characters into the pattern.
        at: usize,
        /// What is wrong there.
        reason: String,
    },
    /// Java may take it; this engine cannot run it.
    #[error("this pattern is not supported: {reason}")]
    Unsupported {
        /// What the engine says.
        reason: String,
    },
    /// Matching stepped back too often.
    #[error("the pattern takes too many steps on this text")]
    TooMuchWork,
}

/// Flags of a pattern, as `Pattern.compile` takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are Java's independent flags")]
pub struct PatternFlags {
    /// `d`: only a line feed ends a line.
    pub unix_lines: bool,
    /// `i`: case is ignored.
    pub ignore_case: bool,
    /// `x`: blanks and comments in the pattern are ignored.
    pub comments: bool,
    /// `m`: `^` and `$` match at lines.
    pub multiline: bool,
    /// `s`: `.` matches line terminators.
    pub dot_all: bool,
    /// `u`: ignoring case goes beyond ASCII.
    pub unicode_case: bool,
    /// `U`: classes go beyond ASCII.
    pub unicode_classes: bool,
}

impl PatternFlags {
    /// Flags by their letters; unknown letters mean nothing.
    #[must_use]
    pub fn of_letters(letters: &str) -> Self {
        let mut flags = Self::default();
        for letter in letters.chars() {
            flags.set(letter, true);
        }
        flags
    }

    /// Sets the flag of a letter; false when there is none.
    fn set(&mut self, letter: char, on: bool) -> bool {
        match letter {
            'd' => self.unix_lines = on,
            'i' => self.ignore_case = on,
            'x' => self.comments = on,
            'm' => self.multiline = on,
            's' => self.dot_all = on,
            'u' => self.unicode_case = on,
            'U' => self.unicode_classes = on,
            _ => return false,
        }
        true
    }
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    search: Regex,
    whole: Regex,
}

impl Pattern {
    /// Compiles a Java pattern.
    pub fn compile(pattern: &str, flags: PatternFlags) -> Result<Self, PatternError> {
        if pattern.len() > MAX_PATTERN {
            return Err(PatternError::Unsupported { reason: format!("longer than {MAX_PATTERN} bytes") });
        }
        let translated = translate::translate(pattern, flags)?;
        let build = |text: &str| {
            let built = RegexBuilder::new(text).backtrack_limit(BACKTRACK_LIMIT).build();
            built.map_err(|error| PatternError::Unsupported { reason: error.to_string() })
        };
        Ok(Self { search: build(&translated)?, whole: build(&format!("\\A(?:{translated})\\z"))? })
    }

    /// `Matcher.matches`: whether the whole text matches.
    pub fn matches(&self, text: &str) -> Result<bool, PatternError> {
        self.whole.is_match(text).map_err(|_| PatternError::TooMuchWork)
    }

    /// `Pattern.split`: the pieces between matches. A match of nothing at the start makes no piece, empty
    /// pieces at the end are dropped, and a text without a match is one piece.
    pub fn split(&self, text: &str) -> Result<Vec<String>, PatternError> {
        let mut pieces: Vec<String> = Vec::new();
        let (mut from, mut search) = (0, 0);
        while search <= text.len() {
            let found = self.search.find_from_pos(text, search).map_err(|_| PatternError::TooMuchWork)?;
            let Some(found) = found else { break };
            let (start, end) = (found.start(), found.end());
            search = if end > start { end } else { next_boundary(text, end) };
            if from == 0 && end == 0 {
                continue;
            }
            pieces.push(text.get(from..start).unwrap_or_default().to_owned());
            from = end;
        }
        if from == 0 {
            return Ok(vec![text.to_owned()]);
        }
        pieces.push(text.get(from..).unwrap_or_default().to_owned());
        while pieces.last().is_some_and(String::is_empty) {
            pieces.pop();
        }
        Ok(pieces)
    }
}

/// The place after the character at a place; past the text when there is none.
fn next_boundary(text: &str, at: usize) -> usize {
    at + text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
}

/// `String.split(regex)`.
pub fn split(text: &str, pattern: &str) -> Result<Vec<String>, PatternError> {
    Pattern::compile(pattern, PatternFlags::default())?.split(text)
}

#[cfg(test)]
mod tests;
