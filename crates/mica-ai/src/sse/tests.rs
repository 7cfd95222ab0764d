//! How the bytes are cut makes no difference.

use proptest::prelude::*;

use super::*;

fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<(String, String)>, SseError> {
    let mut reader = SseReader::new(1 << 16);
    let mut events = Vec::new();
    for piece in pieces {
        reader.push(piece);
        while let Some(event) = reader.next_event()? {
            events.push((event.name.clone(), event.data.clone()));
        }
    }
    Ok(events)
}

fn check(text: &str, expected: &[(&str, &str)]) {
    let expected: Vec<(String, String)> =
        expected.iter().map(|(name, data)| ((*name).to_owned(), (*data).to_owned())).collect();
    assert_eq!(read([text.as_bytes()]).unwrap(), expected, "{text:?}");
    assert_eq!(read(text.as_bytes().chunks(1)).unwrap(), expected, "{text:?} byte by byte");
}

#[test]
fn events_are_read_as_the_specification_says() {
    check("data: a\n\n", &[("", "a")]);
    check("data:a\n\ndata:  b\n\n", &[("", "a"), ("", " b")]);
    check("event: x\ndata: a\n\ndata: b\n\n", &[("x", "a"), ("", "b")]);
    check("data: a\ndata: b\n\n", &[("", "a\nb")]);
    check("data: a\ndata\ndata: b\n\n", &[("", "a\n\nb")]);
    check("data\n\n", &[("", "")]);
    check(": comment\n\n:\n\ndata: a\n\n", &[("", "a")]);
    check("id: 7\nretry: 10\nother: x\ndata: a\n\n", &[("", "a")]);
    check("event: lost\n\ndata: a\n\n", &[("", "a")]);
    check("data: unfinished\n", &[]);
    check("data: {\"a\": \"b:c\"}\n\n", &[("", "{\"a\": \"b:c\"}")]);
}

#[test]
fn all_line_ends_are_line_ends() {
    check("data: a\r\n\r\ndata: b\r\n\r\n", &[("", "a"), ("", "b")]);
    check("data: a\r\rdata: b\r\r", &[("", "a"), ("", "b")]);
    check("data: a\r\ndata: b\rdata: c\n\r\n", &[("", "a\nb\nc")]);
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_start_only() {
    check("\u{FEFF}data: a\n\ndata: \u{FEFF}b\n\n", &[("", "a"), ("", "\u{FEFF}b")]);
    check("\u{FEFF}", &[]);
}

#[test]
fn text_beyond_ascii_survives_any_cut() {
    check("data: wörld 🌍 ü\n\n", &[("", "wörld 🌍 ü")]);
}

#[test]
fn what_is_no_text_is_an_error() {
    assert_eq!(read([b"data: \xFF\xFE\n\n".as_slice()]), Err(SseError::NotText));
    assert_eq!(read([b"data: a\xC3\n\n".as_slice()]), Err(SseError::NotText));
}

#[test]
fn an_event_may_not_grow_without_end() {
    let line = format!("data: {}\n", "x".repeat(1000));
    let pieces: Vec<&[u8]> = (0..100).map(|_| line.as_bytes()).collect();
    assert_eq!(read(pieces), Err(SseError::TooLarge { limit: 1 << 16 }));
    let endless = vec![b'x'; 1 << 17];
    assert_eq!(read(endless.chunks(1000)), Err(SseError::TooLarge { limit: 1 << 16 }));
    // A stream of many small events is not one large event.
    let small = format!("{line}\n").repeat(1000);
    assert_eq!(read([small.as_bytes()]).unwrap().len(), 1000);
}

/// The data of a stream that arrives in pieces of a size, and what it ended with.
fn read_within(limit: usize, stream: &[u8], size: usize) -> (Vec<String>, Option<SseError>) {
    let mut reader = SseReader::new(limit);
    let mut data = Vec::new();
    for piece in stream.chunks(size) {
        reader.push(piece);
        loop {
            match reader.next_event() {
                Ok(Some(event)) => data.push(event.data.clone()),
                Ok(None) => break,
                Err(error) => return (data, Some(error)),
            }
        }
    }
    (data, None)
}

// Found by fuzzing: a line that came in pieces was measured with its field name, a whole one without it.
#[test]
fn an_event_at_the_limit_is_judged_the_same_however_it_is_cut() {
    let stream = b"data: 1234\ndata: 5\n\ndata: 67\n\n";
    for size in 1..=stream.len() {
        let both = vec!["1234\n5".to_owned(), "67".to_owned()];
        assert_eq!(read_within(17, stream, size), (both, None), "in pieces of {size}");
        let none = (vec![], Some(SseError::TooLarge { limit: 16 }));
        assert_eq!(read_within(16, stream, size), none, "in pieces of {size}");
    }
}

// Found by fuzzing: which error a stream ended with depended on how it was cut.
#[test]
fn a_large_line_that_is_no_text_is_too_large() {
    let stream = b"data: 12345\xFF\n\n";
    for size in 1..=stream.len() {
        let (_, error) = read_within(8, stream, size);
        assert_eq!(error, Some(SseError::TooLarge { limit: 8 }), "in pieces of {size}");
    }
}

#[test]
fn a_reader_knows_whether_it_is_inside_an_event() {
    let mut reader = SseReader::default();
    assert!(!reader.is_inside_event());
    for (bytes, inside) in [
        ("event: x\n", true),
        ("data: a\n", true),
        ("\n", false),
        ("data: b", true),
        ("\n\n", false),
        (": comment\n\n", false),
    ] {
        reader.push(bytes.as_bytes());
        while reader.next_event().unwrap().is_some() {}
        assert_eq!(reader.is_inside_event(), inside, "after {bytes:?}");
    }
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_events(
        lines in prop::collection::vec("(data: ?[a-zü🌍{}:\" ]{0,12}|event: ?[a-z.]{1,8}|: ?[a-z]{0,5}|)(\n|\r|\r\n)", 0..40),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let text = lines.concat();
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        prop_assert_eq!(read(pieces), read([bytes]));
    }
}
