//! A number of a JSON value, and which Java class would hold it.
//!
//! Where a number comes from decides how it prints and which tests hold for it: one read from text stays text
//! until it is asked ([`Number::Lazy`]); one that passed through an object member has been turned into a
//! long, a double or a decimal.

use crate::java::{self, Decimal};

/// A number.
#[derive(Debug, Clone)]
pub enum Number {
    /// As written in the document; prints as written.
    Lazy(String),
    /// A Java `int`.
    Int(i32),
    /// A Java `long`.
    Long(i64),
    /// A Java `double`.
    Double(f64),
    /// A Java `BigDecimal` or `BigInteger`, by its printed form: beyond a long, or not exact as a double.
    Big(String),
}

impl Number {
    /// As written in a document.
    #[must_use]
    pub fn lazy(text: impl Into<String>) -> Self {
        Self::Lazy(text.into())
    }

    /// The same number as the JSON path library hands it out for an object member: a long if it is one, a
    /// double if that is exact, else a decimal.
    #[must_use]
    pub fn normalised(&self) -> Self {
        let Self::Lazy(text) = self else { return self.clone() };
        normalise(text)
    }

    /// The test the engine calls *integer*: an int, a long up to the greatest int (however negative), or text
    /// that reads as an int.
    #[must_use]
    pub fn tests_as_int(&self) -> bool {
        match self {
            Self::Lazy(text) => java::parse_int(text).is_some(),
            Self::Int(_) => true,
            Self::Long(long) => *long <= i64::from(i32::MAX),
            Self::Double(_) | Self::Big(_) => false,
        }
    }

    /// The test the engine calls *long*: a long beyond the greatest int, or text that reads as a long.
    #[must_use]
    pub fn tests_as_long(&self) -> bool {
        match self {
            Self::Lazy(text) => java::parse_long(text).is_some(),
            Self::Long(long) => *long > i64::from(i32::MAX),
            Self::Int(_) | Self::Double(_) | Self::Big(_) => false,
        }
    }

    /// The test the engine calls *double*: a double, or any text that reads as one.
    #[must_use]
    pub fn tests_as_double(&self) -> bool {
        match self {
            Self::Lazy(text) => java::parse_double(text).is_some(),
            Self::Double(_) => true,
            Self::Int(_) | Self::Long(_) | Self::Big(_) => false,
        }
    }

    /// `intValue`: wraps what is too long, cuts fractions, and saturates doubles.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "Java's conversions wrap longs and saturate doubles too"
    )]
    pub fn to_i32(&self) -> i32 {
        match self {
            Self::Lazy(text) => java::parse_int(text).unwrap_or_else(|| self.to_i64() as i32),
            Self::Int(int) => *int,
            Self::Long(_) | Self::Big(_) => self.to_i64() as i32,
            Self::Double(double) => *double as i32,
        }
    }

    /// `longValue`: wraps what is too long, cuts fractions, and saturates doubles.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "Java's conversion saturates too")]
    pub fn to_i64(&self) -> i64 {
        match self {
            Self::Lazy(text) | Self::Big(text) => java::parse_long(text)
                .or_else(|| Decimal::parse(text).map(|decimal| decimal.low_long()))
                .unwrap_or_default(),
            Self::Int(int) => i64::from(*int),
            Self::Long(long) => *long,
            Self::Double(double) => *double as i64,
        }
    }

    /// `new BigDecimal(getAsString())`: the decimal that it prints as.
    #[must_use]
    pub fn to_decimal(&self) -> Option<Decimal> {
        Decimal::parse(&self.to_string())
    }

    /// The value as a double, rounded if need be.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        match self {
            Self::Lazy(text) | Self::Big(text) => java::parse_double(text).unwrap_or(f64::NAN),
            Self::Int(int) => f64::from(*int),
            #[expect(clippy::cast_precision_loss, reason = "Java's longValue to double rounds the same way")]
            Self::Long(long) => *long as f64,
            Self::Double(double) => *double,
        }
    }
}

/// Two numbers are the same when they print the same and are of the same class.
impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Lazy(one), Self::Lazy(two)) | (Self::Big(one), Self::Big(two)) => one == two,
            (Self::Int(one), Self::Int(two)) => one == two,
            (Self::Long(one), Self::Long(two)) => one == two,
            (Self::Double(one), Self::Double(two)) => one.to_bits() == two.to_bits(),
            _ => false,
        }
    }
}

/// A number read from text, as the JSON path library unpacks it.
fn normalise(text: &str) -> Number {
    let Some(decimal) = Decimal::parse(text) else { return Number::lazy(text) };
    if decimal.scale() <= 0 {
        return match decimal.to_i64() {
            Some(long) if long != i64::MIN => Number::Long(long),
            _ => Number::Big(decimal.to_string()),
        };
    }
    let double = decimal.to_f64();
    let exact = Decimal::of_double(double).is_some_and(|back| back.compare(&decimal).is_eq());
    if exact { Number::Double(double) } else { Number::Big(decimal.to_string()) }
}
