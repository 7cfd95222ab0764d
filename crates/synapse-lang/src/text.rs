//! Places in a text: byte spans, and lines and columns in the two units that clients count in.
//!
//! Offsets are bytes in UTF-8 and fit in 32 bits; a text of four gigabytes or more is refused by the parser.

use std::ops::Range;

/// A half-open range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// A span from `start` up to `end`; an end before the start makes it empty.
    #[must_use]
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end: if end < start { start } else { end } }
    }

    /// The empty span at a place.
    #[must_use]
    pub const fn at(offset: u32) -> Self {
        Self { start: offset, end: offset }
    }

    /// How many bytes it covers.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether it covers nothing.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether a place lies in it. The place after the last byte belongs to it too, so that a cursor at the
    /// end of a word is in the word.
    #[must_use]
    pub const fn touches(self, offset: u32) -> bool {
        self.start <= offset && offset <= self.end
    }

    /// Whether the other span lies in it.
    #[must_use]
    pub const fn covers(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The part of a text that it covers; empty when it does not lie in the text.
    #[must_use]
    pub fn of(self, text: &str) -> &str {
        text.get(Range::from(self)).unwrap_or_default()
    }

    /// The same span, further on in the text.
    #[must_use]
    pub const fn shifted(self, by: u32) -> Self {
        Self { start: self.start.saturating_add(by), end: self.end.saturating_add(by) }
    }
}

impl From<Span> for Range<usize> {
    fn from(span: Span) -> Self {
        span.start as usize..span.end as usize
    }
}

/// A place for people and editors: line and column, both counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column, in the unit that was asked for.
    pub column: u32,
}

/// What a column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of UTF-8.
    Utf8,
    /// Code units of UTF-16, the default of the language server protocol.
    Utf16,
    /// Code points, what people count.
    Scalar,
}

/// Where the lines of a text begin.
///
/// A line ends with `\n`, `\r\n` or a lone `\r`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    starts: Vec<u32>,
    length: u32,
}

impl Lines {
    /// Finds the lines of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            let ends = bytes.get(at) == Some(&b'\n') || bytes.get(at + 1) != Some(&b'\n');
            if ends {
                starts.push(clamp(at + 1));
            }
        }
        Self { starts, length: clamp(bytes.len()) }
    }

    /// How many lines there are: at least one.
    #[must_use]
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Where a byte is. A place beyond the end is the end.
    #[must_use]
    pub fn position(&self, text: &str, offset: u32, unit: Unit) -> Position {
        let offset = offset.min(self.length);
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or_default();
        let before = prefix(text, start, offset);
        let column = match unit {
            Unit::Utf8 => before.len(),
            Unit::Utf16 => before.chars().map(char::len_utf16).sum(),
            Unit::Scalar => before.chars().count(),
        };
        Position { line: clamp(line), column: clamp(column) }
    }

    /// The byte at a place. A column beyond the line is the line's end, a line beyond the text is the text's end.
    #[must_use]
    pub fn offset(&self, text: &str, position: Position, unit: Unit) -> u32 {
        let Some(start) = self.starts.get(position.line as usize).copied() else { return self.length };
        let next = self.starts.get(position.line as usize + 1).copied().unwrap_or(self.length);
        let line = Span::new(start, next).of(text).trim_end_matches(['\n', '\r']);
        let wanted = position.column as usize;
        let mut column = 0;
        for (at, character) in line.char_indices() {
            if column >= wanted {
                return start + clamp(at);
            }
            column += match unit {
                Unit::Utf8 => character.len_utf8(),
                Unit::Utf16 => character.len_utf16(),
                Unit::Scalar => 1,
            };
        }
        start + clamp(line.len())
    }

    /// The bytes of a line without its end; nothing when there is no such line.
    #[must_use]
    pub fn line<'a>(&self, text: &'a str, line: u32) -> &'a str {
        let Some(start) = self.starts.get(line as usize).copied() else { return "" };
        let next = self.starts.get(line as usize + 1).copied().unwrap_or(self.length);
        Span::new(start, next).of(text).trim_end_matches(['\n', '\r'])
    }
}

/// The text from a line's start to a place; when the place is inside a character, to that character.
fn prefix(text: &str, start: u32, offset: u32) -> &str {
    let mut end = offset as usize;
    while end > start as usize && !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(start as usize..end).unwrap_or_default()
}

/// Texts are at most four gigabytes, so this never cuts; it keeps the arithmetic free of panics.
fn clamp(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
