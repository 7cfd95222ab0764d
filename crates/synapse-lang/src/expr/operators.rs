//! What the operators do with two values.
//!
//! Both operands are evaluated before an operator looks at them; nothing is skipped.

use super::ast::Operator;
use super::value::{Failure, Outcome, Value, crash, refuse};
use crate::java::Decimal;

/// Applies an operator.
pub(super) fn apply(operator: Operator, left: Option<Value>, right: Option<Value>) -> Outcome {
    let value = match (operator, left, right) {
        (Operator::Equal, left, right) => Value::Bool(same(left.as_ref(), right.as_ref())?),
        (Operator::NotEqual, left, right) => Value::Bool(!same(left.as_ref(), right.as_ref())?),
        (_, Some(left), Some(right)) => match operator {
            Operator::Add => add(&left, &right)?,
            Operator::Subtract | Operator::Multiply | Operator::Divide | Operator::Modulo => {
                arithmetic(operator, &left, &right)?
            }
            Operator::And | Operator::Or => logical(operator, &left, &right)?,
            _ => compare(operator, &left, &right)?,
        },
        (_, left, right) => {
            let show = |value: Option<Value>| value.map_or("null", |_| "a value");
            let word = operator.word();
            return refuse(format!("Null inputs for {word} operation: {} and {}", show(left), show(right)));
        }
    };
    Ok(Some(value))
}

/// Equality is that of the printed forms; null equals only null.
fn same(left: Option<&Value>, right: Option<&Value>) -> Result<bool, Failure> {
    match (left, right) {
        (Some(left), Some(right)) => Ok(left.print()? == right.print()?),
        (left, right) => Ok(left.is_none() && right.is_none()),
    }
}

fn pair(what: &str, left: &Value, right: &Value) -> Result<Value, Failure> {
    refuse(format!("{what}: {} and {}", left.print()?, right.print()?))
}

fn compare(operator: Operator, left: &Value, right: &Value) -> Result<Value, Failure> {
    if !left.is_number() || !right.is_number() {
        return pair("Comparison between non-numeric values", left, right);
    }
    let (left, right) = (left.to_double(), right.to_double());
    Ok(Value::Bool(match operator {
        Operator::Less => left < right,
        Operator::LessEqual => left <= right,
        Operator::Greater => left > right,
        _ => left >= right,
    }))
}

fn logical(operator: Operator, left: &Value, right: &Value) -> Result<Value, Failure> {
    match (left.as_bool(), right.as_bool()) {
        (Some(left), Some(right)) if operator == Operator::And => Ok(Value::Bool(left && right)),
        (Some(left), Some(right)) => Ok(Value::Bool(left || right)),
        _ => pair("Logical operation between non-boolean values", left, right),
    }
}

fn add(left: &Value, right: &Value) -> Result<Value, Failure> {
    if left.is_numeric() && right.is_numeric() {
        return if left.is_double() || right.is_double() {
            // Addition alone reads the printed forms, so an element of an array counts with all its digits.
            exact(left.to_decimal(), right.to_decimal(), Decimal::add)
        } else if left.is_long() || right.is_long() {
            Ok(Value::Long(left.to_long().wrapping_add(right.to_long())))
        } else {
            let (a, b) = (left.to_int(), right.to_int());
            // The fallback adds the numbers as longs, which differ from the ints when these were cut.
            let wide = || Value::Long(left.to_long().wrapping_add(right.to_long()));
            Ok(a.checked_add(b).map_or_else(wide, Value::Int))
        };
    }
    match (left.as_string()?, right.as_string()?) {
        (Some(left), Some(right)) => Ok(Value::Text(left + &right)),
        _ => pair("Addition between non-numeric values", left, right),
    }
}

fn arithmetic(operator: Operator, left: &Value, right: &Value) -> Result<Value, Failure> {
    if !left.is_numeric() || !right.is_numeric() {
        return pair(
            &format!("Arithmetic operation: {} between non-numeric values", operator.word()),
            left,
            right,
        );
    }
    if left.is_double() || right.is_double() {
        doubles(operator, left.to_double(), right.to_double())
    } else if left.is_long() || right.is_long() {
        longs(operator, left.to_long(), right.to_long())
    } else {
        ints(operator, left.to_int(), right.to_int())
    }
}

fn zero(operator: Operator) -> Result<Value, Failure> {
    refuse(if operator == Operator::Divide { "Division by zero" } else { "Modulo by zero" })
}

/// Doubles are calculated with the decimals that they print as, and a quotient keeps the decimals of the left side.
fn doubles(operator: Operator, left: f64, right: f64) -> Result<Value, Failure> {
    let (a, b) = (Decimal::of_double(left), Decimal::of_double(right));
    match operator {
        Operator::Divide | Operator::Modulo if right == 0.0 && a.is_some() => zero(operator),
        Operator::Divide => exact(a, b, |a, b| a.divide_half_up(b, a.scale())),
        Operator::Modulo => exact(a, b, Decimal::remainder),
        Operator::Multiply => exact(a, b, Decimal::multiply),
        _ => exact(a, b, Decimal::subtract),
    }
}

/// NaN and the infinities have no decimal: the engine throws what it does not catch.
fn exact(
    left: Option<Decimal>,
    right: Option<Decimal>,
    calculate: impl Fn(&Decimal, &Decimal) -> Option<Decimal>,
) -> Result<Value, Failure> {
    let (Some(left), Some(right)) = (left, right) else { return crash("java.lang.NumberFormatException") };
    match calculate(&left, &right) {
        Some(result) => Ok(Value::Double(result.to_f64())),
        None => crash("java.lang.ArithmeticException: the result has too many digits"),
    }
}

fn longs(operator: Operator, left: i64, right: i64) -> Result<Value, Failure> {
    Ok(match operator {
        Operator::Divide | Operator::Modulo if right == 0 => return zero(operator),
        #[expect(clippy::cast_precision_loss, reason = "Java divides the doubles of the longs")]
        Operator::Divide => Value::Double(left as f64 / right as f64),
        Operator::Modulo => Value::Long(left.wrapping_rem(right)),
        Operator::Multiply => Value::Long(left.wrapping_mul(right)),
        _ => Value::Long(left.wrapping_sub(right)),
    })
}

fn ints(operator: Operator, left: i32, right: i32) -> Result<Value, Failure> {
    Ok(match operator {
        Operator::Divide | Operator::Modulo if right == 0 => return zero(operator),
        Operator::Divide if left.wrapping_rem(right) == 0 => Value::Int(left.wrapping_div(right)),
        Operator::Divide => Value::Double(f64::from(left) / f64::from(right)),
        Operator::Modulo => Value::Int(left.wrapping_rem(right)),
        Operator::Multiply => {
            let wide = || Value::Long(i64::from(left) * i64::from(right));
            left.checked_mul(right).map_or_else(wide, Value::Int)
        }
        _ => Value::Int(left.wrapping_sub(right)),
    })
}
