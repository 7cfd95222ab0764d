//! What must not be written: keys that are known, and what looks like one.
//!
//! Promise: [`Secrets::found`] finds a known value however it was encoded on its way into a text: escaped as JSON once or
//! more often, as an address has it, or as base64, also in the middle of something longer. What is redacted goes by fewer
//! forms, those that occur; what is left is found, and then nothing is written at all.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use fancy_regex::Regex;
use serde_json::Value;

/// What stands for a secret.
const REDACTED: &str = "[redacted]";

/// The shortest value that is taken for a secret: shorter ones are words.
const SHORTEST: usize = 8;

/// The shortest line of a value of several lines that is one for itself, such as a row of a key.
const ROW: usize = 16;

/// How often something may be encoded over again and still be found.
const DEPTH: usize = 4;

/// What a key looks like: those that providers and hosts of code give out, tokens that are signed, and private keys. Each
/// with letters that it cannot do without, which are looked for first: most texts have none of them. Where there is a
/// group, that is the key.
const LOOKS: [(&str, &str); 10] = [
    ("sk-", r"sk-[A-Za-z0-9_-]{16,}"),
    ("gh", r"gh[pousr]_[A-Za-z0-9]{20,}"),
    ("github_pat_", r"github_pat_[A-Za-z0-9_]{20,}"),
    ("glpat-", r"glpat-[A-Za-z0-9_-]{20,}"),
    ("AKIA", r"AKIA[0-9A-Z]{16}\b"),
    ("AIza", r"AIza[0-9A-Za-z_-]{35}"),
    ("xox", r"xox[abpr]-[A-Za-z0-9-]{10,}"),
    ("eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("earer", r"[Bb]earer(?: |%20)([A-Za-z0-9._~+/-]{16,})"),
    ("PRIVATE KEY", r"(?s)-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?-----END [A-Z ]{0,40}PRIVATE KEY-----"),
];

static PATTERNS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    LOOKS.iter().filter_map(|(letters, pattern)| Some((*letters, Regex::new(pattern).ok()?))).collect()
});

/// A text without what looks like a key of one kind.
fn without(text: &str, pattern: &Regex) -> String {
    let mut all = String::new();
    let (mut done, mut at) = (0, 0);
    while let Ok(Some(found)) = pattern.captures_from_pos(text, at) {
        let Some((whole, key)) = found.get(0).map(|whole| (whole, found.get(1).unwrap_or(whole))) else {
            break;
        };
        if !begins(text, whole.start()) {
            // It may begin a letter later: all that can begin one is of one byte.
            at = whole.start() + 1;
            continue;
        }
        all.push_str(text.get(done..key.start()).unwrap_or_default());
        all.push_str(REDACTED);
        (done, at) = (key.end(), key.end());
    }
    all.push_str(text.get(done..).unwrap_or_default());
    all
}

/// Whether something begins here: after no letter, but for those that are the end of an escape.
fn begins(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().as_bytes();
    let Some(last) = before.last() else { return true };
    let hex = |from: usize| before.iter().rev().take(from).all(u8::is_ascii_hexdigit);
    let back = |steps: usize| before.len().checked_sub(steps).and_then(|index| before.get(index)).copied();
    !(last.is_ascii_alphanumeric() || *last == b'_')
        || (b"nrtbf".contains(last) && back(2) == Some(b'\\'))
        || (back(3) == Some(b'%') && hex(2))
        || (back(6) == Some(b'\\') && back(5) == Some(b'u') && hex(4))
}

/// Values that must not be written.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    values: Vec<String>,
    /// What is looked for in a text: all forms of all of them, the longest first.
    forms: Vec<String>,
}

impl Secrets {
    /// These, besides what looks like a key. Those that are too short to be one are not looked for.
    pub fn known(values: impl IntoIterator<Item = String>) -> Self {
        let mut all: Vec<String> = Vec::new();
        for value in values {
            let value = value.trim();
            let rows = value.lines().map(str::trim).filter(|row| row.len() >= ROW && *row != value);
            all.extend(rows.map(str::to_owned));
            all.push(value.to_owned());
        }
        all.retain(|value| value.len() >= SHORTEST);
        all.sort_unstable();
        all.dedup();
        let mut forms: Vec<String> = all.iter().flat_map(|value| forms(value)).collect();
        // The longest first: one may be the beginning of another.
        forms.sort_by(|one, other| (other.len(), one).cmp(&(one.len(), other)));
        forms.dedup();
        Self { values: all, forms }
    }

