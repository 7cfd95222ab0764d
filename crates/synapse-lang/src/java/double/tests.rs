//! Printed doubles, and that they read back.

use proptest::prelude::{any, proptest};

use super::{double_to_string, round, round_to};

#[test]
fn doubles_print_as_java_prints_them() {
    for (value, expect) in [
        (1.0, "1.0"),
        (-2.5, "-2.5"),
        (100.0, "100.0"),
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
        (0.00012, "1.2E-4"),
        (9_999_999.0, "9999999.0"),
        (10_000_000.0, "1.0E7"),
        (12_345_678.9, "1.23456789E7"),
        (1_234_567.89, "1234567.89"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e21, "1.0E21"),
        (2e-3, "0.002"),
        (2e23, "2.0E23"),
        (2.2250738585072014e-308, "2.2250738585072014E-308"),
        (f64::MAX, "1.7976931348623157E308"),
        (5e-324, "4.9E-324"),
        (1e-323, "9.9E-324"),
        (-0.0, "-0.0"),
        (0.0, "0.0"),
        (f64::NAN, "NaN"),
        (f64::NEG_INFINITY, "-Infinity"),
        (1_700_000_000_000.0, "1.7E12"),
    ] {
        assert_eq!(double_to_string(value), expect);
    }
}

#[test]
fn halves_go_up() {
    for (value, expect) in [
        (2.5, 3),
        (-2.5, -2),
        (-2.6, -3),
        (0.499_999_999_999_999_94, 0),
        (5.4, 5),
        (f64::NAN, 0),
        (1e300, i64::MAX),
        (f64::NEG_INFINITY, i64::MIN),
    ] {
        assert_eq!(round(value), expect, "{value}");
    }
}

#[test]
fn decimals_are_rounded_as_printed() {
    for (value, decimals, expect) in [
        (8.89 + 0.12, 1, Some(9.0)),
        (0.115, 2, Some(0.12)),
        (0.111, 4, Some(0.111)),
        (-1.005, 2, Some(-1.01)),
        (1e300, 2, Some(1e300)),
        (1.5, i32::MAX, None),
        (f64::NAN, 1, None),
    ] {
        assert_eq!(round_to(value, decimals), expect, "{value}");
    }
}

proptest! {
    #[test]
    fn printed_doubles_read_back(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        let text = double_to_string(value);
        let back = super::super::parse_double(&text);
        assert!(back.is_some_and(|back| back == value || back.is_nan() && value.is_nan()), "{text}");
    }
}
