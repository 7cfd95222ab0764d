//! Functions on texts. Indices and lengths count UTF-16 units, as in Java.

use super::{Answer, invalid};
use crate::expr::eval::{MAX_TEXT, too_long};
use crate::expr::value::{Failure, Value, refuse};
use crate::java;
use crate::json::Json;

pub(super) fn call(name: &str, values: &[Value]) -> Answer {
    let result = match (name, values) {
        ("length", [value]) => length(value),
        ("toUpper", [value]) => cased(name, value, |text| text.to_uppercase()),
        ("toLower", [value]) => cased(name, value, |text| text.to_lowercase()),
        ("trim", [value]) => match value.as_string() {
            Ok(Some(text)) => Ok(Value::Text(text.trim_matches(|character| character <= ' ').to_owned())),
            Ok(None) => invalid(name, values),
            Err(failure) => Err(failure),
        },
        ("subString", [_, _] | [_, _, _]) => sub_string(name, values),
        ("charAt", [_, _]) => char_at(name, values),
        ("startsWith" | "endsWith" | "contains" | "split" | "indexOf", [_, _]) | ("replace", [_, _, _]) => {
            strings(name, values)
        }
        ("indexOf", [_, _, _]) => index_of(name, values),
        _ => return None,
    };
    Some(result)
}

fn length(value: &Value) -> Result<Value, Failure> {
    if let Some(text) = value.as_string()? {
        return Ok(Value::Int(int(text.encode_utf16().count())));
    }
    match value {
        Value::Json(Json::Array(elements)) => Ok(Value::Int(int(elements.len()))),
        _ => refuse("Invalid argument provided for length function"),
    }
}

/// Lengths fit, because a Java string or array is no longer.
fn int(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

fn cased(name: &str, value: &Value, change: impl Fn(String) -> String) -> Result<Value, Failure> {
    match value {
        Value::Text(_) | Value::Json(Json::String(_)) => Ok(Value::Text(change(value.print()?))),
        Value::Json(json) if json.is_scalar() => Ok(Value::Json(Json::String(change(value.print()?)))),
        _ => refuse(format!("Invalid argument provided for {name} function")),
    }
}

/// Functions whose arguments are all strings.
fn strings(name: &str, values: &[Value]) -> Result<Value, Failure> {
    let mut texts = Vec::with_capacity(values.len());
    for value in values {
        match value.as_string()? {
            Some(text) => texts.push(text),
            None => return invalid(name, values),
        }
    }
    let texts = texts.iter().map(String::as_str).collect::<Vec<_>>();
    match (name, texts.as_slice()) {
        ("startsWith", [text, part]) => Ok(Value::Bool(text.starts_with(part))),
        ("endsWith", [text, part]) => Ok(Value::Bool(text.ends_with(part))),
        ("contains", [text, part]) => Ok(Value::Bool(text.contains(part))),
        ("replace", [text, old, new]) => {
            let grown = text.matches(old).count().saturating_mul(new.len()).saturating_add(text.len());
            if grown > MAX_TEXT { too_long() } else { Ok(Value::Text(text.replace(old, new))) }
        }
        ("indexOf", [text, part]) => Ok(Value::Int(find(text, part, 0))),
        ("split", [text, pattern]) => split(text, pattern),
        _ => invalid(name, values),
    }
}

fn index_of(name: &str, values: &[Value]) -> Result<Value, Failure> {
    match values {
        [text, part, start] if start.is_int() => match (text.as_string()?, part.as_string()?) {
            (Some(text), Some(part)) => Ok(Value::Int(find(&text, &part, start.to_int()))),
            _ => invalid(name, values),
        },
        _ => invalid(name, values),
    }
}

fn find(text: &str, part: &str, start: i32) -> i32 {
    let text = text.encode_utf16().collect::<Vec<_>>();
    let part = part.encode_utf16().collect::<Vec<_>>();
    let start = usize::try_from(start).unwrap_or(0);
    if part.is_empty() {
        return int(start.min(text.len()));
    }
    let found = text.windows(part.len()).skip(start).position(|window| window == part.as_slice());
    found.map_or(-1, |at| int(at + start))
}

fn sub_string(name: &str, values: &[Value]) -> Result<Value, Failure> {
    let (Some(source), Some(begin)) = (values.first(), values.get(1)) else { return invalid(name, values) };
    let Some(text) = source.as_string()? else { return invalid(name, values) };
    if values.iter().skip(1).any(|index| !index.is_int()) {
        return invalid(name, values);
    }
    let units = text.encode_utf16().collect::<Vec<_>>();
    let length = int(units.len());
    let begin = begin.to_int();
    let end = values.get(2).map_or(length, Value::to_int);
    let part = usize::try_from(begin)
        .ok()
        .zip(usize::try_from(end).ok())
        .and_then(|(begin, end)| units.get(begin..end));
    match part {
        Some(part) => Ok(Value::Text(String::from_utf16_lossy(part))),
        None if values.len() == 2 => {
            refuse(format!("Invalid index for subString: {begin}, source string length: {length}"))
        }
        None => {
            refuse(format!("Invalid subString indices: start={begin}, end={end}, string length={length}"))
        }
    }
}

fn char_at(name: &str, values: &[Value]) -> Result<Value, Failure> {
    let [source, index] = values else { return invalid(name, values) };
    let (Some(text), true) = (source.as_string()?, index.is_int()) else { return invalid(name, values) };
    let index = index.to_int();
    let unit = usize::try_from(index).ok().and_then(|at| text.encode_utf16().nth(at));
    match unit {
        Some(unit) => Ok(Value::Text(String::from_utf16_lossy(&[unit]))),
        None => refuse(format!("Invalid index provided for charAt function. source: {text}, index: {index}")),
    }
}

fn split(text: &str, pattern: &str) -> Result<Value, Failure> {
    match java::split(text, pattern) {
        Ok(parts) => Ok(Value::Json(Json::Array(parts.into_iter().map(Json::String).collect()))),
        Err(error) => Err(Failure::Crash(format!("java.util.regex.PatternSyntaxException: {error}"))),
    }
}
