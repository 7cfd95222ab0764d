//! Base64 and percent-encoding.

use super::Answer;
use crate::expr::value::Value;
use crate::xpath;

pub(super) fn call(_name: &str, _values: &[Value]) -> Answer {
    None
}

pub(super) fn xpath_text_function(
    _name: &str,
    _texts: &[&str],
) -> Option<Result<xpath::Value, xpath::EvaluateError>> {
    None
}
