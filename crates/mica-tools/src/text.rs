//! From bytes to text and back, without losing a byte.
//!
//! Invariant: when [`decode`] gives a [`Text`], [`encode`] of it gives the same bytes again.

/// What a file's bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decoded {
    /// Text that can be changed and written back.
    Text(Text),
    /// Bytes that are nearly text: shown with marks, never written back.
    Lossy {
        text: String,
        /// The first byte that is no text.
        at: usize,
    },
    /// Something else.
    Binary,
}

/// Text, and how it is written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    /// Without a byte order mark.
    pub(crate) text: String,
    pub(crate) encoding: Encoding,
}

/// How text is written down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    #[default]
    Utf8,
    /// With a byte order mark.
    Utf8Bom,
    /// Little endian, with a byte order mark.
    Utf16Le,
    /// Big endian, with a byte order mark.
    Utf16Be,
    /// Little endian, without a mark.
    Utf16LeBare,
    /// Big endian, without a mark.
    Utf16BeBare,
    /// One byte for each letter, of western languages. What is Latin-1 reads the same.
    Windows1252,
}

/// A letter that an encoding does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{encoding} has no {letter:?}")]
pub(crate) struct NoSuchLetter {
    pub(crate) letter: char,
    pub(crate) encoding: &'static str,
}

impl Encoding {
    /// What a reader should know, if anything.
    pub(crate) fn note(self) -> Option<&'static str> {
        match self {
            Self::Utf8 => None,
            Self::Utf8Bom => {
                Some("the file begins with a byte order mark, which is not shown; edits keep it")
            }
            Self::Utf16Le => {
                Some("the file is UTF-16 (little endian), decoded here; edits keep the encoding")
            }
            Self::Utf16Be => Some("the file is UTF-16 (big endian), decoded here; edits keep the encoding"),
            Self::Utf16LeBare => Some(
                "the file is UTF-16 (little endian, without a byte order mark), decoded here; edits keep the encoding",
            ),
            Self::Utf16BeBare => Some(
                "the file is UTF-16 (big endian, without a byte order mark), decoded here; edits keep the encoding",
            ),
            Self::Windows1252 => Some(
                "the file is not UTF-8; it was read as Windows-1252 (or Latin-1), and edits keep that encoding",
            ),
        }
    }
}

/// How the lines of a text end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endings {
    /// It has at most one line, without an end.
    None,
    Lf,
    CrLf,
    Mixed,
}

const UTF8_MARK: &[u8] = b"\xEF\xBB\xBF";
const LE_MARK: &[u8] = b"\xFF\xFE";
const BE_MARK: &[u8] = b"\xFE\xFF";

/// Bytes that are looked at for a NUL: text has none, and every common binary format has one early.
const PROBE: usize = 8_000;

/// Reads bytes as text.
pub(crate) fn decode(bytes: &[u8]) -> Decoded {
    let wide = |rest: &[u8], unit: fn([u8; 2]) -> u16, encoding| {
        if !rest.len().is_multiple_of(2) {
            return Decoded::Binary;
        }
        let units: Vec<u16> = rest.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        match String::from_utf16(&units) {
            Ok(text) if !text.contains('\0') => Decoded::Text(Text { text, encoding }),
            _ => Decoded::Binary,
        }
    };
    if let Some(rest) = bytes.strip_prefix(LE_MARK) {
        return wide(rest, u16::from_le_bytes, Encoding::Utf16Le);
    }
    if let Some(rest) = bytes.strip_prefix(BE_MARK) {
        return wide(rest, u16::from_be_bytes, Encoding::Utf16Be);
    }
    if memchr::memchr(0, &bytes[..bytes.len().min(PROBE)]).is_some() {
        return match bare_utf16(bytes) {
            Some(Encoding::Utf16LeBare) => wide(bytes, u16::from_le_bytes, Encoding::Utf16LeBare),
            Some(encoding) => wide(bytes, u16::from_be_bytes, encoding),
            None => Decoded::Binary,
        };
    }
    let (rest, encoding) = match bytes.strip_prefix(UTF8_MARK) {
        Some(rest) => (rest, Encoding::Utf8Bom),
        None => (bytes, Encoding::Utf8),
    };
    match std::str::from_utf8(rest) {
        Ok(text) => Decoded::Text(Text { text: text.to_owned(), encoding }),
        Err(_) if encoding == Encoding::Utf8 && western(rest) => {
            let (text, _) = encoding_rs::WINDOWS_1252.decode_without_bom_handling(rest);
            Decoded::Text(Text { text: text.into_owned(), encoding: Encoding::Windows1252 })
        }
        Err(error) if mostly_text(rest) => Decoded::Lossy {
            text: String::from_utf8_lossy(rest).into_owned(),
            at: error.valid_up_to() + (bytes.len() - rest.len()),
        },
        Err(_) => Decoded::Binary,
    }
}