    /// A text without them.
    pub fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for form in &self.forms {
            if text.contains(form.as_str()) {
                text = text.replace(form.as_str(), REDACTED);
            }
        }
        for (letters, pattern) in PATTERNS.iter() {
            if text.contains(letters) {
                text = without(&text, pattern);
            }
        }
        text
    }

    /// Whether a text has one of the known values in it, in whatever form.
    pub fn found(&self, text: &str) -> bool {
        !self.values.is_empty() && self.found_within(text, DEPTH)
    }

    fn found_within(&self, text: &str, depth: usize) -> bool {
        if self.forms.iter().any(|form| text.contains(form.as_str())) {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        [unescaped(text), from_address(text)]
            .into_iter()
            .flatten()
            .any(|decoded| self.found_within(&decoded, depth))
    }
}

/// The forms that a value is redacted in.
fn forms(value: &str) -> Vec<String> {
    let once = escaped(value);
    let mut all = vec![value.to_owned(), escaped(&once), escaped(&escaped(&once)), once];
    all.extend([
        in_address(value, false),
        in_address(value, true),
        in_address(value, true).replace("%20", "+"),
    ]);
    // Bytes before it shift its letters by thirds; the letters at both ends have bits of what is beside it.
    for before in 0..3usize {
        let bytes = [&[0u8; 3][..before], value.as_bytes()].concat();
        let first = (before * 8).div_ceil(6);
        let last = bytes.len() * 8 / 6;
        for encoded in [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
            all.extend(encoded.get(first..last).filter(|core| core.len() >= SHORTEST).map(str::to_owned));
        }
    }
    all
}

/// A text as it stands within a text of JSON.
fn escaped(text: &str) -> String {
    let quoted = Value::String(text.to_owned()).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or(text).to_owned()
}

/// A text as it stands in an address.
fn in_address(text: &str, upper: bool) -> String {
    let mut all = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => all.push(char::from(byte)),
            byte if upper => all.push_str(&format!("%{byte:02X}")),
            byte => all.push_str(&format!("%{byte:02x}")),
        }
    }
    all
}

/// A text with the escapes of JSON undone, as far as there are any. What is no escape stays as it is.
fn unescaped(text: &str) -> Option<String> {
    let mut all = String::with_capacity(text.len());
    let mut rest = text;
    let mut changed = false;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        all.push_str(before);
        // The longest escape is a pair of `\uXXXX`; what is tried is read by a reader of JSON.
        let read = [2usize, 6, 12].iter().find_map(|length| {
            let escape = escape.get(..*length)?;
            let read: String = serde_json::from_str(&format!("\"{escape}\"")).ok()?;
            Some((*length, read))
        });
        let (length, read) = read.unwrap_or((1, "\\".to_owned()));
        changed |= length > 1;
        all.push_str(&read);
        rest = escape.get(length..).unwrap_or_default();
    }
    all.push_str(rest);
    changed.then_some(all)
}

