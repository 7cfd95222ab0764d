//! JSON values the way the runtime's library (Gson) holds them: numbers know how they were made, members keep
//! their order, and printing is compact.
//!
//! Invariant: reading then printing a strict document changes nothing but blanks and escapes, and no input
//! makes the reader panic or recurse without bound.

mod number;
mod object;
mod print;
mod read;

pub use number::Number;
pub use object::Object;
pub use read::{JsonError, JsonErrorKind, MAX_DEPTH, parse};

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Json {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, with its kind.
    Number(Number),
    /// A string, escapes resolved.
    String(String),
    /// An array.
    Array(Vec<Self>),
    /// An object, members in order.
    Object(Object),
}

impl Json {
    /// Whether it is neither an array nor an object.
    #[must_use]
    pub const fn is_scalar(&self) -> bool {
        !matches!(self, Self::Array(_) | Self::Object(_))
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number.
    #[must_use]
    pub const fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The elements of an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The members of an object.
    #[must_use]
    pub const fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Json {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<Number> for Json {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<Vec<Self>> for Json {
    fn from(elements: Vec<Self>) -> Self {
        Self::Array(elements)
    }
}

#[cfg(test)]
mod tests;
