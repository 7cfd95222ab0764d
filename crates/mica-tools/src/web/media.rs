//! What an answer is, by what the server says and by its bytes: text to show, a page to read, or neither.

use super::charset;
use super::error::WebError;
use crate::kind;

/// Bytes at the beginning that are looked at.
const HEAD: usize = 1_024;
/// JSON that is laid out anew. Larger ones are shown as they are.
const LAID_OUT: usize = 1 << 20;

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A page in HTML.
    Page,
    /// JSON.
    Json,
    /// Any other text.
    Text,
}

/// Types below `application/` that are text.
const TEXTS: &[&str] = &[
    "xml",
    "javascript",
    "ecmascript",
    "x-javascript",
    "typescript",
    "x-sh",
    "x-yaml",
    "yaml",
    "toml",
    "sql",
    "graphql",
    "rtf",
    "x-ndjson",
    "x-httpd-php",
    "x-www-form-urlencoded",
    "x-subrip",
    "xml-dtd",
    "wasm-text",
];

/// Says what an answer is.
///
/// # Errors
/// [`WebError::NoText`] with what it is instead, and what to do.
pub(super) fn kind_of(media_type: &str, body: &[u8], address: &str) -> Result<Kind, WebError> {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let no_text = |what: String| Err(WebError::NoText { what });
    let size = body.len();
    if essence == "application/pdf" || body.starts_with(b"%PDF-") {
        return no_text(format!(
            "{address} is a PDF ({size} bytes), and PDFs are not read. Look for the same as a web page, or ask the user for \
             its text"
        ));
    }
    if let Some(image) = kind::image(body) {
        return no_text(format!("{address} is an image ({image}, {size} bytes), and images are not fetched"));
    }
    let declared = match essence.split_once('/').unwrap_or_default() {
        ("text", "html") | ("application", "xhtml+xml") => Some(Kind::Page),
        (_, "json") => Some(Kind::Json),
        (_, sub) if sub.ends_with("+json") => Some(Kind::Json),
        ("text", _) => Some(Kind::Text),
        (_, sub) if sub.ends_with("+xml") || sub.ends_with("+yaml") => Some(Kind::Text),
        ("application", sub) if TEXTS.contains(&sub) => Some(Kind::Text),
        // Servers that do not know say nothing, or this.
        ("", "") | ("application", "octet-stream" | "unknown" | "x-unknown") => None,
        _ => {
            return no_text(format!(
                "{address} is of the type {}, which is not read as text",
                shown(&essence)
            ));
        }
    };
    let head = body.get(..size.min(HEAD)).unwrap_or_default();
    let wide = head.starts_with(&[0xff, 0xfe])
        || head.starts_with(&[0xfe, 0xff])
        || charset::parameter(media_type, "charset")
            .is_some_and(|charset| charset.to_ascii_lowercase().starts_with("utf-16"));
    if head.contains(&0) && !wide {
        let said = if essence.is_empty() {
            "does not say what it is".to_owned()
        } else {
            format!("says it is {}", shown(&essence))
        };
        return no_text(format!("{address} {said}, but has bytes that no text has; it was not read"));
    }
    Ok(declared.unwrap_or_else(|| {
        let start = String::from_utf8_lossy(head)
            .trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t'])
            .to_ascii_lowercase();
        if start.starts_with("<!doctype html") || start.starts_with("<html") {
            Kind::Page
        } else {
            Kind::Text
        }
    }))
}

/// JSON for readers: one long line is laid out, what is laid out already is left alone.
pub(super) fn laid_out(text: String) -> String {
    if text.len() > LAID_OUT || text.trim().lines().count() > 1 {
        return text;
    }
    let value: Result<serde_json::Value, _> = serde_json::from_str(&text);
    value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or(text)
}

/// A type as servers say it, without surprises.
fn shown(essence: &str) -> String {
    let plain = |letter: &char| letter.is_ascii_alphanumeric() || "/+-._".contains(*letter);
    essence.chars().filter(plain).take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_what_they_say_unless_their_bytes_say_otherwise() {
        let page = b"<!DOCTYPE html><p>x".as_slice();
        let table: &[(&str, &[u8], Result<Kind, &str>)] = &[
            ("text/html; charset=utf-8", page, Ok(Kind::Page)),
            ("application/xhtml+xml", page, Ok(Kind::Page)),
            ("Text/HTML", page, Ok(Kind::Page)),
            ("text/plain", page, Ok(Kind::Text)),
            ("text/markdown", b"# x", Ok(Kind::Text)),
            ("application/json", b"{}", Ok(Kind::Json)),
            ("application/problem+json", b"{}", Ok(Kind::Json)),
            ("application/xml", b"<a/>", Ok(Kind::Text)),
            ("application/atom+xml", b"<a/>", Ok(Kind::Text)),
            ("image/svg+xml", b"<svg/>", Ok(Kind::Text)),
            ("application/javascript", b"x", Ok(Kind::Text)),
            ("", page, Ok(Kind::Page)),
            ("application/octet-stream", b"plain", Ok(Kind::Text)),
            ("text/plain; charset=utf-16le", b"a\0b\0", Ok(Kind::Text)),
            ("text/plain", b"\xff\xfea\0", Ok(Kind::Text)),
            ("", b"", Ok(Kind::Text)),
            (
                "text/html",
                b"a\0b",
                Err("U says it is text/html, but has bytes that no text has; it was not read"),
            ),
            ("", b"a\0b", Err("U does not say what it is, but has bytes that no text has; it was not read")),
            (
                "text/html",
                b"\x89PNG\r\n\x1a\n0000",
                Err("U is an image (image/png, 12 bytes), and images are not fetched"),
            ),
            ("image/webp", b"x", Err("U is of the type image/webp, which is not read as text")),
            ("application/zip", b"PK", Err("U is of the type application/zip, which is not read as text")),
            ("video/mp4", b"x", Err("U is of the type video/mp4, which is not read as text")),
            (
                "text/html",
                b"%PDF-1.7",
                Err(
                    "U is a PDF (8 bytes), and PDFs are not read. Look for the same as a web page, or ask the user for its text",
                ),
            ),
        ];
        for (media_type, body, expect) in table {
            let found = kind_of(media_type, body, "U").map_err(|error| error.to_string());
            assert_eq!(found, expect.map_err(str::to_owned), "{media_type}");
        }
    }

    #[test]
    fn json_is_laid_out_once() {
        assert_eq!(laid_out("{\"b\":1,\"a\":[2]}".to_owned()), "{\n  \"b\": 1,\n  \"a\": [\n    2\n  ]\n}");
        assert_eq!(laid_out("{\n\"a\":1}".to_owned()), "{\n\"a\":1}");
        assert_eq!(laid_out("no json".to_owned()), "no json");
    }
}
