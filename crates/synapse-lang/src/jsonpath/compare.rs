//! What the two sides of a filter become, and when the library calls them equal, greater or contained.
//!
//! The rules are not symmetric: a string equals a number if the number prints like it, a number equals a
//! string if the string reads as that number. Whole numbers inside arrays and objects of the document are
//! doubles here, so they never equal the whole numbers of an array literal as a whole, but do as elements.

use std::cmp::Ordering;

use super::cursor::{Stop, unescape};
use super::evaluate::Fail;
use super::filter::Operator;
use crate::java::{Decimal, Pattern};
use crate::json::{self, Json, Number, Object};

/// A side of a comparison with its value.
#[derive(Debug, Clone)]
pub(super) enum Value<'filter> {
    Null,
    /// A path that leads nowhere.
    Undefined,
    Bool(bool),
    Number(Decimal),
    Text(String),
    /// An array or object of the document.
    Json(Json),
    /// An array or object literal, still text.
    Literal(String),
    Pattern(&'filter Pattern),
    /// A string that reads as a path inside a list: equal to nothing.
    Path,
}

impl Value<'_> {
    /// A found value.
    pub(super) fn of(json: &Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(truth) => Self::Bool(*truth),
            Json::Number(number) => number_value(number),
            Json::String(text) => Self::Text(text.clone()),
            Json::Array(_) | Json::Object(_) => Self::Json(with_doubles(json)),
        }
    }

    /// An element of a list.
    fn of_element(json: &Json) -> Result<Self, Fail> {
        Ok(match json {
            Json::String(text) => {
                let trimmed = text.trim_matches(|c: char| c <= ' ');
                if trimmed.starts_with(['@', '$']) && super::Path::compile(trimmed).is_ok() {
                    Self::Path
                } else if looks_like_json(trimmed) && json::parse(trimmed).is_ok() {
                    Self::Literal(text.clone())
                } else {
                    Self::Text(unquoted(text)?)
                }
            }
            Json::Array(_) | Json::Object(_) => {
                return Err(Fail::Crash("a list in a filter holds an array or object".to_owned()));
            }
            scalar => Self::of(scalar),
        })
    }

    /// The value as parsed JSON, if it is an array or object.
    fn parsed(&self) -> Result<Option<Json>, Fail> {
        match self {
            Self::Json(json) => Ok(Some(json.clone())),
            Self::Literal(text) => match json::parse(text) {
                Ok(json) => Ok(Some(literal_numbers(&json))),
                Err(error) => Err(Fail::Crash(error.to_string())),
            },
            _ => Ok(None),
        }
    }

    const fn is_json(&self) -> bool {
        matches!(self, Self::Json(_) | Self::Literal(_))
    }

    /// The elements if it is an array; `None` for an object. Anything else is invalid, which makes the whole
    /// filter fail to match.
    fn list(&self) -> Result<Option<Vec<Value<'static>>>, Fail> {
        match self.parsed()? {
            Some(Json::Array(elements)) => {
                elements.iter().map(Value::of_element).collect::<Result<_, _>>().map(Some)
            }
            Some(_) => Ok(None),
            None => Err(Fail::Invalid("a list is expected".to_owned())),
        }
    }

    /// Whether the library's `equals` holds, asked of this side.
    fn equals(&self, other: &Value<'_>) -> bool {
        match (self, other) {
            (Self::Null, Value::Null) => true,
            (Self::Bool(one), Value::Bool(two)) => one == two,
            (Self::Text(one), Value::Text(two)) | (Self::Literal(one), Value::Literal(two)) => one == two,
            (Self::Text(one), Value::Number(two)) => *one == two.to_string(),
            (Self::Number(one), Value::Number(two)) => one.compare(two).is_eq(),
            (Self::Number(one), Value::Text(two)) => {
                Decimal::parse(two).is_some_and(|two| one.compare(&two).is_eq())
            }
            (Self::Json(one), Value::Json(two)) => one == two,
            _ => false,
        }
    }

    /// Whether the values are of one class in the library's eyes.
    fn same_class(&self, other: &Value<'_>) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other) || self.is_json() && other.is_json()
    }

    fn order(&self, other: &Value<'_>) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(one), Value::Number(two)) => Some(one.compare(two)),
            (Self::Text(one), Value::Text(two)) => Some(utf16_order(one, two)),
            (Self::Text(one), Value::Number(two)) => Some(utf16_order(one, &two.to_string())),
            (Self::Number(one), Value::Text(two)) => Some(utf16_order(&one.to_string(), two)),
            _ => None,
        }
    }

    /// What a pattern is matched against.
    fn input(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::Bool(truth) => truth.to_string(),
            _ => String::new(),
        }
    }

    fn boolean(&self) -> Result<bool, Fail> {
        match self {
            Self::Bool(truth) => Ok(*truth),
            _ => Err(Fail::Invalid("true or false is expected".to_owned())),
        }
    }
}

