//! The time, and texts of dates and times.

use super::Answer;
use crate::expr::context::Context;
use crate::expr::value::Value;

pub(super) fn call(context: &Context, name: &str, values: &[Value]) -> Answer {
    match (name, values) {
        ("now", []) => Some(Ok(Value::Long(context.now))),
        _ => None,
    }
}
