//! Text made fit to stand in a document.

use std::borrow::Cow;

/// Escapes a value that will stand between these quotes. Line ends and tabs become character references,
/// because a reader would turn them into blanks.
#[must_use]
pub fn escape_attribute(value: &str, quote: char) -> Cow<'_, str> {
    escape(value, |character| match character {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '"' if quote == '"' => Some("&quot;"),
        '\'' if quote == '\'' => Some("&apos;"),
        '\n' => Some("&#10;"),
        '\r' => Some("&#13;"),
        '\t' => Some("&#9;"),
        _ => None,
    })
}

/// Escapes a text that will stand between tags. `>` is escaped too, so that `]]>` cannot come about.
#[must_use]
pub fn escape_text(text: &str) -> Cow<'_, str> {
    escape(text, |character| match character {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '\r' => Some("&#13;"),
        _ => None,
    })
}

fn escape(text: &str, with: impl Fn(char) -> Option<&'static str>) -> Cow<'_, str> {
    let Some(first) = text.find(|character| with(character).is_some()) else { return Cow::Borrowed(text) };
    let (before, rest) = text.split_at(first);
    let mut escaped = String::with_capacity(text.len() + 16);
    escaped.push_str(before);
    for character in rest.chars() {
        match with(character) {
            Some(replacement) => escaped.push_str(replacement),
            None => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests;
