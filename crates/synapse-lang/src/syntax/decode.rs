//! From the text as written to the text as read, and back to the place where each piece was written.
//!
//! Expressions are checked as the runtime reads them, after references such as `&lt;` are resolved, but reported
//! and repaired where they are written. A [`Decoded`] text knows both. Only the five predefined entities and
//! character references are ever resolved, so no text grows when it is read.

use std::borrow::Cow;
use std::ops::Range;

use crate::text::Span;

/// A text as read, with the way back to the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded<'a> {
    text: Cow<'a, str>,
    /// Where the text begins in the source.
    base: u32,
    /// Empty when the text is the source, byte for byte.
    segments: Vec<Segment>,
}

/// A piece of the read text and where it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    decoded: u32,
    decoded_length: u32,
    source: u32,
    source_length: u32,
    /// Whether the bytes are the same; if not, the piece stands or falls as a whole.
    verbatim: bool,
}

impl<'a> Decoded<'a> {
    /// A text that is read as it is written and begins at a place of the source.
    #[must_use]
    pub fn verbatim(text: &'a str, base: u32) -> Self {
        Self { text: Cow::Borrowed(text), base, segments: Vec::new() }
    }

    /// The text as read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text as read, without the way back.
    #[must_use]
    pub fn into_text(self) -> Cow<'a, str> {
        self.text
    }

    /// Whether the text is read as it is written.
    #[must_use]
    pub fn is_verbatim(&self) -> bool {
        self.segments.is_empty()
    }

    /// Where a part of the read text was written. A part of a reference is the whole reference.
    #[must_use]
    pub fn source_span(&self, decoded: Range<usize>) -> Span {
        let start = (decoded.start.min(self.text.len())) as u32;
        let end = (decoded.end.min(self.text.len())) as u32;
        if self.segments.is_empty() {
            return Span::new(self.base + start, self.base + end);
        }
        let from = self.source_start(start);
        if end <= start { Span::at(from) } else { Span::new(from, self.source_end(end)) }
    }

    /// Where in the read text a place of the source is; a place inside a reference is the reference's start.
    #[must_use]
    pub fn decoded_offset(&self, source: u32) -> usize {
        if self.segments.is_empty() {
            return (source.saturating_sub(self.base) as usize).min(self.text.len());
        }
        let index = self.segments.partition_point(|segment| segment.source <= source);
        let Some(segment) = index.checked_sub(1).and_then(|index| self.segments.get(index)) else { return 0 };
        let inside = source - segment.source;
        let offset = if inside >= segment.source_length {
            segment.decoded_length
        } else if segment.verbatim {
            inside
        } else {
            0
        };
        (segment.decoded + offset) as usize
    }

    fn source_start(&self, offset: u32) -> u32 {
        let index = self.segments.partition_point(|segment| segment.decoded <= offset);
        let Some(segment) = index.checked_sub(1).and_then(|index| self.segments.get(index)) else {
            return self.base;
        };
        let inside = offset - segment.decoded;
        if inside >= segment.decoded_length {
            segment.source + segment.source_length
        } else if segment.verbatim {
            segment.source + inside
        } else {
            segment.source
        }
    }

    fn source_end(&self, offset: u32) -> u32 {
        let index = self.segments.partition_point(|segment| segment.decoded < offset);
        let Some(segment) = index.checked_sub(1).and_then(|index| self.segments.get(index)) else {
            return self.base;
        };
        let inside = offset - segment.decoded;
        if segment.verbatim && inside < segment.decoded_length {
            segment.source + inside
        } else {
            segment.source + segment.source_length
        }
    }
}

/// How the raw text is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// References are resolved and line ends become `\n`.
    Text,
    /// As text, and every white space becomes a blank.
    Attribute,
    /// Line ends become `\n`; nothing else is special.
    CData,
}

/// Resolves the references of a text as in element content: the five predefined entities and character
/// references. Everything else, bare ampersands included, stays as it is. Line ends become `\n`.
#[must_use]
pub fn unescape(raw: &str) -> Decoded<'_> {
    decode(raw, 0, Reading::Text)
}

/// As [`unescape`], for the value of an attribute: line ends and tabs become blanks as well.
#[must_use]
pub fn unescape_attribute(raw: &str) -> Decoded<'_> {
    decode(raw, 0, Reading::Attribute)
}

/// Reads a raw text that begins at `base`.
pub(super) fn decode(raw: &str, base: u32, reading: Reading) -> Decoded<'_> {
    let mut joined = Joined::default();
    if next_special(raw.as_bytes(), 0, reading).is_none() {
        return Decoded::verbatim(raw, base);
    }
    joined.add(raw, base, reading);
    joined.finish(base)
}

/// Several pieces of source, read one after the other.
#[derive(Debug, Default)]
pub(super) struct Joined {
    text: String,
    segments: Vec<Segment>,
}

