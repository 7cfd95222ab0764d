//! What reads as a number, and as which.

use super::{parse_double, parse_int, parse_long};

#[test]
fn integers_take_a_sign_and_digits_only() {
    for (text, expect) in [
        ("5", Some(5)),
        ("+5", Some(5)),
        ("-5", Some(-5)),
        ("007", Some(7)),
        ("2147483647", Some(i32::MAX)),
        ("2147483648", None),
        ("-2147483648", Some(i32::MIN)),
        ("", None),
        ("+", None),
        ("-", None),
        (" 5", None),
        ("5.0", None),
        ("1e3", None),
        ("--5", None),
        ("0x10", None),
    ] {
        assert_eq!(parse_int(text), expect, "{text:?}");
    }
    assert_eq!(parse_long("9223372036854775807"), Some(i64::MAX));
    assert_eq!(parse_long("9223372036854775808"), None);
    assert_eq!(parse_long("-9223372036854775808"), Some(i64::MIN));
}

#[test]
fn doubles_take_what_java_takes() {
    for (text, expect) in [
        ("1", Some(1.0)),
        (" 5 ", Some(5.0)),
        ("\t5\n", Some(5.0)),
        ("1d", Some(1.0)),
        ("1F", Some(1.0)),
        ("1.", Some(1.0)),
        (".5", Some(0.5)),
        ("1e3", Some(1000.0)),
        ("1e3d", Some(1000.0)),
        ("+1.5E-2", Some(0.015)),
        ("Infinity", Some(f64::INFINITY)),
        ("-Infinity", Some(f64::NEG_INFINITY)),
        ("1e400", Some(f64::INFINITY)),
        ("0x1p4", Some(16.0)),
        ("0x1.8p1", Some(3.0)),
        ("0x.8p0", Some(0.5)),
        ("0x1p-1074", Some(5e-324)),
        ("0x1p-1075", Some(0.0)),
        ("0x1.8p-1075", Some(5e-324)),
        ("0x1.fffffffffffff8p0", Some(2.0)),
        ("0x1p4f", Some(16.0)),
        ("0x1p99999999999999999999", Some(f64::INFINITY)),
        ("0x10", None),
        ("0xp4", None),
        ("", None),
        (".", None),
        ("e5", None),
        ("1e", None),
        ("1dd", None),
        ("inf", None),
        ("infinity", None),
        ("nan", None),
        ("1_000", None),
        ("\u{a0}5", None),
    ] {
        assert_eq!(parse_double(text), expect, "{text:?}");
    }
    assert!(parse_double("NaN").is_some_and(f64::is_nan));
    assert!(parse_double("-0").is_some_and(|zero| zero == 0.0 && zero.is_sign_negative()));
}
