//! The format of a payloadFactory as its default template reads it: text with holes.

use std::ops::Range;

use crate::check::walk::Placed;
use crate::syntax::{Decoded, Element};

/// What a format makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Media {
    /// JSON.
    Json,
    /// XML; also when nothing is said.
    Xml,
    /// Text.
    Text,
}

/// What fills a hole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Filling {
    /// `${…}`, without `${` and `}`.
    Expression(Range<usize>),
    /// `$1`.
    Argument(usize),
}

/// A place of the format that is filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hole {
    /// Where it stands, signs included.
    pub(super) range: Range<usize>,
    /// What fills it.
    pub(super) filling: Filling,
    /// Whether it stands inside a string of JSON.
    pub(super) quoted: bool,
}

/// A format that is written in place and filled by the default template.
pub(super) struct Format<'a> {
    /// The payloadFactory.
    pub(super) factory: Element<'a>,
    /// The format.
    pub(super) element: Element<'a>,
    /// What it makes.
    pub(super) media: Media,
    /// Its text; for XML with its markup.
    pub(super) decoded: Decoded<'a>,
    /// The places that are filled.
    pub(super) holes: Vec<Hole>,
}

impl<'a> Format<'a> {
    /// The format of a payloadFactory; nothing for one in a resource or of another language.
    pub(super) fn of(placed: &Placed<'a>) -> Option<Self> {
        let factory = placed.element;
        let other =
            factory.value("template-type").is_some_and(|kind| kind.eq_ignore_ascii_case("freemarker"));
        if !placed.is_mediator("payloadFactory") || other {
            return None;
        }
        let element = factory.first("format")?;
        if element.attribute("key").is_some() || !element.is_closed() {
            return None;
        }
        let media = factory.value("media-type").map_or(Media::Xml, |media| {
            if media.contains("json") {
                Media::Json
            } else if media.contains("text") {
                Media::Text
            } else {
                Media::Xml
            }
        });
        let decoded = match media {
            Media::Xml => element.decoded_content(),
            Media::Json | Media::Text => element.decoded_text(),
        };
        let holes = holes(decoded.text());
        Some(Self { factory, element, media, decoded, holes })
    }

    /// The text.
    pub(super) fn text(&self) -> &str {
        self.decoded.text()
    }
}

/// The holes of a text, with whether a string of JSON is open there.
fn holes(text: &str) -> Vec<Hole> {
    let mut found = Vec::new();
    let mut quoted = false;
    let mut at = 0;
    while let Some(first) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if let Some((end, filling)) = hole(text, at) {
            found.push(Hole { range: at..end, filling, quoted });
            at = end;
            continue;
        }
        match first {
            '"' => quoted = !quoted,
            // What is escaped does not end the string.
            '\\' if quoted => {
                at += text.get(at + 1..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
            }
            _ => {}
        }
        at += first.len_utf8();
    }
    found
}

/// The hole that begins at a place, and where it ends.
fn hole(text: &str, at: usize) -> Option<(usize, Filling)> {
    let rest = text.get(at..)?.strip_prefix('$')?;
    if let Some(inner) = rest.strip_prefix('{') {
        let end = inner.find('}').filter(|end| *end > 0)?;
        let start = at + 2;
        return Some((start + end + 1, Filling::Expression(start..start + end)));
    }
    let digits = rest.len() - rest.trim_start_matches(|one: char| one.is_ascii_digit()).len();
    let number = rest.get(..digits)?.parse().ok()?;
    Some((at + 1 + digits, Filling::Argument(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_know_whether_a_string_is_open() {
        let text = r#"{"a": "${x}", "b": $12, "c\"${y["k"]}": ${z}, "$": "${"}"#;
        let found: Vec<(&str, bool)> =
            holes(text).iter().map(|one| (&text[one.range.clone()], one.quoted)).collect();
        let expected =
            [("${x}", true), ("$12", false), ("${y[\"k\"]}", true), ("${z}", false), ("${\"}", true)];
        assert_eq!(found, expected);
    }
}
