//! Exact decimals with the results and printed forms of `java.math.BigDecimal`.
//!
//! A decimal is an integer and a scale: `2.50` is 250 with scale 2. The integer has no bound in principle;
//! operations that would need more than a few ten thousand digits give nothing instead, because a payload can hold
//! `1e999999999` and a sum with it would fill the memory.

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};

use num_bigint::{BigInt, Sign};

/// How many digits a result may have. Doubles print with at most 17 digits and exponents up to 324, so exact
/// results of the engine's arithmetic stay far below.
pub(super) const MAX_DIGITS: usize = 20_000;

/// An exact decimal number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal {
    unscaled: BigInt,
    scale: i32,
}

impl Decimal {
    /// Reads what `new BigDecimal(text)` reads: digits with an optional sign, point and exponent.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (text.get(..at)?, text.get(at + 1..)?),
            None => (text, "0"),
        };
        let exponent = i64::from(super::parse_int(exponent)?);
        let unsigned = mantissa.strip_prefix(['+', '-']).unwrap_or(mantissa);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits = [whole, fraction].concat();
        if digits.is_empty() || digits.len() > MAX_DIGITS || !digits.bytes().all(|byte| byte.is_ascii_digit())
        {
            return None;
        }
        let unscaled = digits.parse::<BigInt>().ok()?;
        let unscaled = if mantissa.starts_with('-') { -unscaled } else { unscaled };
        let scale = i32::try_from(i64::try_from(fraction.len()).ok()? - exponent).ok()?;
        Some(Self { unscaled, scale })
    }

    /// `BigDecimal.valueOf(double)`: the decimal that the double prints as. Nothing for NaN and infinities.
    #[must_use]
    pub fn of_double(value: f64) -> Option<Self> {
        Self::parse(&super::double_to_string(value))
    }

    /// How many digits stand behind the point; negative for trailing zeros before it.
    #[must_use]
    pub const fn scale(&self) -> i32 {
        self.scale
    }

    /// Whether it is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.unscaled.sign() == Sign::NoSign
    }

    /// `add`.
    #[must_use]
    pub fn add(&self, other: &Self) -> Option<Self> {
        let (one, two, scale) = self.aligned(other)?;
        Some(Self { unscaled: one + two, scale })
    }

    /// `subtract`.
    #[must_use]
    pub fn subtract(&self, other: &Self) -> Option<Self> {
        let (one, two, scale) = self.aligned(other)?;
        Some(Self { unscaled: one - two, scale })
    }

    /// `multiply`.
    #[must_use]
    pub fn multiply(&self, other: &Self) -> Option<Self> {
        let scale = self.scale.checked_add(other.scale)?;
        (self.digits() + other.digits() <= MAX_DIGITS)
            .then(|| Self { unscaled: &self.unscaled * &other.unscaled, scale })
    }

    /// `remainder`: what is left after division to an integer, with the sign of the dividend. Nothing for a
    /// zero divisor.
    #[must_use]
    pub fn remainder(&self, divisor: &Self) -> Option<Self> {
        if divisor.is_zero() {
            return None;
        }
        // Java computes `this - this.divideToIntegralValue(divisor) * divisor`; the scale of that difference is
        // the greater one of the dividend and of quotient times divisor.
        let quotient = self.integral_quotient(divisor)?;
        self.subtract(&quotient.multiply(divisor)?)
    }

    /// `divideToIntegralValue`: the integer part of the quotient, with the preferred scale where it can have it.
    fn integral_quotient(&self, divisor: &Self) -> Option<Self> {
        let preferred = self.scale.checked_sub(divisor.scale)?;
        let (one, two, _) = self.aligned(divisor)?;
        let whole = Self { unscaled: one / two, scale: 0 };
        if preferred >= 0 {
            return whole.with_scale(preferred);
        }
        // Trailing zeros go as long as the scale stays above the preferred one.
        let mut quotient = whole;
        let ten = BigInt::from(10);
        while quotient.scale > preferred
            && !quotient.is_zero()
            && (&quotient.unscaled % &ten).sign() == Sign::NoSign
        {
            quotient = Self { unscaled: quotient.unscaled / &ten, scale: quotient.scale - 1 };
        }
        if quotient.is_zero() {
            quotient.scale = preferred;
        }
        Some(quotient)
    }

    /// `divide(divisor, scale, HALF_UP)`. Nothing for a zero divisor.
    #[must_use]
    pub fn divide_half_up(&self, divisor: &Self, scale: i32) -> Option<Self> {
        if divisor.is_zero() {
            return None;
        }
        // self / divisor × 10^scale = (unscaled × 10^shift) / divisor's unscaled, for this shift.
        let shift = i64::from(scale) + i64::from(divisor.scale) - i64::from(self.scale);
        let (mut numerator, mut denominator) = (self.unscaled.clone(), divisor.unscaled.clone());
        if shift >= 0 {
            numerator *= power_of_ten(shift, self.digits())?;
        } else {
            denominator *= power_of_ten(-shift, divisor.digits())?;
        }
        Some(Self { unscaled: half_up(&numerator, &denominator), scale })
    }

    /// `setScale(scale, HALF_UP)`.
    #[must_use]
    pub fn round_half_up(&self, scale: i32) -> Option<Self> {
        if scale >= self.scale {
            return self.with_scale(scale);
        }
        let drop = i64::from(self.scale) - i64::from(scale);
        if drop > i64::try_from(self.digits()).ok()? {
            return Some(Self { unscaled: BigInt::ZERO, scale });
        }
        let divisor = power_of_ten(drop, 0)?;
        Some(Self { unscaled: half_up(&self.unscaled, &divisor), scale })
    }

    /// `doubleValue`.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        let scientific = format!("{}e{}", self.unscaled, -i64::from(self.scale));
        scientific.parse().unwrap_or(f64::NAN)
    }

    /// The value as a long, if it is one.
    #[must_use]
    pub fn to_i64(&self) -> Option<i64> {
        if self.is_zero() {
            return Some(0);
        }
        if self.scale < -19 {
            return None;
        }
        let whole = self.with_scale_exactly(0)?;
        i64::try_from(whole.unscaled).ok()
    }

    /// `longValue`: the fraction dropped, and of what is too long for a long the low 64 bits.
    #[must_use]
    pub fn low_long(&self) -> i64 {
        let whole = if self.scale > 0 {
            match power_of_ten(i64::from(self.scale), 0) {
                Some(divisor) => &self.unscaled / divisor,
                // Fewer digits than the point is far to the left.
                None => BigInt::ZERO,
            }
        } else if self.scale > -64 {
            &self.unscaled * BigInt::from(10).pow(self.scale.unsigned_abs())
        } else {
            // Ten to the 64th power and beyond has no bit among the low 64.
            BigInt::ZERO
        };
        let low = whole.iter_u64_digits().next().unwrap_or_default().cast_signed();
        if whole.sign() == Sign::Minus { low.wrapping_neg() } else { low }
    }

    /// The same value with more digits behind the point.
    fn with_scale(&self, scale: i32) -> Option<Self> {
        if self.is_zero() {
            return Some(Self { unscaled: BigInt::ZERO, scale });
        }
        let shift = i64::from(scale) - i64::from(self.scale);
        Some(Self { unscaled: &self.unscaled * power_of_ten(shift, self.digits())?, scale })
    }

    /// The same value at another scale, if no digit is lost.
    fn with_scale_exactly(&self, scale: i32) -> Option<Self> {
        if scale >= self.scale {
            return self.with_scale(scale);
        }
        let divisor = power_of_ten(i64::from(self.scale) - i64::from(scale), 0)?;
        let rest = &self.unscaled % &divisor;
        (rest.sign() == Sign::NoSign).then(|| Self { unscaled: &self.unscaled / divisor, scale })
    }

    /// Both integers at the greater scale.
    fn aligned(&self, other: &Self) -> Option<(BigInt, BigInt, i32)> {
        let scale = self.scale.max(other.scale);
        Some((self.with_scale(scale)?.unscaled, other.with_scale(scale)?.unscaled, scale))
    }

    /// At least as many as the integer has decimal digits, at most one more.
    fn digits(&self) -> usize {
        // A decimal digit takes log2(10) = 3.32… bits.
        usize::try_from(self.unscaled.bits()).map_or(usize::MAX, |bits| bits * 100 / 332 + 1)
    }

    /// The power of ten of the leading digit.
    fn magnitude(&self) -> i64 {
        let digits = self.unscaled.magnitude().to_string().len();
        i64::try_from(digits).unwrap_or(i64::MAX) - 1 - i64::from(self.scale)
    }
}

