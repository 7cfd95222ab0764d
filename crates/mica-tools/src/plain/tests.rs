//! Output made readable, however it is cut.

use proptest::prelude::*;

use super::*;

fn plain(pieces: &[&[u8]]) -> String {
    let mut plain = Plain::default();
    let mut out: String = pieces.iter().map(|piece| plain.push(piece)).collect();
    out.push_str(&plain.finish());
    out
}

#[test]
fn what_terminals_hide_is_hidden() {
    let cases: &[(&[u8], &str)] = &[
        (b"", ""),
        (b"plain\ttext\n", "plain\ttext\n"),
        (b"no end", "no end"),
        (b"\x1b[31mred\x1b[0m \x1b[1;38;5;196mbold\x1b[m\n", "red bold\n"),
        (b"\x1b]0;title\x07text \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "text link\n"),
        (b"\x1b(Btext\x1b=\x1b7\n", "text\n"),
        ("a\u{9b}31mb".as_bytes(), "ab"),
        (b"dos\r\nlines\r\n", "dos\nlines\n"),
        (b" 10%\r 50%\r100%\ndone\n", "100%\ndone\n"),
        (b"\r\x1b[2K 10%\r\x1b[2K 50%", " 50%"),
        (b"kept\r", "kept"),
        (b"kept\r\r\n", "kept\n"),
        (b"N\x08NA\x08AM\x08ME\x08E\n", "NAME\n"),
        (b"bell\x07\n", "bell\n"),
        (b"caf\xe9 \xff\xfe\x00\x01 end\n", "caf\u{fffd} \u{fffd} end\n"),
        ("schön 🎉\n".as_bytes(), "schön 🎉\n"),
        (b"cut \xc3", "cut \u{fffd}"),
        (b"broken \x1b[31\nnext\n", "broken \nnext\n"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(plain(&[bytes]), *expected, "{}", bytes.escape_ascii());
    }
}

#[test]
fn a_title_that_never_ends_does_not_swallow_everything() {
    let mut bytes = b"\x1b]0;".to_vec();
    bytes.extend([b'x'; 10_000]);
    assert_eq!(plain(&[&bytes]).len(), 10_000 - SEQUENCE + "]0;".len());
}

#[test]
fn lines_are_given_when_they_end_or_grow_long() {
    let mut plain = Plain::default();
    assert_eq!(plain.push(b"one\ntw"), "one\n");
    assert_eq!(plain.push(b"o\n"), "two\n");
    assert_eq!(plain.push(&[b'x'; LINE + 10]).len(), LINE);
    assert_eq!(plain.finish().len(), 10);
}

proptest! {
    #[test]
    fn whole_lines_come_out_as_sign_by_sign(text in "[ab\\t\\n\\r\u{8}\u{1b}\\[mä]{0,40}", long in 0usize..3) {
        let text = format!("{}{text}", "x".repeat(long * (LINE - 3)));
        let (mut slow, mut out) = (Plain::default(), String::new());
        text.chars().for_each(|sign| slow.sign(sign, &mut out));
        out.push_str(&slow.finish());
        prop_assert_eq!(plain(&[text.as_bytes()]), out);
    }

    #[test]
    fn cuts_make_no_difference(bytes in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"\x1b[]m;\r\n\x08a\xc3\xa4".to_vec())], 0..200), at in 0usize..200) {
        let (one, two) = bytes.split_at(at.min(bytes.len()));
        let whole = plain(&[&bytes]);
        prop_assert_eq!(&whole, &plain(&[one, two]));
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(&whole, &plain(&single));
        prop_assert!(whole.chars().all(|sign| sign == '\n' || sign == '\t' || !sign.is_control()), "{:?}", whole);
    }
}
