//! Reading leniently, printing compactly, and what numbers are.

use proptest::prelude::{prop_assert_eq, proptest};

use super::{Json, JsonErrorKind, MAX_DEPTH, Number, Object, parse};

fn check(text: &str, expect: &str) {
    assert_eq!(
        parse(text).map(|json| json.to_string()).map_err(|error| error.kind),
        Ok(expect.to_owned()),
        "{text:?}"
    );
}

fn check_error(text: &str, kind: JsonErrorKind, at: usize) {
    let error = parse(text).expect_err(text);
    assert_eq!((error.kind, error.at), (kind, at), "{text:?}");
}

#[test]
fn strict_documents_print_without_blanks() {
    for (text, expect) in [
        ("null", "null"),
        (" [ 1 , 2.50 , 1e3 , -0 ] ", "[1,2.50,1e3,-0]"),
        ("{\"b\": null, \"a\": [true, false]}", "{\"b\":null,\"a\":[true,false]}"),
        ("{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}"),
        ("[]", "[]"),
        ("{}", "{}"),
        ("[[],{}]", "[[],{}]"),
        ("\"é€<='&>\"", "\"é€<='&>\""),
        (r#""\u0041\u00e9\n\t\b\f\r\/\"\\""#, "\"Aé\\n\\t\\b\\f\\r/\\\"\\\\\""),
        (r#""\u0001\u007f\u2028\u2029""#, "\"\\u0001\u{7f}\\u2028\\u2029\""),
        (r#""\ud83d\ude00""#, "\"😀\""),
        (r#""\ud83dx\ude00\ud83d""#, "\"\u{fffd}x\u{fffd}\u{fffd}\""),
        (r#""\ud83d\ud83d\ude00""#, "\"\u{fffd}😀\""),
    ] {
        check(text, expect);
    }
}

#[test]
fn leniencies_of_the_runtime_are_kept() {
    for (text, expect) in [
        ("", "null"),
        (" // nothing\n", "null"),
        ("{'a': 'it\\'s', b: c d}", ""),
        ("{'a': 'x', b = 1, c => TRUE; d: Null}", "{\"a\":\"x\",\"b\":1,\"c\":true,\"d\":null}"),
        ("[1,]", "[1,null]"),
        ("[,]", "[null,null]"),
        ("[,1;2]", "[null,1,2]"),
        ("[007, +5, .5, NaN, 1., word, 0x1]", "[\"007\",\"+5\",\".5\",\"NaN\",\"1.\",\"word\",\"0x1\"]"),
        ("/* a */ [1 # b\n, 2 // c\r]", "[1,2]"),
        (")]}'\n{\"a\":1}", "{\"a\":1}"),
        ("null and whatever", "null"),
        ("\"a\nb\"", "\"a\\nb\""),
        ("\"a\\\nb\"", "\"a\\nb\""),
    ] {
        if expect.is_empty() {
            assert!(parse(text).is_err(), "{text:?}");
        } else {
            check(text, expect);
        }
    }
}

#[test]
fn errors_say_what_and_where() {
    for (text, kind, at) in [
        ("[1", JsonErrorKind::End, 2),
        ("{\"a\"", JsonErrorKind::End, 4),
        ("{\"a\":", JsonErrorKind::End, 5),
        ("{\"a\":}", JsonErrorKind::Value, 5),
        ("{,}", JsonErrorKind::Name, 1),
        ("{\"a\":1,}", JsonErrorKind::Name, 7),
        ("{\"a\" 1}", JsonErrorKind::Colon, 5),
        ("[1 2]", JsonErrorKind::InArray, 3),
        ("{\"a\":1 \"b\":2}", JsonErrorKind::InObject, 7),
        ("\"a", JsonErrorKind::Unterminated, 0),
        ("\"\\x\"", JsonErrorKind::Escape, 1),
        ("\"\\u12\"", JsonErrorKind::Escape, 1),
        ("\"\\u12é4\"", JsonErrorKind::Escape, 1),
        ("/* x", JsonErrorKind::Comment, 0),
        ("{} x", JsonErrorKind::Trailing, 3),
        ("{} // x", JsonErrorKind::Trailing, 3),
        ("]", JsonErrorKind::Value, 0),
        ("\\", JsonErrorKind::Value, 0),
    ] {
        check_error(text, kind, at);
    }
}

#[test]
fn depth_is_bounded() {
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert_eq!(parse(&deep(MAX_DEPTH)).map(|json| json.to_string()), Ok(deep(MAX_DEPTH)));
    check_error(&deep(MAX_DEPTH + 1), JsonErrorKind::Depth, MAX_DEPTH + 1);
    check_error(&"{\"a\":".repeat(100_000), JsonErrorKind::Depth, 5 * MAX_DEPTH + 1);
}

#[test]
fn member_numbers_are_normalised() {
    for (text, expect) in [
        ("5", Number::Long(5)),
        ("-3000000000", Number::Long(-3_000_000_000)),
        ("1e3", Number::Long(1000)),
        ("2.50", Number::Double(2.5)),
        ("1.0", Number::Double(1.0)),
        ("-0", Number::Long(0)),
        ("-0.0", Number::Big("0.0".into())),
        ("12345678901234567890", Number::Big("12345678901234567890".into())),
        ("-9223372036854775808", Number::Big("-9223372036854775808".into())),
        ("1e30", Number::Big("1E+30".into())),
        ("0.1234567890123456789", Number::Big("0.1234567890123456789".into())),
        ("1e-7", Number::Double(1e-7)),
    ] {
        // Zero keeps no sign as a decimal, and a double of it compares equal.
        let expect = if text == "-0.0" { Number::Double(0.0) } else { expect };
        assert_eq!(Number::lazy(text).normalised(), expect, "{text}");
    }
}

#[test]
fn kinds_decide_which_tests_hold() {
    let kinds = |number: &Number| (number.tests_as_int(), number.tests_as_long(), number.tests_as_double());
    for (number, expect) in [
        (Number::lazy("5"), (true, true, true)),
        (Number::lazy("3000000000"), (false, true, true)),
        (Number::lazy("2.5"), (false, false, true)),
        (Number::lazy("5").normalised(), (true, false, false)),
        (Number::lazy("3000000000").normalised(), (false, true, false)),
        (Number::lazy("-3000000000").normalised(), (true, false, false)),
        (Number::lazy("2.5").normalised(), (false, false, true)),
        (Number::lazy("12345678901234567890").normalised(), (false, false, false)),
    ] {
        assert_eq!(kinds(&number), expect, "{number}");
    }
}

#[test]
fn conversions_wrap_and_cut_as_java_does() {
    for (number, int, long) in [
        (Number::lazy("5"), 5, 5),
        (Number::lazy("3000000000"), -1_294_967_296, 3_000_000_000),
        (Number::Long(-3_000_000_000), 1_294_967_296, -3_000_000_000),
        (Number::lazy("2.9"), 2, 2),
        (Number::Double(-2.9), -2, -2),
        (Number::Double(1e20), i32::MAX, i64::MAX),
        (Number::lazy("1e3"), 1000, 1000),
        (Number::lazy("12345678901234567890").normalised(), -350_287_150, -6_101_065_172_474_983_726),
    ] {
        assert_eq!((number.to_i32(), number.to_i64()), (int, long), "{number}");
    }
    assert_eq!(
        Number::Double(1e7).to_decimal().map(|decimal| decimal.to_string()).as_deref(),
        Some("1.0E+7")
    );
}

proptest! {
    #[test]
    fn no_text_panics_and_printed_values_read_back(text in "[\\[\\]{}:,;'\"#/*=> a-c0-9.eE+\\\\u\n-]{0,24}") {
        if let Ok(json) = parse(&text) {
            prop_assert_eq!(parse(&json.to_string()), Ok(json));
        }
    }
}

#[test]
fn large_objects_find_members_and_keep_order() {
    let mut object: Object = (0..100).map(|at| (format!("k{at}"), Json::from(at % 2 == 0))).collect();
    object.insert("k50", Json::Null);
    assert_eq!(object.len(), 100);
    assert_eq!(object.get("k50"), Some(&Json::Null));
    assert_eq!(object.get("k99"), Some(&Json::Bool(false)));
    assert_eq!(object.get("k100"), None);
    assert_eq!(object.iter().nth(50).map(|(name, _)| name), Some("k50"));
}
