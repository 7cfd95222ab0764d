//! Shapes from samples: JSON, XML and CSV, and the values that a mapping will see for them.

mod csv;
mod xml;

use serde_json::Value;

use super::shape::{Field, Shape};
use super::{Kind, Schema, SchemaError};

pub(crate) use xml::{TEXT, attribute_name, parse};

/// What a sample says.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// What it looks like.
    pub schema: Schema,
    /// The sample as a mapping sees it.
    pub value: Value,
}

/// Reads a sample.
///
/// # Errors
/// [`SchemaError`] when it is not what it is said to be.
pub fn read(text: &str, kind: Kind) -> Result<Sampled, SchemaError> {
    match kind {
        Kind::Xml => xml::read(text),
        Kind::Csv => csv::read(text),
        Kind::Json => {
            let value: Value =
                serde_json::from_str(text).map_err(|error| SchemaError::Json(error.to_string()))?;
            let root = shape_of(&value);
            if root.is_leaf() {
                return Err(SchemaError::Json("the root must be an object or an array".to_owned()));
            }
            Ok(Sampled { schema: Schema::new("root", kind, root), value })
        }
    }
}

/// What a JSON value looks like. The items of a list are looked at together.
#[must_use]
pub fn shape_of(value: &Value) -> Shape {
    match value {
        Value::Null => Shape::Null,
        Value::Bool(_) => Shape::Truth,
        Value::Number(_) => Shape::Number,
        Value::String(_) => Shape::Text,
        Value::Array(items) => items.iter().map(shape_of).fold(Shape::Any, Shape::or).list(),
        Value::Object(members) => {
            Shape::Object(members.iter().map(|(name, value)| Field::new(name, shape_of(value))).collect())
        }
    }
}

/// The value that a text without quotes stands for: XML and CSV know only texts. What would not be the same when written
/// back (`007`, `1e3`, long numbers) stays a text.
fn scalar(text: &str) -> Value {
    match text {
        "true" => return Value::from(true),
        "false" => return Value::from(false),
        _ => {}
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_number =
        plain(whole) && plain(fraction) && (whole == "0" || !whole.starts_with('0')) && digits.len() <= 15;
    let number = if is_number { serde_json::from_str(text).ok() } else { None };
    number.map_or_else(|| Value::from(text), Value::Number)
}

/// Makes single values what the shape of all of them says: an identifier that is a number in one place and a text in
/// another is a text.
fn fitted(value: &mut Value, shape: &Shape) {
    match (value, shape.present()) {
        (Value::Array(items), Shape::List(item)) => items.iter_mut().for_each(|one| fitted(one, item)),
        (Value::Object(members), Shape::Object(fields)) => {
            for field in fields {
                if let Some(value) = members.get_mut(&field.name) {
                    fitted(value, &field.shape);
                }
            }
        }
        (value @ (Value::Number(_) | Value::Bool(_)), Shape::Text) => *value = Value::from(value.to_string()),
        _ => {}
    }
}

/// Texts and what looks like something else, in the same place, are texts.
fn plain(shape: Shape) -> Shape {
    match shape {
        Shape::OneOf(shapes) if shapes.iter().all(Shape::is_leaf) => {
            let (nothing, some): (Vec<Shape>, Vec<Shape>) =
                shapes.into_iter().partition(|shape| *shape == Shape::Null);
            let one =
                if some.len() == 1 { some.into_iter().next().unwrap_or(Shape::Text) } else { Shape::Text };
            nothing.into_iter().fold(one, Shape::or)
        }
        Shape::OneOf(shapes) => shapes.into_iter().map(plain).fold(Shape::Any, Shape::or),
        Shape::List(item) => plain(*item).list(),
        Shape::Object(fields) => Shape::Object(
            fields.into_iter().map(|field| Field { shape: plain(field.shape), ..field }).collect(),
        ),
        other => other,
    }
}

#[cfg(test)]
mod tests;
