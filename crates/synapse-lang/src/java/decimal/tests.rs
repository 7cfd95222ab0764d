//! Arithmetic and printed forms of decimals.

use std::cmp::Ordering;

use super::Decimal;

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).expect(text)
}

fn show(result: Option<Decimal>) -> String {
    result.map_or_else(|| "none".to_owned(), |decimal| decimal.to_string())
}

#[test]
fn printed_forms() {
    for (text, expect) in [
        ("2.50", "2.50"),
        ("-0.001", "-0.001"),
        ("1e3", "1E+3"),
        ("1.5e3", "1.5E+3"),
        ("0.0000001", "1E-7"),
        ("0.000001", "0.000001"),
        ("0.00000123", "0.00000123"),
        ("0.000000123", "1.23E-7"),
        ("12e-1", "1.2"),
        ("+5", "5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("0e5", "0E+5"),
        ("0.00", "0.00"),
        ("1E+30", "1E+30"),
    ] {
        assert_eq!(decimal(text).to_string(), expect, "{text}");
    }
    for text in ["", ".", "e5", "1e", "1e5x", "0x1", " 1", "1e99999999999", "NaN"] {
        assert_eq!(Decimal::parse(text), None, "{text}");
    }
}

#[test]
fn arithmetic_is_exact_and_keeps_java_scales() {
    let add = |one: &str, two: &str| show(decimal(one).add(&decimal(two)));
    let multiply = |one: &str, two: &str| show(decimal(one).multiply(&decimal(two)));
    let remainder = |one: &str, two: &str| show(decimal(one).remainder(&decimal(two)));
    assert_eq!(add("0.1", "0.2"), "0.3");
    assert_eq!(add("1.50", "1.5"), "3.00");
    assert_eq!(add("1e3", "1"), "1001");
    assert_eq!(show(decimal("1").subtract(&decimal("0.9"))), "0.1");
    assert_eq!(multiply("1.5", "2.00"), "3.000");
    assert_eq!(multiply("-2", "3"), "-6");
    assert_eq!(remainder("7.5", "2"), "1.5");
    assert_eq!(remainder("-7.5", "2"), "-1.5");
    assert_eq!(remainder("7", "-2.5"), "2.0");
    assert_eq!(remainder("6", "2"), "0");
    assert_eq!(remainder("1", "0.3"), "0.1");
    assert_eq!(remainder("1", "0"), "none");
    assert_eq!(add("1e999999", "1"), "none");
}

#[test]
fn division_rounds_half_up() {
    for (one, two, scale, expect) in [
        ("10.0", "3", 1, "3.3"),
        ("1.0", "8", 1, "0.1"),
        ("22.0", "7", 1, "3.1"),
        ("9.99", "3", 2, "3.33"),
        ("1", "2", 0, "1"),
        ("-1", "2", 0, "-1"),
        ("1", "-3", 3, "-0.333"),
        ("2", "-3", 3, "-0.667"),
        ("5", "0", 1, "none"),
        ("125", "100", 1, "1.3"),
    ] {
        assert_eq!(show(decimal(one).divide_half_up(&decimal(two), scale)), expect, "{one}/{two}");
    }
    for (text, scale, expect) in [
        ("2.345", 2, "2.35"),
        ("-2.345", 2, "-2.35"),
        ("2", 2, "2.00"),
        ("0.004", 1, "0.0"),
        ("99.95", 1, "100.0"),
    ] {
        assert_eq!(show(decimal(text).round_half_up(scale)), expect, "{text}");
    }
}

#[test]
fn comparison_ignores_the_scale_and_survives_huge_exponents() {
    for (one, two, expect) in [
        ("1", "1.0", Ordering::Equal),
        ("-1", "1", Ordering::Less),
        ("-2", "-1", Ordering::Less),
        ("0", "0.00", Ordering::Equal),
        ("1e999999999", "1", Ordering::Greater),
        ("-1e999999999", "1e-999999999", Ordering::Less),
        ("10.5", "9.75", Ordering::Greater),
    ] {
        assert_eq!(decimal(one).compare(&decimal(two)), expect, "{one} {two}");
    }
}

#[test]
fn conversions() {
    assert_eq!(decimal("1e3").to_i64(), Some(1000));
    assert_eq!(decimal("1.50").to_i64(), None);
    assert_eq!(decimal("9223372036854775808").to_i64(), None);
    assert_eq!(decimal("1e999999").to_i64(), None);
    assert_eq!(decimal("1e400").to_f64(), f64::INFINITY);
    assert_eq!(decimal("-2.5").to_f64(), -2.5);
    for (text, expect) in [
        ("2.9", 2),
        ("-2.9", -2),
        ("9223372036854775808", i64::MIN),
        ("18446744073709551617", 1),
        ("-18446744073709551617", -1),
        ("1e18", 1_000_000_000_000_000_000),
        ("1e19", -8_446_744_073_709_551_616),
        ("1e999999999", 0),
        ("1e-999999999", 0),
    ] {
        assert_eq!(decimal(text).low_long(), expect, "{text}");
    }
}