/// Whether a comparison holds.
pub(super) fn holds(left: &Value<'_>, operator: Operator, right: &Value<'_>) -> Result<bool, Fail> {
    let ordered = |accept: fn(Ordering) -> bool| Ok(left.order(right).is_some_and(accept));
    match operator {
        Operator::Equal => equal(left, right),
        Operator::NotEqual => equal(left, right).map(|equal| !equal),
        Operator::SameKindAndEqual => Ok(left.same_class(right) && equal(left, right)?),
        Operator::NotSameKindOrNotEqual => Ok(!left.same_class(right) || !equal(left, right)?),
        Operator::Less => ordered(Ordering::is_lt),
        Operator::LessOrEqual => ordered(Ordering::is_le),
        Operator::Greater => ordered(Ordering::is_gt),
        Operator::GreaterOrEqual => ordered(Ordering::is_ge),
        Operator::Exists => {
            if !matches!(left, Value::Bool(_)) && !matches!(right, Value::Bool(_)) {
                return Err(Fail::Crash("an exists check needs true or false".to_owned()));
            }
            Ok(left.boolean()? == right.boolean()?)
        }
        Operator::Size => size(left, right),
        Operator::Empty => empty(left, right),
        Operator::Regex => regex(left, right),
        Operator::In => is_in(left, right),
        Operator::NotIn => is_in(left, right).map(|is_in| !is_in),
        Operator::Contains => match (left, right) {
            (Value::Text(text), Value::Text(part)) => Ok(text.contains(part.as_str())),
            _ if left.is_json() => {
                Ok(left.list()?.is_some_and(|list| list.iter().any(|item| right.equals(item))))
            }
            _ => Ok(false),
        },
        Operator::SubsetOf => pairs(left, right, |left, right| {
            left.iter().all(|item| right.iter().any(|other| item.equals(other)))
        }),
        Operator::AnyOf => pairs(left, right, any_common),
        Operator::NoneOf => pairs(left, right, |left, right| !any_common(left, right)),
        // These want a Java class, a list or a predicate object, which no text can express.
        Operator::All | Operator::Type | Operator::Matches => {
            Err(Fail::Invalid("this operator cannot be used in a path".to_owned()))
        }
    }
}

fn equal(left: &Value<'_>, right: &Value<'_>) -> Result<bool, Fail> {
    if left.is_json() && right.is_json() {
        // The left side is compared as it stands: a literal there is text and equals no array.
        return Ok(match left {
            Value::Json(json) => right.parsed()?.as_ref() == Some(json),
            _ => false,
        });
    }
    Ok(left.equals(right))
}

fn size(left: &Value<'_>, right: &Value<'_>) -> Result<bool, Fail> {
    let Value::Number(expected) = right else { return Ok(false) };
    #[expect(clippy::cast_possible_truncation, reason = "Java's intValue of a decimal drops the fraction")]
    let expected = expected.to_i64().unwrap_or_else(|| expected.to_f64() as i64);
    let size = match left {
        Value::Text(text) => text.encode_utf16().count(),
        _ if left.is_json() => match left.parsed()? {
            Some(Json::Array(elements)) => elements.len(),
            // The size of an object counts as minus one.
            _ => return Ok(expected == -1),
        },
        _ => return Ok(false),
    };
    Ok(i64::try_from(size) == Ok(expected))
}