/// Which UTF-16 bytes without a mark are, if they are: nearly every other byte is a NUL, always on the same side, and no
/// letter is a control character. Text of mostly other letters than Latin ones has too few of them to be told apart.
fn bare_utf16(bytes: &[u8]) -> Option<Encoding> {
    let probe = &bytes[..bytes.len().min(PROBE) & !1];
    let nul = |side: usize| probe.iter().skip(side).step_by(2).filter(|byte| **byte == 0).count();
    let control = |side: usize| {
        let low = probe.iter().skip(side).step_by(2).zip(probe.iter().skip(1 - side).step_by(2));
        low.filter(|(low, high)| **high == 0 && **low < 32 && !b"\t\n\r\x0C".contains(low)).count()
    };
    let (even, odd, pairs) = (nul(0), nul(1), probe.len() / 2);
    let enough = |count: usize| pairs >= 2 && count * 4 >= pairs * 3;
    match (even, odd) {
        (0, odd) if enough(odd) && control(0) == 0 => Some(Encoding::Utf16LeBare),
        (even, 0) if enough(even) && control(1) == 0 => Some(Encoding::Utf16BeBare),
        _ => None,
    }
}

/// Whether bytes that are not UTF-8 are Windows-1252: mostly ASCII, with single letters above it. What has whole letters
/// of UTF-8 in it is damaged UTF-8, and what has many high bytes beside each other is another encoding; read as this one,
/// both would be nonsense.
fn western(bytes: &[u8]) -> bool {
    let is_high = |byte: u8| byte >= 0x80;
    let high = bytes.iter().filter(|byte| is_high(**byte)).count();
    let beside = bytes.windows(2).filter(|pair| pair.iter().all(|byte| is_high(*byte))).count();
    let undefined = bytes.iter().any(|byte| [0x81, 0x8D, 0x8F, 0x90, 0x9D].contains(byte));
    let control = bytes.iter().any(|byte| *byte == 0x7F || (*byte < 32 && !b"\t\n\r\x0C".contains(byte)));
    let damaged = bytes.utf8_chunks().any(|chunk| !chunk.valid().is_ascii());
    !undefined && !control && !damaged && high * 3 <= bytes.len() && beside * 4 <= high
}

/// Whether bytes are text in some old encoding, rather than no text: few of them are control characters.
fn mostly_text(bytes: &[u8]) -> bool {
    let probe = &bytes[..bytes.len().min(PROBE)];
    let control = probe.iter().filter(|byte| **byte < 32 && !b"\t\n\r\x0C\x1B".contains(byte)).count();
    control * 20 <= probe.len()
}

/// Writes text down.
///
/// # Errors
/// When the encoding has no such letter.
pub(crate) fn encode(text: &str, encoding: Encoding) -> Result<Vec<u8>, NoSuchLetter> {
    Ok(match encoding {
        Encoding::Utf8 => text.as_bytes().to_vec(),
        Encoding::Utf8Bom => [UTF8_MARK, text.as_bytes()].concat(),
        Encoding::Utf16Le => {
            LE_MARK.iter().copied().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
        }
        Encoding::Utf16Be => {
            BE_MARK.iter().copied().chain(text.encode_utf16().flat_map(u16::to_be_bytes)).collect()
        }
        Encoding::Utf16LeBare => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Encoding::Utf16BeBare => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        Encoding::Windows1252 => {
            let missing = |letter: &char| encoding_rs::WINDOWS_1252.encode(letter.encode_utf8(&mut [0; 4])).2;
            if let Some(letter) = text.chars().filter(|letter| !letter.is_ascii()).find(missing) {
                return Err(NoSuchLetter { letter, encoding: "Windows-1252" });
            }
            encoding_rs::WINDOWS_1252.encode(text).0.into_owned()
        }
    })
}

/// How the lines of a text end.
pub(crate) fn endings(text: &str) -> Endings {
    let all = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let crlf = text.matches("\r\n").count();
    match (all, crlf) {
        (0, _) => Endings::None,
        (_, 0) => Endings::Lf,
        (all, crlf) if all == crlf => Endings::CrLf,
        _ => Endings::Mixed,
    }
}

/// One line: where its content begins and ends, and where the next line begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) next: usize,
}

impl Line {
    /// Its content.
    pub(crate) fn of(self, text: &str) -> &str {
        &text[self.start..self.end]
    }
}

/// The lines of a text. A line end begins no new line at the end of the text.
pub(crate) fn lines(text: &str) -> Vec<Line> {
    let bytes = text.as_bytes();
    let mut lines = Vec::new();
    let mut start = 0;
    for at in memchr::memchr_iter(b'\n', bytes) {
        let end = if at > start && bytes[at - 1] == b'\r' { at - 1 } else { at };
        lines.push(Line { start, end, next: at + 1 });
        start = at + 1;
    }
    if start < bytes.len() {
        lines.push(Line { start, end: bytes.len(), next: bytes.len() });
    }
    lines
}

/// The largest cut at or before `at` that splits no character.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests;
