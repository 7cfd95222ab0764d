//! How Java prints and rounds a double.

use super::Decimal;

/// `Double.toString`: the shortest digits that read back as the same double, with a point always, and with an
/// exponent below a thousandth and from ten million on.
#[must_use]
pub fn double_to_string(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-Infinity" } else { "Infinity" }.to_owned();
    }
    if value == 0.0 {
        return if value.is_sign_negative() { "-0.0" } else { "0.0" }.to_owned();
    }
    let (digits, exponent) = shortest(value.abs());
    let sign = if value < 0.0 { "-" } else { "" };
    let (first, rest) = digits.split_at(1);
    if (-3..7).contains(&exponent) {
        return format!("{sign}{}", plain(&digits, exponent));
    }
    format!("{sign}{first}.{}E{exponent}", if rest.is_empty() { "0" } else { rest })
}

/// The digits without their point, and the power of ten of the first. Where one digit is enough Java still
/// chooses among those of two: the least double is `4.9E-324`, not `5.0E-324`.
fn shortest(value: f64) -> (String, i32) {
    let read = |text: String| {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits: String = mantissa.chars().filter(|digit| *digit != '.').collect();
        (digits, exponent.parse().unwrap_or_default())
    };
    let (digits, exponent) = read(format!("{value:e}"));
    if digits.len() > 1 {
        return (digits, exponent);
    }
    let (digits, exponent) = read(format!("{value:.1e}"));
    (digits.strip_suffix('0').map(str::to_owned).unwrap_or(digits), exponent)
}

/// Digits placed around the point, without an exponent.
fn plain(digits: &str, exponent: i32) -> String {
    if exponent < 0 {
        let zeros = usize::try_from(-exponent - 1).unwrap_or_default();
        return format!("0.{}{digits}", "0".repeat(zeros));
    }
    let whole = usize::try_from(exponent).unwrap_or_default() + 1;
    match digits.split_at_checked(whole) {
        Some((whole, "")) => format!("{whole}.0"),
        Some((whole, fraction)) => format!("{whole}.{fraction}"),
        None => format!("{digits}{}.0", "0".repeat(whole - digits.len())),
    }
}

/// `Math.round(double)`: halves go up, what does not fit stops at the ends of a long, NaN is 0.
#[must_use]
pub fn round(value: f64) -> i64 {
    let floor = value.floor();
    // The difference is exact, so 0.49999999999999994 does not become 1.
    let rounded = if value - floor >= 0.5 { floor + 1.0 } else { floor };
    #[expect(clippy::cast_possible_truncation, reason = "both casts saturate, and NaN becomes 0")]
    let long = rounded as i64;
    long
}

/// A double rounded half up to a number of decimals, by the decimal it prints as. Nothing for NaN and infinities.
#[must_use]
pub fn round_to(value: f64, decimals: i32) -> Option<f64> {
    Decimal::of_double(value)?.round_half_up(decimals).map(|decimal| decimal.to_f64())
}

#[cfg(test)]
mod tests;
