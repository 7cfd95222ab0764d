//! Places in texts with all line ends and with characters of one to four bytes.

use super::*;

const TEXT: &str = "a\u{e9}\u{20ac}\u{1f600}z\r\nsecond\rthird\n";

#[track_caller]
fn check(offset: u32, unit: Unit, line: u32, column: u32) {
    let lines = Lines::of(TEXT);
    let position = Position { line, column };
    assert_eq!(lines.position(TEXT, offset, unit), position);
    assert_eq!(lines.offset(TEXT, position, unit), offset);
}

#[test]
fn columns_count_what_was_asked_for() {
    check(10, Unit::Utf8, 0, 10);
    check(10, Unit::Utf16, 0, 5);
    check(10, Unit::Scalar, 0, 4);
    check(11, Unit::Utf16, 0, 6);
}

#[test]
fn all_three_line_ends_end_a_line() {
    check(13, Unit::Utf16, 1, 0);
    check(20, Unit::Utf16, 2, 0);
    check(26, Unit::Utf16, 3, 0);
    let lines = Lines::of(TEXT);
    assert_eq!(lines.count(), 4);
    assert_eq!(lines.line(TEXT, 1), "second");
    assert_eq!(lines.line(TEXT, 3), "");
    assert_eq!(lines.line(TEXT, 4), "");
}

#[test]
fn places_outside_are_brought_inside() {
    let lines = Lines::of(TEXT);
    assert_eq!(lines.offset(TEXT, Position { line: 0, column: 99 }, Unit::Utf16), 11);
    assert_eq!(lines.offset(TEXT, Position { line: 99, column: 0 }, Unit::Utf16), 26);
    assert_eq!(lines.position(TEXT, 999, Unit::Utf8), Position { line: 3, column: 0 });
    // Inside the euro sign: its start.
    assert_eq!(lines.position(TEXT, 4, Unit::Utf16), Position { line: 0, column: 2 });
}
