//! Texts as bytes: charsets by name, `URLEncoder`, `URLDecoder` and `Base64`.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use thiserror::Error;

/// Why a charset name, an escape or an encoded text is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TextError {
    /// The name cannot be that of a charset (`IllegalCharsetNameException`).
    #[error("'{name}' is no charset name")]
    CharsetName {
        /// The name.
        name: String,
    },
    /// There is no such charset (`UnsupportedCharsetException`).
    #[error("the charset '{name}' is not known")]
    Charset {
        /// The name.
        name: String,
    },
    /// A percent sign without two hexadecimal digits (`IllegalArgumentException`).
    #[error("'%' is not followed by two hexadecimal digits at byte {at}")]
    Escape {
        /// The byte offset.
        at: usize,
    },
    /// The text is not Base64 (`IllegalArgumentException`).
    #[error("the text is not Base64")]
    Base64,
}

/// The charsets every Java platform has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    /// `UTF-8`.
    Utf8,
    /// `US-ASCII`.
    Ascii,
    /// `ISO-8859-1`.
    Latin1,
    /// `UTF-16`: big-endian with a byte order mark.
    Utf16,
    /// `UTF-16BE`.
    Utf16Be,
    /// `UTF-16LE`.
    Utf16Le,
}

/// Names and aliases, compared without regard to case.
const CHARSETS: [(Charset, &[&str]); 6] = [
    (Charset::Utf8, &["UTF-8", "UTF8", "unicode-1-1-utf-8"]),
    (
        Charset::Ascii,
        &[
            "US-ASCII",
            "ASCII",
            "ISO646-US",
            "ANSI_X3.4-1968",
            "ANSI_X3.4-1986",
            "ASCII7",
            "646",
            "us",
            "iso-ir-6",
            "cp367",
            "IBM367",
            "csASCII",
            "default",
            "iso_646.irv:1983",
            "iso_646.irv:1991",
            "646",
        ],
    ),
    (
        Charset::Latin1,
        &[
            "ISO-8859-1",
            "ISO8859_1",
            "ISO8859-1",
            "ISO_8859-1",
            "latin1",
            "l1",
            "8859_1",
            "819",
            "cp819",
            "IBM819",
            "IBM-819",
            "iso-ir-100",
            "csISOLatin1",
            "ISO_8859_1",
            "ISO_8859-1:1987",
        ],
    ),
    (Charset::Utf16, &["UTF-16", "UTF_16", "utf16", "unicode", "UnicodeBig"]),
    (Charset::Utf16Be, &["UTF-16BE", "UTF_16BE", "ISO-10646-UCS-2", "X-UTF-16BE", "UnicodeBigUnmarked"]),
    (Charset::Utf16Le, &["UTF-16LE", "UTF_16LE", "X-UTF-16LE", "UnicodeLittleUnmarked"]),
];

impl Charset {
    /// `Charset.forName`.
    pub fn for_name(name: &str) -> Result<Self, TextError> {
        let allowed =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b':' | b'_' | b'.');
        let starts = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        if !starts || !name.bytes().all(allowed) {
            return Err(TextError::CharsetName { name: name.to_owned() });
        }
        let known =
            CHARSETS.iter().find(|(_, names)| names.iter().any(|known| known.eq_ignore_ascii_case(name)));
        known.map(|(charset, _)| *charset).ok_or_else(|| TextError::Charset { name: name.to_owned() })
    }

    /// `String.getBytes`: what cannot be written becomes a question mark.
    #[must_use]
    pub fn encode(self, text: &str) -> Vec<u8> {
        let single = |most: u32| {
            let byte = |c: char| u8::try_from(u32::from(c)).ok().filter(|byte| u32::from(*byte) <= most);
            text.chars().map(|c| byte(c).unwrap_or(b'?')).collect()
        };
        match self {
            Self::Utf8 => text.as_bytes().to_vec(),
            Self::Ascii => single(0x7f),
            Self::Latin1 => single(0xff),
            Self::Utf16 if text.is_empty() => Vec::new(),
            Self::Utf16 => {
                [0xfe, 0xff].into_iter().chain(text.encode_utf16().flat_map(u16::to_be_bytes)).collect()
            }
            Self::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Self::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        }
    }
}

/// `URLEncoder.encode`: a blank becomes `+`; letters, digits and `.-*_` stay.
#[must_use]
pub fn url_encode(text: &str, charset: Charset) -> String {
    let mut out = String::with_capacity(text.len());
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '*' | '_');
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first == ' ' || plain(first) {
            out.push(if first == ' ' { '+' } else { first });
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        // Characters to escape are turned into bytes together: some charsets put a mark before each run.
        let end = rest.find(|c| c == ' ' || plain(c)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        for byte in charset.encode(run) {
            out.push_str(&format!("%{byte:02X}"));
        }
        rest = after;
    }
    out
}

/// What the engine makes of it: `url_encode` with `%20` for blanks and `%2A` for `*`.
#[must_use]
pub fn url_encode_component(text: &str, charset: Charset) -> String {
    url_encode(text, charset).replace('+', "%20").replace('*', "%2A")
}

/// `URLDecoder.decode` with UTF-8: `+` becomes a blank, bytes that are no UTF-8 become replacement characters.
pub fn url_decode(text: &str) -> Result<String, TextError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = text.get(at + 1..at + 3).ok_or(TextError::Escape { at })?;
                // Java reads the two characters as an integer, so a sign may stand for the first digit.
                let value = i32::from_str_radix(digits, 16).ok().and_then(|value| u8::try_from(value).ok());
                bytes.push(value.ok_or(TextError::Escape { at })?);
                at += 2;
            }
            _ => bytes.push(byte),
        }
        at += 1;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// `Base64.getEncoder`.
#[must_use]
pub fn base64_encode(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// `Base64.getDecoder`: padding may be left out, but not in part; blanks and line ends are refused.
pub fn base64_decode(text: &str) -> Result<Vec<u8>, TextError> {
    if text.contains('=') && !text.len().is_multiple_of(4) {
        return Err(TextError::Base64);
    }
    BASE64.decode(text).map_err(|_| TextError::Base64)
}

#[cfg(test)]
mod tests;
