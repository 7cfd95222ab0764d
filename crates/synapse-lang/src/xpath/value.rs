//! The four kinds of XPath values and how they turn into each other.

use super::tree::{Forest, NodeRef};

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nodes in document order.
    Nodes(Vec<NodeRef>),
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

impl Value {
    /// As `string()`.
    #[must_use]
    pub fn to_text(&self, forest: &Forest) -> String {
        match self {
            Self::Nodes(nodes) => nodes.first().map_or_else(String::new, |node| forest.string(*node)),
            Self::Bool(truth) => truth.to_string(),
            Self::Number(number) => number_to_text(*number),
            Self::Text(text) => text.clone(),
        }
    }

    /// As `number()`.
    #[must_use]
    pub fn to_number(&self, forest: &Forest) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Bool(truth) => f64::from(u8::from(*truth)),
            other => text_to_number(&other.to_text(forest)),
        }
    }

    /// As `boolean()`.
    #[must_use]
    pub fn to_bool(&self) -> bool {
        match self {
            Self::Nodes(nodes) => !nodes.is_empty(),
            Self::Bool(truth) => *truth,
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Text(text) => !text.is_empty(),
        }
    }
}

/// Whole numbers print without a point, and never with an exponent.
#[must_use]
pub(super) fn number_to_text(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        (if number > 0.0 { "Infinity" } else { "-Infinity" }).to_owned()
    } else if number == 0.0 {
        "0".to_owned()
    } else {
        number.to_string()
    }
}

/// Digits with an optional minus and point; everything else is no number.
#[must_use]
pub(super) fn text_to_number(text: &str) -> f64 {
    let text = text.trim_matches([' ', '\t', '\n', '\r']);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let some = digits.bytes().any(|byte| byte.is_ascii_digit());
    if plain && some { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}
