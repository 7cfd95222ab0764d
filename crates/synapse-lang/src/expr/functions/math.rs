//! Functions on numbers. A value that is only a long is refused by all of them but `round` with two arguments.

use super::{Answer, invalid};
use crate::expr::value::{Failure, Value, crash};
use crate::java;

pub(super) fn call(name: &str, values: &[Value]) -> Answer {
    let result = match (name, values) {
        ("abs", [value]) => whole_or_double(name, value, i32::wrapping_abs, f64::abs),
        ("ceil", [value]) => whole_or_double(name, value, |int| int, f64::ceil),
        ("floor", [value]) => whole_or_double(name, value, |int| int, f64::floor),
        ("round", [value]) if value.is_double() => Ok(Value::Int(round(value.to_double()))),
        ("round", [value]) if value.is_int() => Ok(Value::Int(value.to_int())),
        ("round", [value, places]) => round_to(value, places),
        ("sqrt", [value]) => doubles(name, values, |_| value.to_double().sqrt()),
        ("log", [_]) => {
            doubles(name, values, |numbers| numbers.first().map_or(f64::NAN, |value| value.log10()))
        }
        ("log", [_, _]) => doubles(name, values, |numbers| match numbers {
            [value, base] => value.ln() / base.ln(),
            _ => f64::NAN,
        }),
        ("pow", [_, _]) => doubles(name, values, |numbers| match numbers {
            [base, exponent] => power(*base, *exponent),
            _ => f64::NAN,
        }),
        ("round", [_]) => invalid(name, values),
        _ => return None,
    };
    Some(result)
}

fn whole_or_double(
    name: &str,
    value: &Value,
    whole: fn(i32) -> i32,
    double: fn(f64) -> f64,
) -> Result<Value, Failure> {
    if value.is_int() {
        Ok(Value::Int(whole(value.to_int())))
    } else if value.is_double() {
        Ok(Value::Double(double(value.to_double())))
    } else {
        invalid(name, std::slice::from_ref(value))
    }
}

fn doubles(name: &str, values: &[Value], calculate: impl Fn(&[f64]) -> f64) -> Result<Value, Failure> {
    if values.iter().all(Value::is_number) {
        let numbers = values.iter().map(Value::to_double).collect::<Vec<_>>();
        return Ok(Value::Double(calculate(&numbers)));
    }
    invalid(name, values)
}

/// `Math.pow` differs from IEEE in that 1 to the power of NaN or infinity is NaN.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent.is_nan() || (exponent.is_infinite() && base.abs() == 1.0) {
        f64::NAN
    } else {
        base.powf(exponent)
    }
}

/// `(int) Math.round(x)`: half up, then the lower half of the long.
#[expect(clippy::cast_possible_truncation, reason = "Java cuts a long to an int the same way")]
fn round(value: f64) -> i32 {
    java::round(value) as i32
}

/// A Java decimal can have more places than a double needs; beyond this many nothing changes any more.
const MAX_PLACES: i32 = 2_000;

fn round_to(value: &Value, places: &Value) -> Result<Value, Failure> {
    if value.is_double() && places.is_int() && places.to_int() > 0 {
        let places = places.to_int().min(MAX_PLACES);
        return match java::round_to(value.to_double(), places) {
            Some(rounded) => Ok(Value::Double(rounded)),
            None => crash("java.lang.NumberFormatException"),
        };
    }
    if value.is_int() || value.is_long() {
        return Ok(value.clone());
    }
    invalid("round", &[value.clone(), places.clone()])
}
