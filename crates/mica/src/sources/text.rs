//! The text of a file, in the encodings that XML files have.
//!
//! UTF-8 is read as it is. UTF-16 is recognised by its mark and Latin-1 by the declaration, as XML readers do; such
//! files can be checked, but only UTF-8 is ever written.

use std::path::Path;
use std::sync::Arc;

/// The largest file that is read; an artifact of this size is a mistake.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// A text, and whether it is the file byte by byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The text.
    pub text: Arc<str>,
    /// Whether the file has exactly these bytes.
    pub exact: bool,
}

/// Reads a file, or says why it cannot be read.
pub fn read(path: &Path) -> Result<Text, String> {
    let size = std::fs::metadata(path).map_err(|error| error.to_string())?.len();
    if size > MOST_BYTES {
        return Err(format!("it has {size} bytes; at most {MOST_BYTES} are read"));
    }
    std::fs::read(path).map(decode).map_err(|error| error.to_string())
}

/// The text of bytes. Bytes that mean nothing become marks.
pub fn decode(bytes: Vec<u8>) -> Text {
    let read = match String::from_utf8(bytes) {
        Ok(text) => return Text { text: text.into(), exact: true },
        Err(error) => error.into_bytes(),
    };
    let wide = |rest: &[u8], unit: fn([u8; 2]) -> u16| {
        let (pairs, _) = rest.as_chunks::<2>();
        let units = pairs.iter().map(|pair| unit(*pair));
        char::decode_utf16(units).map(|one| one.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>()
    };
    let text = match read.as_slice() {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        bytes if declares_latin(bytes) => bytes.iter().copied().map(char::from).collect(),
        bytes => String::from_utf8_lossy(bytes).into_owned(),
    };
    Text { text: text.into(), exact: false }
}

fn declares_latin(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(200)).unwrap_or_default().to_ascii_lowercase();
    let head = String::from_utf8_lossy(&head).into_owned();
    let declaration = head.split("?>").next().unwrap_or_default();
    declaration.starts_with("<?xml")
        && ["iso-8859-1", "latin1", "windows-1252"].iter().any(|name| declaration.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_recognised() {
        let check = |bytes: &[u8], text: &str, exact: bool| {
            assert_eq!(decode(bytes.to_vec()), Text { text: text.into(), exact }, "{bytes:?}");
        };
        check("<a>\u{e9}</a>".as_bytes(), "<a>\u{e9}</a>", true);
        check(b"\xff\xfe<\0a\0/\0>\0", "<a/>", false);
        check(b"\xfe\xff\0<\0a\0/\0>", "<a/>", false);
        check(
            b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>",
            "<?xml version='1.0' encoding='ISO-8859-1'?><a>\u{e9}</a>",
            false,
        );
        check(b"<a>\xe9</a>", "<a>\u{fffd}</a>", false);
    }
}