impl Joined {
    /// Reads one more piece, which begins at `base` in the source.
    pub(super) fn add(&mut self, raw: &str, base: u32, reading: Reading) {
        let bytes = raw.as_bytes();
        let mut done = 0;
        while let Some(at) = next_special(bytes, done, reading) {
            self.push(raw.get(done..at).unwrap_or_default(), base + done as u32, None);
            let mut buffer = [0; 4];
            let (read, length): (&str, usize) = match bytes.get(at) {
                Some(b'\r') => {
                    let length = if bytes.get(at + 1) == Some(&b'\n') { 2 } else { 1 };
                    (if reading == Reading::Attribute { " " } else { "\n" }, length)
                }
                Some(b'&') => match Reference::at(bytes, at) {
                    Reference::Resolved { character, length } => (character.encode_utf8(&mut buffer), length),
                    _ => ("&", 1),
                },
                _ => (" ", 1),
            };
            self.push(read, base + at as u32, Some(length as u32));
            done = at + length;
        }
        self.push(raw.get(done..).unwrap_or_default(), base + done as u32, None);
    }

    /// The whole text.
    pub(super) fn finish<'a>(self, base: u32) -> Decoded<'a> {
        Decoded { text: Cow::Owned(self.text), base, segments: self.segments }
    }

    /// Appends a piece; a length says that so many bytes of source became this text.
    fn push(&mut self, text: &str, source: u32, length: Option<u32>) {
        if text.is_empty() {
            return;
        }
        let size = text.len() as u32;
        let decoded = self.text.len() as u32;
        self.text.push_str(text);
        // A replacement of the same size in bytes that can be cut anywhere is as good as verbatim.
        let verbatim = length.is_none_or(|length| length == size && size == 1);
        let source_length = length.unwrap_or(size);
        if let Some(last) = self.segments.last_mut()
            && verbatim
            && last.verbatim
            && last.source + last.source_length == source
        {
            last.decoded_length += size;
            last.source_length += size;
            return;
        }
        self.segments.push(Segment { decoded, decoded_length: size, source, source_length, verbatim });
    }
}

/// The next byte that is not read as it is written.
fn next_special(bytes: &[u8], from: usize, reading: Reading) -> Option<usize> {
    let rest = bytes.get(from..)?;
    match reading {
        Reading::Text => memchr::memchr2(b'&', b'\r', rest),
        Reading::CData => memchr::memchr(b'\r', rest),
        Reading::Attribute => rest.iter().position(|byte| matches!(byte, b'&' | b'\r' | b'\n' | b'\t')),
    }
    .map(|at| from + at)
}

/// What an ampersand begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reference {
    /// A predefined entity or a character reference, `length` bytes with its semicolon.
    Resolved { character: char, length: usize },
    /// A reference to an entity that XML does not define, `length` bytes with its semicolon.
    Unknown { length: usize },
    /// A character reference to a character that XML does not allow, or without digits.
    Invalid { length: usize },
    /// A predefined entity without its semicolon; `length` bytes.
    Unfinished { length: usize },
    /// Only an ampersand.
    Bare,
}

impl Reference {
    /// Reads the reference at an ampersand.
    pub(super) fn at(bytes: &[u8], at: usize) -> Self {
        let rest = bytes.get(at + 1..).unwrap_or_default();
        if rest.first() == Some(&b'#') {
            return Self::numeric(rest.get(1..).unwrap_or_default());
        }
        let length = rest
            .iter()
            .take(256)
            .take_while(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':') || !byte.is_ascii()
            })
            .count();
        let name = rest.get(..length).unwrap_or_default();
        let closed = rest.get(length) == Some(&b';');
        let starts =
            name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_' || !byte.is_ascii());
        match (predefined(name), closed) {
            (Some(character), true) => Self::Resolved { character, length: length + 2 },
            (Some(_), false) => Self::Unfinished { length: length + 1 },
            (None, true) if starts => Self::Unknown { length: length + 2 },
            _ => Self::Bare,
        }
    }

    /// Reads what follows `&#`.
    fn numeric(rest: &[u8]) -> Self {
        let (radix, skipped) = if rest.first() == Some(&b'x') { (16, 1) } else { (10, 0) };
        let digits = rest.get(skipped..).unwrap_or_default();
        let mut value: u32 = 0;
        let mut count = 0;
        for byte in digits {
            let Some(digit) = char::from(*byte).to_digit(radix) else { break };
            value = value.saturating_mul(radix).saturating_add(digit);
            count += 1;
        }
        let closed = digits.get(count) == Some(&b';');
        let length = 2 + skipped + count + usize::from(closed);
        match char::from_u32(value) {
            Some(character) if closed && count > 0 && is_xml_char(character) => {
                Self::Resolved { character, length }
            }
            _ => Self::Invalid { length },
        }
    }
}

/// The character of a predefined entity.
fn predefined(name: &[u8]) -> Option<char> {
    Some(match name {
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"quot" => '"',
        b"apos" => '\'',
        _ => return None,
    })
}

/// Whether XML 1.0 allows a character in a document.
pub(super) fn is_xml_char(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests;
