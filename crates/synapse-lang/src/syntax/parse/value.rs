//! Where the value of an attribute ends, also when its quotes do not say.
//!
//! Two slips are usual: the closing quote is forgotten, and an expression contains the quotes it stands in. Both show
//! in what follows the next quote, which then is neither white space nor the end of the tag.

use super::super::arena::Quote;
use super::super::name;
use super::super::problem::ProblemKind;
use super::{Parser, span};
use crate::diagnostic::{Edit, Fix};
use crate::text::Span;

/// How far a value with quotes inside is followed.
const LONGEST: usize = 4096;

impl Parser<'_> {
    /// Reads the value that begins at a quote.
    pub(super) fn value(&mut self, attribute: &str, opening: usize, quote: u8) -> (Span, Quote) {
        let start = opening + 1;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let closing = memchr::memchr(quote, rest).map(|found| start + found);
        let kind = if quote == b'"' { Quote::Double } else { Quote::Single };
        let Some(end) = closing else {
            return self.unclosed_value(attribute, opening, quote, self.bytes.len());
        };
        let raw = self.bytes.get(start..end).unwrap_or_default();
        let less = memchr::memchr(b'<', raw);
        if less.is_none() && self.is_followed_well(end + 1) {
            return (span(start, end), kind);
        }
        self.doubtful_value(attribute, opening, end, quote)
    }

    /// Decides about a value that has a `<` in it or after whose quote comes something strange.
    fn doubtful_value(&mut self, attribute: &str, opening: usize, end: usize, quote: u8) -> (Span, Quote) {
        let start = opening + 1;
        let kind = if quote == b'"' { Quote::Double } else { Quote::Single };
        let raw = self.bytes.get(start..end).unwrap_or_default();
        let holds_tag = holds_tag(raw);
        let well = self.is_followed_well(end + 1);
        let balanced = is_balanced(raw);
        if ends_like_attribute(raw).is_some() && (balanced || holds_tag) && (!well || holds_tag) {
            return self.unclosed_value(attribute, opening, quote, end);
        }
        let is_next = balanced && self.begins_attribute(end + 1);
        let real = if well || is_next { None } else { self.real_end(start, end, quote) };
        if let Some(real) = real {
            self.nested_quotes(attribute, opening, real, quote);
            self.less_in_value(start, real);
            return (span(start, real), kind);
        }
        self.less_in_value(start, end);
        (span(start, end), kind)
    }

    /// When something strange follows an attribute after white space, its value may have been cut short at a quote.
    /// Returns the real end of that value.
    pub(super) fn was_cut(&self, value: Span, quote: u8) -> Option<usize> {
        let raw = value.of(self.source).as_bytes();
        if is_balanced(raw) {
            return None;
        }
        self.real_end(value.start as usize, value.end as usize, quote)
    }

    /// Says that a value contains its own quotes.
    pub(super) fn nested_quotes(&mut self, attribute: &str, opening: usize, real: usize, quote: u8) {
        let source = self.source;
        self.problems.add_with(span(opening, real + 1), || {
            let quote = char::from(quote);
            let other = if quote == '"' { '\'' } else { '"' };
            let inner = source.get(opening + 1..real).unwrap_or_default();
            let places = inner.match_indices(quote).map(|(at, _)| span(opening + 1 + at, opening + 2 + at));
            let fix = if inner.contains(other) {
                let written = if quote == '"' { "&quot;" } else { "&apos;" };
                let edits = places.map(|place| Edit::replace(place, written)).collect();
                Fix::safe(format!("Write `{written}` inside the value"), edits)
            } else {
                let edits = [span(opening, opening + 1), span(real, real + 1)];
                let edits = edits.into_iter().map(|place| Edit::replace(place, other)).collect();
                Fix::safe(format!("Put the value in {other}"), edits)
            };
            (ProblemKind::NestedQuotes { name: attribute.to_owned(), quote }, Some(fix))
        });
    }

    /// Complains about each `<` of a value.
    fn less_in_value(&mut self, start: usize, end: usize) {
        let raw = self.bytes.get(start..end).unwrap_or_default();
        for found in memchr::memchr_iter(b'<', raw) {
            let place = span(start + found, start + found + 1);
            self.problems.add_with(place, || {
                let fix = Fix::safe("Write `&lt;`", vec![Edit::replace(place, "&lt;")]);
                (ProblemKind::LessInValue, Some(fix))
            });
        }
    }

    /// Ends a value whose closing quote is missing: before what looks like the next attribute, the end of the tag,
    /// the next tag, or the end of the line.
    fn unclosed_value(&mut self, attribute: &str, opening: usize, quote: u8, limit: usize) -> (Span, Quote) {
        let start = opening + 1;
        let raw = self.bytes.get(start..limit).unwrap_or_default();
        let whole_line = holds_tag(raw) || limit == self.bytes.len();
        let mut end = match ends_like_attribute(raw) {
            Some(before) if !whole_line => start + before,
            _ => {
                let found = raw.iter().position(|byte| matches!(byte, b'<' | b'>' | b'\n' | b'\r'));
                let found = found.unwrap_or(raw.len());
                let slash = raw.get(found) == Some(&b'>') && found > 0 && raw.get(found - 1) == Some(&b'/');
                start + found - usize::from(slash)
            }
        };
        while end > start && self.byte(end - 1).is_some_and(name::is_space) {
            end -= 1;
        }
        // A following attribute on the same line is one of its own: `a="x b='y'>`.
        self.problems.add_with(span(opening, end), || {
            let fix = Fix::review("Add the closing quote", vec![Edit::insert(end as u32, char::from(quote))]);
            (ProblemKind::UnclosedValue { name: attribute.to_owned() }, Some(fix))
        });
        (span(start, end), Quote::Cut(quote))
    }

    /// Whether what comes after a closing quote is what may come there.
    fn is_followed_well(&self, at: usize) -> bool {
        match self.byte(at) {
            None | Some(b'>' | b'<') => true,
            Some(b'/') => self.byte(at + 1) == Some(b'>'),
            Some(byte) => name::is_space(byte),
        }
    }

    /// Whether a tag ends here or an attribute with a quoted value begins, perhaps after white space.
    fn goes_on_well(&self, at: usize) -> bool {
        let next = self.skip_space(at);
        match self.byte(next) {
            None | Some(b'>') => true,
            Some(b'/') => self.byte(next + 1) == Some(b'>'),
            Some(_) => next > at && self.begins_attribute(next),
        }
    }

    /// Whether here is a name, `=` and a quote.
    fn begins_attribute(&self, at: usize) -> bool {
        let mut end = at;
        while self.byte(end).is_some_and(name::is_name_byte) && end - at < 256 {
            end += 1;
        }
        let equals = self.skip_space(end);
        let quote = self.skip_space(equals + 1);
        end > at && self.byte(equals) == Some(b'=') && matches!(self.byte(quote), Some(b'"' | b'\''))
    }

    /// The quote that really ends a value which seems to end at `cut`: the first one after which the tag goes on well
    /// and before which all brackets are closed, else the first after which the tag goes on well.
    fn real_end(&self, start: usize, cut: usize, quote: u8) -> Option<usize> {
        if self.problems.is_full() {
            return None;
        }
        let rest = self.bytes.get(cut + 1..).unwrap_or_default();
        let rest = rest.get(..LONGEST).unwrap_or(rest);
        let stop = tag_start(rest).unwrap_or(rest.len());
        let rest = rest.get(..stop).unwrap_or_default();
        let mut fallback = None;
        for found in memchr::memchr_iter(quote, rest).take(64) {
            let end = cut + 1 + found;
            if !self.goes_on_well(end + 1) {
                continue;
            }
            if is_balanced(self.bytes.get(start..end).unwrap_or_default()) {
                return Some(end);
            }
            fallback = fallback.or(Some(end));
        }
        fallback
    }
}

