//! What is read, and the way back.

use super::*;

#[test]
fn references_are_resolved_and_the_rest_stays() {
    for (raw, text) in [
        ("plain", "plain"),
        ("a &lt; b &gt; c &amp; d &quot;&apos;", "a < b > c & d \"'"),
        ("&#65;&#x42;&#X43;", "AB&#X43;"),
        ("&&amp;&x;&lt", "&&&x;&lt"),
        ("&amp;lt;", "&lt;"),
        ("a\r\nb\rc\nd\te", "a\nb\nc\nd\te"),
        ("&#13;&#10;", "\r\n"),
    ] {
        assert_eq!(unescape(raw).text(), text, "{raw}");
    }
    assert_eq!(unescape_attribute("a\r\nb\rc\nd\te&#10;").text(), "a b c d e\n");
    assert!(unescape("plain").is_verbatim());
}

#[test]
fn a_part_of_the_read_text_is_found_where_it_was_written() {
    let raw = "a &lt; b &amp;&amp; \r\n\u{e9}";
    let decoded = unescape(raw);
    assert_eq!(decoded.text(), "a < b && \n\u{e9}");
    let written = |range: Range<usize>| decoded.source_span(range).of(raw);
    assert_eq!(written(0..1), "a");
    assert_eq!(written(2..3), "&lt;");
    assert_eq!(written(3..5), " b");
    assert_eq!(written(6..8), "&amp;&amp;");
    assert_eq!(written(7..8), "&amp;");
    assert_eq!(written(9..10), "\r\n");
    assert_eq!(written(10..12), "\u{e9}");
    assert_eq!(written(0..decoded.text().len()), raw);
    assert_eq!(decoded.source_span(3..3), Span::at(6));
    assert_eq!(decoded.source_span(99..120), Span::at(raw.len() as u32));
}

#[test]
fn a_place_of_the_source_is_found_in_the_read_text() {
    let decoded = decode("a&lt;b", 10, Reading::Attribute);
    let found: Vec<_> = (9..=17).map(|source| decoded.decoded_offset(source)).collect();
    assert_eq!(found, [0, 0, 1, 1, 1, 1, 2, 3, 3]);
}
