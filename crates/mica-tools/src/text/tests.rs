//! Bytes to text and back.

use proptest::prelude::*;

use super::*;

#[test]
fn what_bytes_are() {
    let text = |text: &str, encoding| Decoded::Text(Text { text: text.to_owned(), encoding });
    for (bytes, expected) in [
        (&b""[..], text("", Encoding::Utf8)),
        ("grün".as_bytes(), text("grün", Encoding::Utf8)),
        (b"\xEF\xBB\xBFa", text("a", Encoding::Utf8Bom)),
        (b"\xFF\xFEa\0\n\0", text("a\n", Encoding::Utf16Le)),
        (b"\xFE\xFF\0a", text("a", Encoding::Utf16Be)),
        (b"\xFF\xFEa", Decoded::Binary),
        (b"\xFF\xFE\x00\xD8", Decoded::Binary),
        (b"a\0b", Decoded::Binary),
        (b"gr\xFCn und mehr", text("grün und mehr", Encoding::Windows1252)),
        (b"\x93quoted\x94 \x80 5", text("“quoted” € 5", Encoding::Windows1252)),
        // Damaged UTF-8, and an encoding with letters of two bytes.
        (b"gr\xC3\xBCn \xFC", Decoded::Lossy { text: "grün \u{FFFD}".to_owned(), at: 6 }),
        (
            b"say \x93\xFA\x96\x7B now",
            Decoded::Lossy { text: "say \u{FFFD}\u{FFFD}\u{FFFD}{ now".to_owned(), at: 4 },
        ),
        (b"a\x81b", Decoded::Lossy { text: "a\u{FFFD}b".to_owned(), at: 1 }),
        (b"a\0b\0\r\0\n\0", text("ab\r\n", Encoding::Utf16LeBare)),
        (b"\0a\0b\0\n", text("ab\n", Encoding::Utf16BeBare)),
        (b"a\0b\0\x01\0", Decoded::Binary),
        (b"a\0", Decoded::Binary),
        (b"a\0b\0c", Decoded::Binary),
        (b"\xFC\x01\x02\x03", Decoded::Binary),
    ] {
        assert_eq!(decode(bytes), expected, "{bytes:?}");
    }
}

#[test]
fn letters_that_an_encoding_does_not_have() {
    assert_eq!(encode("grün €", Encoding::Windows1252).unwrap(), b"gr\xFCn \x80");
    let missing = encode("a → b", Encoding::Windows1252).unwrap_err();
    assert_eq!(missing.to_string(), "Windows-1252 has no '→'");
}

#[test]
fn line_ends() {
    for (text, expected) in [
        ("", Endings::None),
        ("a", Endings::None),
        ("a\n", Endings::Lf),
        ("a\r\nb\r\n", Endings::CrLf),
        ("a\r\nb\n", Endings::Mixed),
        ("a\rb", Endings::None),
    ] {
        assert_eq!(endings(text), expected, "{text:?}");
    }
    let content: Vec<&str> =
        lines("a\r\n\nb\n\r\nc").into_iter().map(|line| line.of("a\r\n\nb\n\r\nc")).collect();
    assert_eq!(content, ["a", "", "b", "", "c"]);
    assert_eq!(lines("a\n").len(), 1);
    assert_eq!(lines("").len(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn text_is_written_back_as_it_was(bytes in prop::collection::vec(any::<u8>(), 0..40), mark in 0..4_usize) {
        let mark = [&b""[..], UTF8_MARK, LE_MARK, BE_MARK][mark];
        let bytes = [mark, &bytes].concat();
        if let Decoded::Text(Text { text, encoding }) = decode(&bytes) {
            prop_assert_eq!(encode(&text, encoding).unwrap(), bytes);
        }
    }

    #[test]
    fn old_text_is_written_back_as_it_was(bytes in prop::collection::vec(prop_oneof![8 => b' '..b'~', 1 => 0x80..=0xFF_u8], 0..40)) {
        if let Decoded::Text(Text { text, encoding }) = decode(&bytes) {
            prop_assert_eq!(encode(&text, encoding).unwrap(), bytes);
        }
    }

    #[test]
    fn lines_are_all_of_a_text(text in "[ab\r\n]{0,20}") {
        let mut at = 0;
        for line in lines(&text) {
            prop_assert_eq!(line.start, at);
            at = line.next;
        }
        prop_assert_eq!(at, text.len());
    }
}