/// Ten to a power, unless the result together with the digits it multiplies would be too long.
fn power_of_ten(power: i64, digits: usize) -> Option<BigInt> {
    let power = u32::try_from(power).ok()?;
    (usize::try_from(power).ok()?.checked_add(digits)? <= MAX_DIGITS).then(|| BigInt::from(10).pow(power))
}

/// The quotient, halves away from zero.
fn half_up(numerator: &BigInt, denominator: &BigInt) -> BigInt {
    let (quotient, rest) = (numerator / denominator, numerator % denominator);
    let twice = rest.magnitude() * 2_u32;
    if twice < *denominator.magnitude() {
        quotient
    } else if (numerator.sign() == Sign::Minus) == (denominator.sign() == Sign::Minus) {
        quotient + 1
    } else {
        quotient - 1
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// `compareTo` apart from the scale: equal values of different scales differ only in their scale, as
/// [`Decimal::compare`] tells.
impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        self.compare(other).then(self.scale.cmp(&other.scale))
    }
}

impl Decimal {
    /// `compareTo`: by value, whatever the scales.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        let (one, two) = (self.unscaled.sign(), other.unscaled.sign());
        if one != two || one == Sign::NoSign {
            return one.cmp(&two);
        }
        let by_magnitude = self.magnitude().cmp(&other.magnitude());
        let absolute = by_magnitude.then_with(|| match self.aligned(other) {
            Some((one, two, _)) => one.magnitude().cmp(two.magnitude()),
            None => Ordering::Equal,
        });
        if one == Sign::Minus { absolute.reverse() } else { absolute }
    }
}

/// `toString`: plain when the scale is not negative and the leading digit lies above a millionth, else with an
/// exponent.
impl Display for Decimal {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let digits = self.unscaled.magnitude().to_string();
        let sign = if self.unscaled.sign() == Sign::Minus { "-" } else { "" };
        if self.scale == 0 {
            return write!(out, "{sign}{digits}");
        }
        let adjusted = i64::try_from(digits.len()).unwrap_or(i64::MAX) - 1 - i64::from(self.scale);
        if self.scale > 0 && adjusted >= -6 {
            let scale = usize::try_from(self.scale).unwrap_or_default();
            let padded = format!("{digits:0>width$}", width = scale + 1);
            let (whole, fraction) = padded.split_at(padded.len() - scale);
            return write!(out, "{sign}{whole}.{fraction}");
        }
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let plus = if adjusted > 0 { "+" } else { "" };
        if adjusted == 0 {
            return write!(out, "{sign}{first}{point}{rest}");
        }
        write!(out, "{sign}{first}{point}{rest}E{plus}{adjusted}")
    }
}

#[cfg(test)]
mod tests;