/// Whether all brackets are closed.
fn is_balanced(raw: &[u8]) -> bool {
    let mut depth = 0_i32;
    for byte in raw {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
    }
    depth <= 0
}

/// Whether a value seems to hold a tag: it ran over the end of its own.
fn holds_tag(raw: &[u8]) -> bool {
    tag_start(raw).is_some()
}

/// Where a tag seems to begin: a `<` and a name or a slash directly after a line's indentation or a `>`.
fn tag_start(raw: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'<', raw).find(|at| {
        let next = raw.get(at + 1);
        let begins = next.is_some_and(|byte| name::is_name_start_byte(*byte) || matches!(byte, b'/' | b'!'));
        let before = raw.get(..*at).unwrap_or_default();
        let space = before.iter().rev().take_while(|byte| name::is_space(**byte)).count();
        let line = before.iter().rev().take(space).any(|byte| *byte == b'\n');
        let tag = before.get(before.len().wrapping_sub(space + 1)) == Some(&b'>');
        begins && (line || tag)
    })
}

/// Whether a value ends like the beginning of another attribute, ` name=`, and where that begins.
fn ends_like_attribute(raw: &[u8]) -> Option<usize> {
    let space = |end: usize| {
        raw.get(..end).unwrap_or_default().iter().rev().take_while(|byte| name::is_space(**byte)).count()
    };
    let mut end = raw.len() - space(raw.len());
    end = end.checked_sub(1).filter(|at| raw.get(*at) == Some(&b'='))?;
    end -= space(end);
    let length =
        raw.get(..end).unwrap_or_default().iter().rev().take_while(|byte| name::is_name_byte(**byte)).count();
    let start = end - length;
    let starts = raw.get(start).is_some_and(|byte| name::is_name_start_byte(*byte));
    let blank = space(start);
    (length > 0 && starts && blank > 0).then_some(start - blank)
}
