//! Numbers out of text, only where nothing is lost.

use serde_json::Number;

/// Up to here every integer is a float of its own.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The number that a text is the exact JSON notation of. None for anything else: spaces, leading zeros, more digits
/// than a float keeps.
pub(crate) fn read(text: &str) -> Option<Number> {
    if !is_json_number(text) {
        return None;
    }
    if !text.contains(['.', 'e', 'E']) {
        let signed = text.parse::<i64>().ok().map(Number::from);
        return signed.or_else(|| text.parse::<u64>().ok().map(Number::from));
    }
    let float: f64 = text.parse().ok()?;
    let kept = Decimal::of(text)? == Decimal::of(&format!("{float:e}"))?;
    if kept { Number::from_f64(float) } else { None }
}

/// A float as the integer it is. None when it is not one, or too large to be sure.
pub(crate) fn whole(number: &Number) -> Option<Number> {
    let float = number.as_f64()?;
    (float.fract() == 0.0 && float.abs() <= EXACT).then(|| Number::from(float as i64))
}

/// A sign, the digits without zeros at either end, and the power of ten of the last digit: equal for equal numbers.
#[derive(PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    power: i64,
}

impl Decimal {
    fn of(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (negative, mantissa) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let kept = all.trim_end_matches('0');
        let dropped = i64::try_from(all.len() - kept.len()).ok()?;
        let places = i64::try_from(fraction.len()).ok()?;
        let digits = kept.trim_start_matches('0').to_owned();
        let power = exponent.parse::<i64>().ok()?.checked_sub(places)?.checked_add(dropped)?;
        let power = if digits.is_empty() { 0 } else { power };
        Some(Self { negative: negative && !digits.is_empty(), digits, power })
    }
}

fn is_json_number(text: &str) -> bool {
    // The parser skips blanks around a number; a text with blanks is not one.
    text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && text.ends_with(|last: char| last.is_ascii_digit())
        && serde_json::from_str::<Number>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(read(text).map(|number| number.to_string()).as_deref(), expect, "{text:?}");
    }

    #[test]
    fn only_what_loses_nothing() {
        check("0", Some("0"));
        check("-17", Some("-17"));
        check("18446744073709551615", Some("18446744073709551615"));
        check("18446744073709551616", None);
        check("1.5", Some("1.5"));
        check("1.50", Some("1.5"));
        check("1e3", Some("1000.0"));
        check("0.1", Some("0.1"));
        check("0.12345678901234567890", None);
        check("9007199254740993.0", None);
        check("1e400", None);
        check("1e-400", None);
        check("", None);
        check(" 1", None);
        check("1 ", None);
        check("01", None);
        check("+1", None);
        check("1.", None);
        check(".5", None);
        check("0x10", None);
        check("1_000", None);
        check("NaN", None);
        check("١", None);
    }

    proptest! {
        // Fifteen digits always survive a float. With seventeen, two texts can stand for one float, and it is right to
        // refuse one of them.
        #[test]
        fn fifteen_digits_are_always_kept(digits in 1_u64..1_000_000_000_000_000, power in -300_i32..290) {
            let text = format!("{digits}e{power}");
            prop_assert_eq!(read(&text).and_then(|read| read.as_f64()), text.parse::<f64>().ok());
        }

        #[test]
        fn whole_numbers_come_back(integer in -(1_i64 << 53)..=(1_i64 << 53)) {
            let float = Number::from_f64(integer as f64).unwrap();
            prop_assert_eq!(whole(&float), Some(Number::from(integer)));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[-+0-9eE. ]{0,12}") {
            if let Some(number) = read(&text) {
                prop_assert_eq!(number.as_f64(), text.parse::<f64>().ok());
            }
        }
    }
}
