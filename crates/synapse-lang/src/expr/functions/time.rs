//! The time, and texts of dates and times.

use super::{Answer, invalid};
use crate::expr::context::Context;
use crate::expr::value::{Failure, Value, crash, refuse};
use crate::java::datetime::{DateError, format_millis, reformat};

pub(super) fn call(context: &Context, name: &str, values: &[Value]) -> Answer {
    Some(match (name, values) {
        ("now", []) => Ok(Value::Long(context.now)),
        ("formatDateTime", [millis, pattern]) => format(context, millis, pattern),
        ("formatDateTime", [text, from, to]) => rewrite(text, from, to),
        _ => return None,
    })
}

/// Of a pattern that does not exist nothing is caught, of one that cannot be filled it is.
fn format(context: &Context, millis: &Value, pattern: &Value) -> Result<Value, Failure> {
    let (Some(text), true) = (pattern.as_string()?, millis.is_numeric()) else {
        return invalid("formatDateTime", &[millis.clone(), pattern.clone()]);
    };
    let offset = i32::try_from(context.utc_offset()).unwrap_or(0);
    match format_millis(millis.to_long(), &text, offset) {
        Ok(text) => Ok(Value::Text(text)),
        Err(error @ DateError::Pattern { .. }) => {
            crash(format!("java.lang.IllegalArgumentException: {error}"))
        }
        Err(_) => refuse(format!("Invalid date format provided for formatDateTime function. Format: {text}")),
    }
}

fn rewrite(text: &Value, from: &Value, to: &Value) -> Result<Value, Failure> {
    let (Some(source), Some(pattern), Some(target)) = (text.as_string()?, from.as_string()?, to.as_string()?)
    else {
        return invalid("formatDateTime", &[text.clone(), from.clone(), to.clone()]);
    };
    match reformat(&source, &pattern, &target) {
        Ok(text) => Ok(Value::Text(text)),
        Err(_) => refuse(format!(
            "Invalid date/time or source format provided for formatDateTime function. Source: {source} Format: {pattern}"
        )),
    }
}
