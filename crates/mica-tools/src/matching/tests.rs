//! Where quotations stand, and that nothing else changes.

use proptest::prelude::*;

use super::*;
use crate::text::{Endings, endings};

/// The text after one edit, and how it was found.
fn edited(text: &str, old: &str, new: &str) -> Result<(Tolerance, String), NotFound> {
    let (tolerance, found) = find(text, old, new, Count::One)?;
    assert_eq!(found.len(), 1);
    let Replacement { range, new } = &found[0];
    Ok((tolerance, format!("{}{new}{}", &text[..range.start], &text[range.end..])))
}

fn check(text: &str, old: &str, new: &str, tolerance: Tolerance, expected: &str) {
    let result = edited(text, old, new);
    assert_eq!(result, Ok((tolerance, expected.to_owned())), "{text:?}: {old:?} -> {new:?}");
}

#[test]
fn exactly() {
    check("abc", "b", "x", Tolerance::Exact, "axc");
    check("a $1 b", "$1", "$& \\1 $$", Tolerance::Exact, "a $& \\1 $$ b");
    check("a\r\nb\r\n", "b", "b\nc", Tolerance::Exact, "a\r\nb\r\nc\r\n");
    check("a\r\nb\n", "a", "x\ny", Tolerance::Exact, "x\r\ny\r\nb\n");
    check("a\r\nb\n", "b", "x\ny", Tolerance::Exact, "a\r\nx\ny\n");
    check("a\r\nb", "b", "x\ny", Tolerance::Exact, "a\r\nx\r\ny");
    check("a\nb\n", "b", "b\r\nc", Tolerance::Exact, "a\nb\r\nc\n");
    assert_eq!(edited("aaa", "aa", "b"), Err(NotFound::Ambiguous(vec![0, 1])));
    assert_eq!(edited("abc", "d", "x"), Err(NotFound::Absent));
}

#[test]
fn with_other_line_ends() {
    check("a\r\nb\r\nc\r\n", "a\nb", "x\ny", Tolerance::LineEndings, "x\r\ny\r\nc\r\n");
    check("a\nb\nc\n", "a\r\nb", "x\r\ny", Tolerance::LineEndings, "x\ny\nc\n");
    check("x\r\nab\r\ncd\r\n", "b\nc", "-", Tolerance::LineEndings, "x\r\na-d\r\n");
    // Half a line end is never replaced, even where the letters match.
    check("a\r\nb", "\nb", "\nc", Tolerance::LineEndings, "a\r\nc");
    check("a\r\nb\nc\n", "a\nb", "x\ny", Tolerance::LineEndings, "x\r\ny\nc\n");
}

#[test]
fn with_other_blanks_at_the_end() {
    check("a  \nb\t\nc\n", "a\nb\n", "x\n", Tolerance::TrailingBlanks, "x\nc\n");
    check("a\nb\n", "a  \nb  ", "x", Tolerance::TrailingBlanks, "x\n");
    check("a \r\nb\r\n", "a\nb\n", "x\ny\n", Tolerance::TrailingBlanks, "x\r\ny\r\n");
    check("z\na \nb", "a\nb\n", "x\n", Tolerance::TrailingBlanks, "z\nx");
    check("a\r\nb", "b\n", "c\n", Tolerance::TrailingBlanks, "a\r\nc");
    assert_eq!(edited("a \nb\na\t\nb\n", "a\nb\n", "x"), Err(NotFound::Ambiguous(vec![0, 5])));
    assert_eq!(edited("a\n   \n", " \n \n", "x"), Err(NotFound::Absent), "blanks alone name no place");
}

#[test]
fn with_another_indentation() {
    check(
        "fn f() {\n    if a {\n        b();\n    }\n}\n",
        "if a {\n    b();\n}\n",
        "if c {\n    b();\n\n    d();\n}\n",
        Tolerance::Indentation,
        "fn f() {\n    if c {\n        b();\n\n        d();\n    }\n}\n",
    );
    check("a\n  b\n", "    a\n      b\n", "    a\n", Tolerance::Indentation, "a\n");
    check("\ta\n\t\tb\n", "  a\n    b\n", "  c\n    d\n", Tolerance::Indentation, "\tc\n\t\td\n");
    // A depth that neither text shows has no known counterpart, so nothing is guessed.
    assert_eq!(edited("\ta\n\t\tb\n", "  a\n    b\n", "      c\n"), Err(NotFound::Absent));
    assert_eq!(edited("  a\n  b\n", "a\n b\n", "c\n"), Ok((Tolerance::Indentation, "  c\n".to_owned())));
    assert_eq!(
        edited("a\n  b\n    c\n", "a\n b\n c\n", " x\n"),
        Err(NotFound::Absent),
        "one indent, two meanings"
    );
}

