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
        (b"gr\xFCn und mehr", Decoded::Lossy { text: "gr\u{FFFD}n und mehr".to_owned(), at: 2 }),
        (b"\xFC\x01\x02\x03", Decoded::Binary),
    ] {
        assert_eq!(decode(bytes), expected, "{bytes:?}");
    }
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
            prop_assert_eq!(encode(&text, encoding), bytes);
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
