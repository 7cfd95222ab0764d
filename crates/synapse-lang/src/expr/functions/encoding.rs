//! Base64 and percent-encoding.

use super::{Answer, invalid};
use crate::expr::value::{Failure, Value, crash, refuse};
use crate::java::{self, Charset, TextError};
use crate::xpath;

pub(super) fn call(name: &str, values: &[Value]) -> Answer {
    if !matches!(
        (name, values),
        ("base64encode" | "urlEncode", [_] | [_, _]) | ("base64decode" | "urlDecode", [_])
    ) {
        return None;
    }
    Some(coded(name, values))
}

fn coded(name: &str, values: &[Value]) -> Result<Value, Failure> {
    let mut texts = Vec::with_capacity(values.len());
    for value in values {
        match value.as_string()? {
            Some(text) => texts.push(text),
            None => return invalid(name, values),
        }
    }
    let text = texts.first().map(String::as_str).unwrap_or_default();
    let charset = match texts.get(1) {
        Some(named) => charset(name, named)?,
        None => Charset::Utf8,
    };
    let result = match name {
        "base64encode" => java::base64_encode(&charset.encode(text)),
        // Blanks become `%20` only when no charset or exactly this name of it is given.
        "urlEncode" if texts.get(1).is_none_or(|named| named == "UTF-8") => {
            java::url_encode_component(text, charset)
        }
        "urlEncode" => java::url_encode(text, charset),
        "base64decode" => String::from_utf8_lossy(&java::base64_decode(text).or_else(uncaught)?).into_owned(),
        _ => java::url_decode(text).or_else(uncaught)?,
    };
    Ok(Value::Text(result))
}

/// A charset that does not exist is refused; a text that cannot name one is not caught.
fn charset(function: &str, name: &str) -> Result<Charset, Failure> {
    match Charset::for_name(name) {
        Ok(charset) => Ok(charset),
        Err(TextError::CharsetName { .. }) => {
            crash(format!("java.nio.charset.IllegalCharsetNameException: {name}"))
        }
        Err(_) => refuse(format!("Invalid charset provided for {function} function. Charset: {name}")),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "`or_else` hands the error over")]
fn uncaught<T>(error: TextError) -> Result<T, Failure> {
    crash(format!("java.lang.IllegalArgumentException: {error}"))
}

/// `base64Encode`, `base64Decode` and `url-encode` of XPath.
pub(super) fn xpath_text_function(
    name: &str,
    texts: &[&str],
) -> Option<Result<xpath::Value, xpath::EvaluateError>> {
    let wrong = || xpath::EvaluateError::Arguments(name.to_owned());
    let result = match (name, texts) {
        ("base64Encode", [text]) => java::base64_encode(text.as_bytes()),
        ("base64Encode", [text, charset]) => match Charset::for_name(charset) {
            Ok(charset) => java::base64_encode(&charset.encode(text)),
            Err(_) => return Some(Err(wrong())),
        },
        ("base64Decode", [text] | [text, _]) => match java::base64_decode(text) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(_) => String::new(),
        },
        ("url-encode", [text] | [text, _]) => java::url_encode(text, Charset::Utf8),
        ("base64Encode" | "base64Decode" | "url-encode", _) => return Some(Err(wrong())),
        _ => return None,
    };
    Some(Ok(xpath::Value::Text(result)))
}