#[test]
fn with_other_signs() {
    check(
        "say \u{201C}hi\u{201D} now",
        "say \"hi\"",
        "tell \"hi\"",
        Tolerance::Signs,
        "tell \u{201C}hi\u{201D} now",
    );
    check(
        "it\u{2019}s a\u{A0}b \u{2013} c",
        "it's a b - c",
        "it's a b - d",
        Tolerance::Signs,
        "it\u{2019}s a\u{A0}b \u{2013} d",
    );
    check("say \"hi\"", "\u{201C}hi\u{201D}", "\u{201C}ho\u{201D}", Tolerance::Signs, "say \"ho\"");
    check(
        "\u{201C}a\u{201D}\r\nb\r\n",
        "\"a\"\nb",
        "\"a\"\nc\nd",
        Tolerance::Signs,
        "\u{201C}a\u{201D}\r\nc\r\nd\r\n",
    );
    check("\u{201C}a\u{201D}", "\"a\"", "", Tolerance::Signs, "");
    assert_eq!(
        edited("\u{2018}a\u{2019} \u{2018}a\u{2019}", "'a'", "b"),
        Err(NotFound::Ambiguous(vec![0, 8])),
        "only a place that is the only one"
    );
    assert_eq!(edited("\u{A0}\u{A0}", "  ", "x"), Err(NotFound::Absent), "blanks alone name no place");
    assert_eq!(
        edited("\u{2018}a\u{2019}", "\"a\"", "b"),
        Err(NotFound::Absent),
        "other quotes are other quotes"
    );
}

#[test]
fn a_stricter_match_hides_a_looser_one() {
    check("a \na\n", "a\n", "x\n", Tolerance::Exact, "a \nx\n");
    check("  a\n  b\na\nb\n", "a\nb\n", "", Tolerance::Exact, "  a\n  b\n");
}

#[test]
fn all_of_them() {
    let all = |text: &str, old: &str, new: &str| -> Vec<Range<usize>> {
        find(text, old, new, Count::All).unwrap().1.into_iter().map(|found| found.range).collect()
    };
    assert_eq!(all("aaaa", "aa", "b"), [0..2, 2..4]);
    assert_eq!(all(&"a".repeat(3000), "a", "b").len(), 3000);
    let many = find(&"a".repeat(3000), "a", "b", Count::One);
    assert!(matches!(many, Err(NotFound::Ambiguous(places)) if places.len() == MANY));
    assert_eq!(all("a\r\nb\r\na\r\nb\r\n", "a\nb\n", "x\n"), [0..6, 6..12]);
    // What is not exact is replaced where it is the only one.
    assert_eq!(all("  a\n  b\n", "a\nb\n", "c\n").first(), Some(&(0..8)));
    let many = find("  a\n  b\n  a\n  b\n", "a\nb\n", "c\n", Count::All);
    assert_eq!(many, Err(NotFound::Inexact(vec![0, 8])));
}

fn uniform() -> impl Strategy<Value = String> {
    (prop::collection::vec("[ ]{0,2}[abü]{0,3}[ ]{0,2}", 0..8), any::<bool>(), any::<bool>()).prop_map(
        |(lines, crlf, ended)| {
            let end = if crlf { "\r\n" } else { "\n" };
            let mut text = lines.join(end);
            if ended {
                text.push_str(end);
            }
            text
        },
    )
}

/// A part of a text, cut at characters and never inside a line end.
fn part(text: &str, from: usize, to: usize) -> &str {
    let at = |at: usize| {
        let mut at = at.min(text.len());
        while !text.is_char_boundary(at) || splits_line_end(text, at) {
            at -= 1;
        }
        at
    };
    let (from, to) = (at(from.min(to)), at(from.max(to)));
    &text[from..to]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// However the quotation is bent, what is replaced is one range of the original that says the same thing.
    #[test]
    fn only_the_place_changes(
        text in uniform(), from in 0..40_usize, to in 0..40_usize, new in "[ abx\n]{0,6}",
        strip in any::<bool>(), lf in any::<bool>(), indent in 0..3_usize,
    ) {
        let mut old = part(&text, from, to).to_owned();
        if lf {
            old = old.replace("\r\n", "\n");
        }
        if strip {
            old = old.split('\n').map(|line| line.trim_end_matches(' ')).collect::<Vec<_>>().join("\n");
        }
        if indent > 0 {
            old = old.split('\n').map(|line| format!("{}{line}", " ".repeat(indent))).collect::<Vec<_>>().join("\n");
        }
        if old.is_empty() {
            return Ok(());
        }
        if let Ok((_, found)) = find(&text, &old, &new, Count::One) {
            let range = found[0].range.clone();
            let bare = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            prop_assert_eq!(bare(&text[range.clone()]), bare(&old));
            prop_assert!(!splits_line_end(&text, range.start) && !splits_line_end(&text, range.end));
            let after = format!("{}{}{}", &text[..range.start], found[0].new, &text[range.end..]);
            if endings(&text) == Endings::CrLf {
                prop_assert!(matches!(endings(&after), Endings::CrLf | Endings::None), "{:?}", after);
            }
        }
    }

    /// An edit and its inverse leave the file as it was, byte for byte.
    #[test]
    fn back_again(text in uniform(), from in 0..40_usize, to in 0..40_usize, new in "[xyz\n]{1,6}") {
        let old = part(&text, from, to);
        if old.is_empty() {
            return Ok(());
        }
        let Ok((Tolerance::Exact, found)) = find(&text, old, &new, Count::One) else { return Ok(()) };
        let range = found[0].range.clone();
        let after = format!("{}{}{}", &text[..range.start], found[0].new, &text[range.end..]);
        if let Ok((Tolerance::Exact, back)) = find(&after, &found[0].new, old, Count::One) {
            prop_assert_eq!(back[0].range.start, range.start);
            let restored = format!("{}{}{}", &after[..range.start], back[0].new, &after[back[0].range.end..]);
            prop_assert_eq!(restored, text);
        }
    }
}
