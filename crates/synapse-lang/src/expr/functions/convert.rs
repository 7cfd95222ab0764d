//! Conversions.

use super::Answer;
use crate::expr::value::{Failure, Value, refuse};
use crate::java;

pub(super) fn call(name: &str, values: &[Value]) -> Answer {
    let [value] = values else { return None };
    Some(match name {
        "string" => value.print().map(Value::Text),
        "integer" => integer(value),
        "float" => float(value),
        "boolean" => boolean(value),
        "object" => value.as_object().and_then(|object| {
            object.map(Value::Json).ok_or_else(|| Failure::Evaluation(CANNOT.replace('?', "object")))
        }),
        "array" => match value.as_array() {
            Some(array) => Ok(Value::Json(array)),
            None => refuse(CANNOT.replace('?', "array")),
        },
        _ => return None,
    })
}

const CANNOT: &str = "Argument cannot be converted to a JSON ?";

fn integer(value: &Value) -> Result<Value, Failure> {
    if value.is_int() {
        return Ok(Value::Int(value.to_int()));
    }
    match java::parse_int(&value.print()?) {
        Some(int) => Ok(Value::Int(int)),
        None => refuse("Invalid argument provided for integer conversion"),
    }
}

fn float(value: &Value) -> Result<Value, Failure> {
    if value.is_double() {
        return Ok(Value::Double(value.to_double()));
    }
    match java::parse_double(&value.print()?) {
        Some(double) => Ok(Value::Double(double)),
        None => refuse("Invalid argument provided for float conversion"),
    }
}

fn boolean(value: &Value) -> Result<Value, Failure> {
    let truth = match value.as_bool() {
        Some(truth) => truth,
        None => value.print()?.eq_ignore_ascii_case("true"),
    };
    Ok(Value::Bool(truth))
}