/// A text with the escapes of addresses undone, as far as there are any.
fn from_address(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut all = Vec::with_capacity(bytes.len());
    let mut at = 0;
    let mut changed = false;
    while let Some(byte) = bytes.get(at) {
        let decoded = if *byte == b'%' { digit(at + 1).zip(digit(at + 2)) } else { None };
        match decoded.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
            Some(decoded) => {
                all.push(decoded);
                changed = true;
                at += 3;
            }
            None => {
                all.push(*byte);
                at += 1;
            }
        }
    }
    changed.then(|| String::from_utf8_lossy(&all).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HARD: &str = "p\"ä\\s/s wörd&=\n+17";

    fn secrets() -> Secrets {
        let values = ["correct-horse", "correct-horse-battery", "ab", HARD];
        Secrets::known(values.map(str::to_owned))
    }

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let redacted = secrets().redact(text);
        assert_eq!(redacted, expect);
        assert!(!secrets().found(&redacted), "{redacted}");
    }

    #[test]
    fn what_is_known_and_what_looks_like_a_key_is_taken_out() {
        assert_eq!(LOOKS.len(), PATTERNS.len(), "every pattern reads");
        check("PASSWORD=correct-horse-battery ab", "PASSWORD=[redacted] ab");
        check("key sk-proj-0123456789abcdef01", "key [redacted]");
        check("Authorization: Bearer 0123456789abcdef.x", "Authorization: Bearer [redacted]");
        check("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLW9mLWl0", "[redacted]");
        check("ghp_0123456789012345678901234567890123456 AKIAIOSFODNN7EXAMPLE", "[redacted] [redacted]");
        check("ask-me-anything-about-everything", "ask-me-anything-about-everything");
        // An escape before it is no part of a word.
        check(r"it is:\nsk-proj-0123456789abcdef01", r"it is:\n[redacted]");
        check(r"it is:\u0041sk-proj-0123456789abcdef01", r"it is:\u0041[redacted]");
        check("ask-sk-proj-0123456789abcdef01", "ask-[redacted]");
        check("bearer%200123456789abcdef.x", "bearer%20[redacted]");
        check("key%3Dsk-proj-0123456789abcdef01", "key%3D[redacted]");
        check("-----BEGIN RSA PRIVATE KEY-----\\nMIIE\\n-----END RSA PRIVATE KEY-----.", "[redacted].");
    }

    #[test]
    fn encoded_values_are_taken_out() {
        let json = |text: &str| serde_json::to_string(text).unwrap();
        let inside = |text: &str| json(text).trim_matches('"').to_owned();
        check(&format!("x {HARD} y"), "x [redacted] y");
        check(&json(HARD), "\"[redacted]\"");
        check(&json(&format!("{{\"a\":{}}}", json(HARD))), r#""{\"a\":\"[redacted]\"}""#);
        check(&inside(&inside(&inside(HARD))), "[redacted]");
        check("?q=p%22%C3%A4%5Cs%2Fs%20w%C3%B6rd%26%3D%0A%2B17&x", "?q=[redacted]&x");
        check("?q=p%22%c3%a4%5cs%2fs%20w%c3%b6rd%26%3d%0a%2b17&x", "?q=[redacted]&x");
        check("?q=p%22%C3%A4%5Cs%2Fs+w%C3%B6rd%26%3D%0A%2B17&x", "?q=[redacted]&x");
        for before in ["", "u", "us", "use", "user:"] {
            let plain = format!("{before}{HARD}:and more");
            for encoded in [STANDARD_NO_PAD.encode(&plain), URL_SAFE_NO_PAD.encode(&plain)] {
                let redacted = secrets().redact(&format!("Basic {encoded}"));
                assert!(redacted.contains(REDACTED), "{before}: {redacted}");
                assert!(!secrets().found(&redacted), "{before}: {redacted}");
            }
        }
    }

    #[test]
    fn whatever_is_left_is_found() {
        // Forms that nobody redacts: other escapes of the same letters, and escapes of escapes.
        let odd = r"p\u0022\u00e4\\s\/s w\u00f6rd&=\n+17";
        for text in [odd.to_owned(), escaped(odd), in_address(odd, true), in_address(&escaped(odd), false)] {
            assert!(!secrets().redact(&text).contains(REDACTED), "{text}");
            assert!(secrets().found(&text), "{text}");
        }
        assert!(!secrets().found(r"nothing \u of 100% \q the kind"));
        assert!(!Secrets::default().found("correct-horse"));
    }

    #[test]
    fn rows_of_a_value_are_values() {
        let secrets = Secrets::known(["BEGIN\nAAAABBBBCCCCDDDDEEEE\nEND\n".to_owned()]);
        assert_eq!(secrets.redact("> AAAABBBBCCCCDDDDEEEE"), "> [redacted]");
        assert_eq!(secrets.redact("> BEGIN"), "> BEGIN");
    }
}
