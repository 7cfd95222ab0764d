//! The values of the engine: which kinds there are, which tests hold for them, and how they print.
//!
//! Where a number comes from decides which tests hold for it, and the operators look at nothing but the tests. A Java
//! string and a JSON string are different kinds: only the Java one loses a pair of quotes when it is read.

use crate::java::{self, Decimal};
use crate::json::{self, Json, Number};

/// A value. The engine's null is the absence of one.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A Java `int`.
    Int(i32),
    /// A Java `long`.
    Long(i64),
    /// A Java `double`.
    Double(f64),
    /// A Java boolean.
    Bool(bool),
    /// A Java string, quotes and all.
    Text(String),
    /// A JSON value, never JSON null.
    Json(Json),
    /// An XML element, as text.
    Xml(String),
    /// What an XPath selected when the caller asked for an object.
    Nodes(Vec<String>),
}

/// Why there is no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The engine catches it, logs a warning, and the value is empty.
    #[error("{0}")]
    Evaluation(String),
    /// The engine does not catch it: the mediator faults.
    #[error("{0}")]
    Crash(String),
}

/// A value, null, or a failure.
pub type Outcome = Result<Option<Value>, Failure>;

/// An evaluation error.
pub(super) fn refuse<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Evaluation(message.into()))
}

/// An error that the engine does not catch.
pub(super) fn crash<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Crash(message.into()))
}

impl Value {
    /// A JSON value as the engine holds it: JSON null is no value.
    #[must_use]
    pub fn of_json(json: Json) -> Option<Self> {
        match json {
            Json::Null => None,
            json => Some(Self::Json(json)),
        }
    }

