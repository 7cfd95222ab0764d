//! From bytes to text: by the mark at their beginning, by what the server says, by what the page says, by trying.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Where pages say what they are written in, if anywhere.
const HEAD: usize = 1_024;

/// The text of a body. `media_type` is what the server said, with its parameters.
pub(super) fn decode(bytes: &[u8], media_type: &str) -> String {
    let encoding = Encoding::for_bom(bytes)
        .map(|(encoding, _)| encoding)
        .or_else(|| parameter(media_type, "charset").and_then(|label| Encoding::for_label(label.as_bytes())))
        .or_else(|| declared(bytes))
        .unwrap_or_else(|| guessed(bytes));
    let (text, _, _) = encoding.decode(bytes);
    text.into_owned()
}

/// A parameter of a media type, without its quotes.
pub(super) fn parameter<'a>(media_type: &'a str, name: &str) -> Option<&'a str> {
    media_type.split(';').skip(1).find_map(|part| {
        let (key, value) = part.split_once('=')?;
        key.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// What a page, or XML, says of itself. That it was readable proves that it is no UTF-16, whatever it says.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..bytes.len().min(HEAD)).unwrap_or_default();
    let head = head.to_ascii_lowercase();
    let after = |start: usize, sign: &[u8]| {
        let rest = head.get(start..)?;
        Some(start + memchr::memmem::find(rest, sign)? + sign.len())
    };
    let mut at = if head.starts_with(b"<?xml") { after(0, b"encoding") } else { None };
    let mut from = 0;
    while let (None, Some(meta)) = (at, after(from, b"<meta")) {
        let end = after(meta, b">").unwrap_or(head.len());
        at = after(meta, b"charset").filter(|found| *found < end);
        from = end;
    }
    let rest = head.get(at?..)?;
    let value = String::from_utf8_lossy(rest);
    let value = value.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let label = value.split(|letter: char| "\"'/>;?".contains(letter) || letter.is_whitespace()).next()?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    Some(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}

/// UTF-8 cannot be had by accident. What is not is most often what was usual before it.
fn guessed(bytes: &[u8]) -> &'static Encoding {
    match std::str::from_utf8(bytes) {
        Ok(_) => UTF_8,
        // A cut download ends in the middle of a letter.
        Err(error) if error.error_len().is_none() => UTF_8,
        Err(_) => WINDOWS_1252,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_they_were_written() {
        let table: &[(&[u8], &str, &str)] = &[
            (b"caf\xc3\xa9", "text/html", "café"),
            (b"caf\xc3\xa9", "text/html; charset=UTF-8", "café"),
            (b"caf\xe9", "text/html; charset=ISO-8859-1", "café"),
            (b"caf\xe9", "text/html; Charset=\"latin1\"", "café"),
            (b"caf\xe9 \x80", "text/html", "café €"),
            (b"\x83e\x83X\x83g", "text/html; charset=Shift_JIS", "テスト"),
            (b"\xd0\xe5\xf1\xf2", "text/plain; charset=windows-1251", "Рест"),
            (b"\xb2\xe2\xca\xd4", "text/plain; charset=gb2312", "测试"),
            (b"\xef\xbb\xbfcaf\xc3\xa9", "text/html; charset=latin1", "café"),
            (b"\xff\xfec\0a\0", "text/html", "ca"),
            (b"\xfe\xff\0c\0a", "text/html; charset=utf-8", "ca"),
            (b"c\0a\0", "text/plain; charset=utf-16le", "ca"),
            (b"<meta charset=iso-8859-1>\xe9", "text/html", "<meta charset=iso-8859-1>é"),
            (b"<META Charset = 'ISO-8859-1' >\xe9", "text/html", "<META Charset = 'ISO-8859-1' >é"),
            (
                b"<meta name=a><meta http-equiv=content-type content=\"text/html; charset=koi8-r\">\xd4",
                "text/html",
                "<meta name=a><meta http-equiv=content-type content=\"text/html; charset=koi8-r\">т",
            ),
            (b"<meta charset=utf-16>caf\xc3\xa9", "text/html", "<meta charset=utf-16>café"),
            (
                b"<meta charset=nonsense>caf\xc3\xa9",
                "text/html; charset=nonsense",
                "<meta charset=nonsense>café",
            ),
            (b"<meta charset=iso-8859-1>\xc3\xa9", "text/html; charset=utf-8", "<meta charset=iso-8859-1>é"),
            (
                b"<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>",
                "text/xml",
                "<?xml version='1.0' encoding='iso-8859-1'?><a>é</a>",
            ),
            (b"<p>charset=latin1</p>\xc3\xa9", "text/html", "<p>charset=latin1</p>é"),
            (b"cut \xc3", "text/html", "cut \u{fffd}"),
            (b"", "text/html", ""),
        ];
        for (bytes, media_type, expect) in table {
            assert_eq!(decode(bytes, media_type), *expect, "{media_type} {bytes:?}");
        }
    }
}
