//! Base64 and percent-encoding.

use super::Answer;
use crate::expr::value::Value;

pub(super) fn call(_name: &str, _values: &[Value]) -> Answer {
    None
}