    /// The name of the Java class, as in `JsonPrimitive/Long`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Int(_) => "Integer",
            Self::Long(_) => "Long",
            Self::Double(_) => "Double",
            Self::Bool(_) => "Boolean",
            Self::Text(_) => "String",
            Self::Json(Json::Null) => "JsonNull",
            Self::Json(Json::Bool(_)) => "JsonPrimitive/boolean",
            Self::Json(Json::String(_)) => "JsonPrimitive/string",
            Self::Json(Json::Number(Number::Lazy(_))) => "JsonPrimitive/LazilyParsedNumber",
            Self::Json(Json::Number(Number::Int(_))) => "JsonPrimitive/Integer",
            Self::Json(Json::Number(Number::Long(_))) => "JsonPrimitive/Long",
            Self::Json(Json::Number(Number::Double(_))) => "JsonPrimitive/Double",
            Self::Json(Json::Number(Number::Big(_))) => "JsonPrimitive/BigDecimal",
            Self::Json(Json::Array(_)) => "JsonArray",
            Self::Json(Json::Object(_)) => "JsonObject",
            Self::Xml(_) => "OMElement",
            Self::Nodes(_) => "List",
        }
    }

    /// The printed form: what templates, comparisons and `string()` see.
    ///
    /// # Errors
    /// A Java string of a single quote character: the engine tries to take two quotes off it.
    pub fn print(&self) -> Result<String, Failure> {
        Ok(match self {
            Self::Int(int) => int.to_string(),
            Self::Long(long) => long.to_string(),
            Self::Double(double) => java::double_to_string(*double),
            Self::Bool(truth) => truth.to_string(),
            Self::Text(text) => unquoted(text)?.to_owned(),
            Self::Json(Json::String(text)) | Self::Xml(text) => text.clone(),
            Self::Json(json) => json.to_string(),
            Self::Nodes(nodes) => format!("[{}]", nodes.join(", ")),
        })
    }

    /// The test *integer*.
    #[must_use]
    pub fn is_int(&self) -> bool {
        match self {
            Self::Int(_) => true,
            // An int inside JSON (an element of an array literal) passes none of the tests.
            Self::Json(Json::Number(Number::Int(_))) => false,
            Self::Json(Json::Number(number)) => number.tests_as_int(),
            _ => false,
        }
    }

    /// The test *long*.
    #[must_use]
    pub fn is_long(&self) -> bool {
        match self {
            Self::Long(_) => true,
            Self::Json(Json::Number(number)) => number.tests_as_long(),
            _ => false,
        }
    }

    /// The test *double*.
    #[must_use]
    pub fn is_double(&self) -> bool {
        match self {
            Self::Double(_) => true,
            Self::Json(Json::Number(number)) => number.tests_as_double(),
            _ => false,
        }
    }

    /// Any of the three tests.
    #[must_use]
    pub fn is_numeric(&self) -> bool {
        self.is_int() || self.is_double() || self.is_long()
    }

    /// What can be compared and counts as a number for functions: a long does not.
    #[must_use]
    pub fn is_number(&self) -> bool {
        self.is_int() || self.is_double()
    }

    /// The test *string*.
    #[must_use]
    pub const fn is_string(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Json(Json::String(_)))
    }

    /// The boolean, when it is one.
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(truth) | Self::Json(Json::Bool(truth)) => Some(*truth),
            _ => None,
        }
    }

    /// The text of a string, printed.
    ///
    /// # Errors
    /// As [`Self::print`].
    pub fn as_string(&self) -> Result<Option<String>, Failure> {
        if self.is_string() { self.print().map(Some) } else { Ok(None) }
    }

    /// The value of an `int`; longs lose their upper half.
    #[must_use]
    pub fn to_int(&self) -> i32 {
        match self {
            Self::Int(int) => *int,
            #[expect(
                clippy::cast_possible_truncation,
                reason = "Java's intValue of a long cuts the same way"
            )]
            other => other.to_long() as i32,
        }
    }

    /// The value of a `long`.
    #[must_use]
    pub fn to_long(&self) -> i64 {
        match self {
            Self::Int(int) | Self::Json(Json::Number(Number::Int(int))) => i64::from(*int),
            Self::Long(long) | Self::Json(Json::Number(Number::Long(long))) => *long,
            Self::Json(Json::Number(Number::Lazy(text))) => match java::parse_long(text) {
                Some(long) => long,
                None => double_to_long(java::parse_double(text).unwrap_or_default()),
            },
            other => double_to_long(other.to_double()),
        }
    }

    /// The value of a `double`; 0 for what is no number.
    #[must_use]
    pub fn to_double(&self) -> f64 {
        match self {
            Self::Int(int) => f64::from(*int),
            #[expect(clippy::cast_precision_loss, reason = "Java rounds a long to a double the same way")]
            Self::Long(long) => *long as f64,
            Self::Double(double) => *double,
            Self::Json(Json::Number(number)) => number.to_f64(),
            _ => 0.0,
        }
    }

    /// The exact decimal of the printed form.
    #[must_use]
    pub fn to_decimal(&self) -> Option<Decimal> {
        self.print().ok().and_then(|text| Decimal::parse(&text))
    }

    /// The JSON object that it is or that its text says.
    ///
    /// # Errors
    /// A string of one double quote.
    pub fn as_object(&self) -> Result<Option<Json>, Failure> {
        Ok(self.as_json()?.filter(|json| json.as_object().is_some()))
    }

    /// The JSON array that it is or that its text says.
    #[must_use]
    pub fn as_array(&self) -> Option<Json> {
        self.as_json().ok().flatten().filter(|json| json.as_array().is_some())
    }

    /// A JSON value, or a Java string read as JSON. Backslashes are taken out before, as the engine does.
    fn as_json(&self) -> Result<Option<Json>, Failure> {
        match self {
            Self::Json(json) => Ok(Some(json.clone())),
            Self::Text(text) => {
                let inner = if text.starts_with('"') && text.ends_with('"') {
                    text.get(1..text.len() - 1).map_or_else(|| crash(SINGLE_QUOTE), Ok)?
                } else {
                    text
                };
                Ok(json::parse(&inner.replace('\\', "")).ok())
            }
            _ => Ok(None),
        }
    }
}

const SINGLE_QUOTE: &str = "java.lang.StringIndexOutOfBoundsException: begin 1, end 0, length 1";

/// A Java string without a pair of equal quotes around it.
fn unquoted(text: &str) -> Result<&str, Failure> {
    for quote in ['"', '\''] {
        if text.starts_with(quote) && text.ends_with(quote) {
            return text.get(1..text.len() - 1).map_or_else(|| crash(SINGLE_QUOTE), Ok);
        }
    }
    Ok(text)
}

/// A cast: towards zero, and to the nearest bound beyond the range; 0 for NaN.
#[expect(clippy::cast_possible_truncation, reason = "Rust's cast saturates as Java's does")]
fn double_to_long(double: f64) -> i64 {
    double as i64
}

#[cfg(test)]
mod tests;
