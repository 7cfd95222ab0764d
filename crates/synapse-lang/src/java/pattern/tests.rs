//! Matching and splitting as Java does it.

use proptest::prelude::proptest;

use super::{Pattern, PatternError, PatternFlags, split};

fn matches(pattern: &str, flags: &str, text: &str) -> bool {
    let pattern = Pattern::compile(pattern, PatternFlags::of_letters(flags)).expect(pattern);
    pattern.matches(text).expect(text)
}

#[test]
fn whole_texts_match() {
    for (pattern, flags, text, expect) in [
        ("y", "", "y", true),
        ("y", "", "yy", false),
        (".*REES", "i", "Nigel Rees", true),
        ("É", "i", "é", false),
        ("É", "iu", "é", true),
        ("[a-c]+", "i", "aBC", true),
        ("\\d+", "", "٣", false),
        ("\\w+", "", "é", false),
        ("\\w+", "U", "é", true),
        ("a.b", "", "a\nb", false),
        ("a.b", "s", "a\nb", true),
        ("a.b", "d", "a\rb", true),
        ("^a$", "", "a", true),
        ("(?i)ab(?-i)c", "", "ABc", true),
        ("(?i)ab(?-i)c", "", "ABC", false),
        ("(?i:a)b", "", "Ab", true),
        ("a b # c", "x", "ab", true),
        ("\\Qa.b\\E+", "", "a.bb", true),
        ("[\\]a]", "", "]", true),
        ("[]a]", "", "]", true),
        ("[a-z&&[^bc]]", "", "b", false),
        ("[a-z&&[^bc]]", "", "d", true),
        ("[a-]", "", "-", true),
        ("[.]", "", ".", true),
        ("\\p{Alpha}\\p{L}\\pL", "", "aéé", true),
        ("\\u0041\\x42\\x{43}\\0104", "", "ABCD", true),
        ("(a)\\1", "", "aa", true),
        ("(a)\\11", "", "aa1", true),
        ("(?<x>a)\\k<x>", "", "aa", true),
        ("a*+b", "", "aab", true),
        ("a*+a", "", "aa", false),
        ("(?=a)a(?<!b)", "", "a", true),
        ("a{2,3}", "", "aaa", true),
        ("}]", "", "}]", true),
    ] {
        assert_eq!(matches(pattern, flags, text), expect, "{pattern:?} {flags:?} {text:?}");
    }
}

#[test]
fn bad_patterns_are_told_from_unknown_ones() {
    for pattern in
        ["(", ")", "[", "*a", "a**", "{", "a{x}", "a{3,2}", "\\", "\\j", "(?y)", "[z-a]", "\\p{", "(?<1>a)"]
    {
        let error = Pattern::compile(pattern, PatternFlags::default()).expect_err(pattern);
        assert!(matches!(error, PatternError::Syntax { .. }), "{pattern:?}: {error}");
    }
    let deep = "(".repeat(1000) + &")".repeat(1000);
    for pattern in ["\\X", "\\N{DIGIT ONE}", "\\ud83d", deep.as_str()] {
        let error = Pattern::compile(pattern, PatternFlags::default()).expect_err(pattern);
        assert!(matches!(error, PatternError::Unsupported { .. }), "{pattern:?}: {error}");
    }
}

#[test]
fn exploding_patterns_give_up() {
    let pattern = Pattern::compile("(?:(a+)+\\1)+b", PatternFlags::default()).expect("valid");
    assert_eq!(pattern.matches(&"a".repeat(60)), Err(PatternError::TooMuchWork));
}

#[test]
fn splitting_drops_empty_ends() {
    for (text, pattern, expect) in [
        ("a,b,c", ",", &["a", "b", "c"][..]),
        ("a,b,,", ",", &["a", "b"]),
        (",a", ",", &["", "a"]),
        (",", ",", &[]),
        ("", ",", &[""]),
        ("", "", &[""]),
        ("abc", "", &["a", "b", "c"]),
        ("abc", ",", &["abc"]),
        ("a.b", ".", &[]),
        ("a|b", "|", &["a", "|", "b"]),
        ("a1b22c", "[0-9]+", &["a", "b", "c"]),
        ("aXbXc", "(?=X)", &["a", "Xb", "Xc"]),
        ("a b  c", "\\s", &["a", "b", "", "c"]),
        ("baac", "a*", &["b", "", "c"]),
        ("é€", "", &["é", "€"]),
    ] {
        assert_eq!(split(text, pattern).expect(pattern), expect, "{text:?} {pattern:?}");
    }
}

proptest! {
    #[test]
    fn no_pattern_panics(pattern in "[\\\\()\\[\\]{}^$.|?*+a-cdwsQEpLxu0-3<>=!:,&#i-]{0,20}", text in "[a-c0-3\n ]{0,12}") {
        let _ = split(&text, &pattern);
    }
}
