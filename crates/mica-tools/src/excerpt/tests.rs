//! What one read shows.

use super::*;

fn limits() -> Limits {
    Limits { read_lines: 10, read_bytes: 100, line_bytes: 20, ..Limits::default() }
}

fn numbers(count: usize) -> String {
    (1..=count).map(|number| format!("line {number}\n")).collect()
}

fn check(text: &str, wanted: Wanted, expected: &str, whole: &[RangeInclusive<usize>]) {
    let excerpt = take(text, wanted, Numbers::Hidden, &limits()).unwrap();
    assert_eq!(excerpt.text, expected);
    assert_eq!(excerpt.whole, whole);
}

#[test]
fn what_fits_is_whole() {
    check(&numbers(10), Wanted::All, &numbers(10), &[1..=10]);
    check("no end", Wanted::All, "no end\n", &[1..=1]);
}

#[test]
fn what_does_not_fit_is_shown_from_both_ends() {
    check(
        &numbers(40),
        Wanted::All,
        "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\n\
         [… lines 9-38 of 40 are left out here; read on with offset 9 …]\nline 39\nline 40\n",
        &[1..=8, 39..=40],
    );
}

#[test]
fn a_part() {
    check(&numbers(40), Wanted::From { line: 39, count: 5 }, "line 39\nline 40\n", &[39..=40]);
    check(
        &numbers(40),
        Wanted::From { line: 3, count: 2 },
        "line 3\nline 4\n[… lines 5-40 of 40 are left out here; read on with offset 5 …]\n",
        &[3..=4],
    );
    assert_eq!(take("a\n", Wanted::From { line: 2, count: 1 }, Numbers::Hidden, &limits()), None);
}

#[test]
fn a_line_that_is_cut_was_not_seen() {
    let long = format!("short\n{}\nshort\n", "ü".repeat(15));
    check(
        &long,
        Wanted::All,
        &format!("short\n{}[… 10 more bytes of this line are left out …]\nshort\n", "ü".repeat(10)),
        &[1..=1, 3..=3],
    );
}

#[test]
fn line_numbers() {
    let excerpt = take(&numbers(10), Wanted::From { line: 9, count: 9 }, Numbers::Shown, &limits()).unwrap();
    assert_eq!(excerpt.text, " 9\tline 9\n10\tline 10\n");
}

#[test]
fn something_is_always_shown() {
    let tight = Limits { read_lines: 0, read_bytes: 0, line_bytes: 1, ..Limits::default() };
    let excerpt = take("abc\ndef\n", Wanted::All, Numbers::Hidden, &tight).unwrap();
    assert_eq!(
        excerpt.text,
        "a[… 2 more bytes of this line are left out …]\n[… lines 2-2 of 2 are left out here; read on with offset 2 …]\n"
    );
}