fn empty(left: &Value<'_>, right: &Value<'_>) -> Result<bool, Fail> {
    let empty = match left {
        Value::Text(text) => text.is_empty(),
        _ if left.is_json() => match left.parsed()? {
            Some(Json::Array(elements)) => elements.is_empty(),
            _ => return Err(Fail::Crash("an object cannot be asked whether it is empty".to_owned())),
        },
        _ => return Ok(false),
    };
    Ok(empty == right.boolean()?)
}

fn regex(left: &Value<'_>, right: &Value<'_>) -> Result<bool, Fail> {
    let (pattern, other) = match (left, right) {
        (Value::Pattern(_), Value::Pattern(_)) => return Ok(false),
        (Value::Pattern(pattern), other) | (other, Value::Pattern(pattern)) => (pattern, other),
        _ => return Ok(false),
    };
    let matches = |input: String| match pattern.matches(&input) {
        Ok(matches) => Ok(matches),
        // A pattern that takes too long, or that this engine does not know, cannot be answered.
        Err(_) => Err(Fail::TooMuchWork),
    };
    if other.is_json()
        && let Some(list) = other.list()?
    {
        for item in list {
            if matches(item.input())? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    matches(other.input())
}

fn is_in(left: &Value<'_>, right: &Value<'_>) -> Result<bool, Fail> {
    Ok(right.list()?.is_some_and(|list| list.iter().any(|item| left.equals(item))))
}

fn pairs(
    left: &Value<'_>,
    right: &Value<'_>,
    holds: impl Fn(&[Value<'_>], &[Value<'_>]) -> bool,
) -> Result<bool, Fail> {
    let Some(right) = right.list()? else { return Ok(false) };
    let Some(left) = left.list()? else { return Ok(false) };
    Ok(holds(&left, &right))
}

fn any_common(left: &[Value<'_>], right: &[Value<'_>]) -> bool {
    left.iter().any(|item| right.iter().any(|other| item.equals(other)))
}

fn number_value<'filter>(number: &Number) -> Value<'filter> {
    Decimal::parse(&number.normalised().to_string()).map_or(Value::Undefined, Value::Number)
}

/// Java compares strings by UTF-16 units.
fn utf16_order(one: &str, two: &str) -> Ordering {
    one.encode_utf16().cmp(two.encode_utf16())
}

fn looks_like_json(text: &str) -> bool {
    text.len() > 1
        && (text.starts_with('[') && text.ends_with(']') || text.starts_with('{') && text.ends_with('}'))
}

/// A string in a list loses one pair of quotes and its escapes.
fn unquoted(text: &str) -> Result<String, Fail> {
    if text.encode_utf16().count() <= 1 {
        return Ok(text.to_owned());
    }
    let inner = ['\'', '"'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    unescape(inner.unwrap_or(text)).map_err(|stop| {
        let (Stop::Invalid(reason) | Stop::Broken(reason)) = stop;
        Fail::Crash(reason)
    })
}

/// Arrays and objects of the document hold doubles only once the library has mapped them.
fn with_doubles(json: &Json) -> Json {
    map_numbers(json, &|number| Number::Double(number.to_f64()))
}

/// Numbers of a literal: ints, longs or big integers, and doubles unless written too long for one.
fn literal_numbers(json: &Json) -> Json {
    map_numbers(json, &|number| {
        let text = number.to_string();
        if text.contains(['.', 'e', 'E']) {
            return if text.len() > 18 { Number::Big(text) } else { Number::Double(number.to_f64()) };
        }
        match crate::java::parse_long(&text) {
            Some(long) => i32::try_from(long).map_or(Number::Long(long), Number::Int),
            None => Number::Big(text),
        }
    })
}

fn map_numbers(json: &Json, map: &impl Fn(&Number) -> Number) -> Json {
    match json {
        Json::Number(number) => Json::Number(map(number)),
        Json::Array(elements) => {
            Json::Array(elements.iter().map(|element| map_numbers(element, map)).collect())
        }
        Json::Object(object) => {
            let members = object.iter().map(|(name, value)| (name, map_numbers(value, map)));
            Json::Object(members.collect::<Object>())
        }
        scalar => scalar.clone(),
    }
}
