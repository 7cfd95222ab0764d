//! Numbers from text the way `Integer.parseInt`, `Long.parseLong` and `Double.parseDouble` read them.

/// `Integer.parseInt`: an optional sign and digits, nothing else.
#[must_use]
pub fn parse_int(text: &str) -> Option<i32> {
    plain_integer(text)?.parse().ok()
}

/// `Long.parseLong`: an optional sign and digits, nothing else.
#[must_use]
pub fn parse_long(text: &str) -> Option<i64> {
    plain_integer(text)?.parse().ok()
}

/// Rust reads the same integers as Java except for what a sign alone means, which both refuse.
fn plain_integer(text: &str) -> Option<&str> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

/// `Double.parseDouble`: surrounding control characters and blanks are ignored; `NaN`, `Infinity`, a trailing
/// `d` or `f`, and hexadecimal floats with a binary exponent are numbers.
#[must_use]
pub fn parse_double(text: &str) -> Option<f64> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let (negative, body) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let value = match body {
        "NaN" => f64::NAN,
        "Infinity" => f64::INFINITY,
        _ if body.starts_with("0x") || body.starts_with("0X") => hex_float(body.get(2..)?)?,
        _ => {
            let digits = body.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(body);
            if !is_decimal_float(digits) {
                return None;
            }
            digits.parse().ok()?
        }
    };
    Some(if negative { -value } else { value })
}

/// Digits with at most one point and an exponent; Rust would also take `inf`, which Java does not know.
fn is_decimal_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at + 1..)),
        None => (text, None),
    };
    let exponent_ok = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    let points = mantissa.bytes().filter(|byte| *byte == b'.').count();
    exponent_ok && digits > 0 && points <= 1 && digits + points == mantissa.len()
}

/// A hexadecimal float after its `0x`: digits, a binary exponent that must be there, an optional suffix.
fn hex_float(text: &str) -> Option<f64> {
    let text =
        text.strip_suffix(['d', 'D', 'f', 'F']).filter(|rest| rest.contains(['p', 'P'])).unwrap_or(text);
    let at = text.find(['p', 'P'])?;
    let (mantissa, exponent) = (text.get(..at)?, text.get(at + 1..)?);
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Beyond this bound the value is zero or infinite whatever the digits, for any text that fits in memory.
    let huge = 1_i64 << 40;
    let exponent = exponent.parse::<i64>().unwrap_or(if exponent.starts_with('-') { -huge } else { huge });
    let mut exponent = exponent.clamp(-huge, huge);
    let (mut bits, mut sticky, mut seen, mut point) = (0_u64, false, false, false);
    for byte in mantissa.bytes() {
        if byte == b'.' {
            if point {
                return None;
            }
            point = true;
            continue;
        }
        let digit = u64::from(char::from(byte).to_digit(16)?);
        seen = true;
        if bits >> 58 == 0 {
            bits = bits << 4 | digit;
            exponent -= if point { 4 } else { 0 };
        } else {
            sticky |= digit != 0;
            exponent += if point { 0 } else { 4 };
        }
    }
    seen.then(|| scale_binary(bits | u64::from(sticky), exponent))
}

/// `bits × 2^exponent`, rounded once, ties to even.
fn scale_binary(bits: u64, exponent: i64) -> f64 {
    if bits == 0 {
        return 0.0;
    }
    let top = 63 - i64::from(bits.leading_zeros());
    let unbiased = top + exponent;
    if unbiased > 1023 {
        return f64::INFINITY;
    }
    // How many low bits do not fit: 53 bits of precision, fewer for subnormal results.
    let precision = if unbiased < -1022 { 53 - (-1022 - unbiased) } else { 53 };
    if precision < 0 {
        return 0.0;
    }
    let drop = top + 1 - precision;
    let (kept, drop) = if drop <= 0 {
        (bits, 0)
    } else {
        let kept = if drop >= 64 { 0 } else { bits >> drop };
        let rest = if drop >= 64 { bits } else { bits & ((1_u64 << drop) - 1) };
        let half = 1_u64 << (drop - 1).min(63);
        let up = rest > half || rest == half && kept & 1 == 1;
        (kept + u64::from(up), drop)
    };
    // Both factors are exact: `kept` has at most 53 bits, and the steps by powers of two lose nothing because
    // the result has been cut to what fits.
    #[expect(clippy::cast_precision_loss, reason = "at most 53 bits are set")]
    let mut value = kept as f64;
    let mut shift = exponent + drop;
    while shift > 0 {
        let step = shift.min(1000);
        value *= 2_f64.powi(i32::try_from(step).unwrap_or(1000));
        shift -= step;
    }
    while shift < 0 {
        let step = (-shift).min(1000);
        value /= 2_f64.powi(i32::try_from(step).unwrap_or(1000));
        shift += step;
    }
    value
}

#[cfg(test)]
mod tests;
