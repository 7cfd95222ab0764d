//! Questions about a value.

use super::{Answer, invalid};
use crate::expr::value::Value;

pub(super) fn call(name: &str, values: &[Value]) -> Answer {
    let result = match (name, values) {
        ("isString", [value]) => Ok(value.is_string()),
        ("isNumber", [value]) => Ok(value.is_number()),
        ("isArray", [value]) => Ok(value.as_array().is_some()),
        ("isObject", [value]) => value.as_object().map(|object| object.is_some()),
        ("not", [value]) => match value.as_bool() {
            Some(truth) => Ok(!truth),
            None => return Some(invalid(name, values)),
        },
        _ => return None,
    };
    Some(result.map(Value::Bool))
}
