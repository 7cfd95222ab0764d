//! The shape of data, whatever it is written in: what samples, schemas and types are turned into, and made from.

use serde_json::Value;

/// What a value looks like.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Nothing is known, or everything is allowed.
    Any,
    /// Text.
    Text,
    /// A number.
    Number,
    /// True or false.
    Truth,
    /// Nothing.
    Null,
    /// One of these values, and no other.
    Exactly(Vec<Value>),
    /// Any number of values that look like this.
    List(Box<Shape>),
    /// Named values.
    Object(Vec<Field>),
    /// One of several. Never empty, never nested, no two the same.
    OneOf(Vec<Shape>),
}

/// A named value.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What it looks like.
    pub shape: Shape,
    /// Whether it may be missing.
    pub is_optional: bool,
}

impl Field {
    /// A field that is always there.
    pub fn new(name: impl Into<String>, shape: Shape) -> Self {
        Self { name: name.into(), shape, is_optional: false }
    }

    /// A field that may be missing.
    pub fn optional(name: impl Into<String>, shape: Shape) -> Self {
        Self { name: name.into(), shape, is_optional: true }
    }
}

impl Shape {
    /// A list of values of this shape.
    #[must_use]
    pub fn list(self) -> Self {
        Self::List(Box::new(self))
    }

    /// What both look like: everything that either allows, and no more than that as far as it can be said.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        use Shape::{Any, Exactly, List, Object, OneOf};
        match (self, other) {
            (Any, shape) | (shape, Any) => shape,
            (one, another) if one == another => one,
            (List(one), List(another)) => List(Box::new(one.or(*another))),
            (Object(one), Object(another)) => Object(joined(one, another)),
            (Exactly(mut values), Exactly(more)) => {
                values.extend(more.into_iter().filter(|value| !values.contains(value)).collect::<Vec<_>>());
                Exactly(values)
            }
            (OneOf(shapes), other) => shapes_with(shapes, other),
            (one, OneOf(shapes)) => shapes.into_iter().fold(one, Self::or),
            (one, other) => shapes_with(vec![one], other),
        }
    }

    /// Without the possibility that there is nothing.
    #[must_use]
    pub fn present(&self) -> &Self {
        match self {
            Self::OneOf(shapes) => match shapes.as_slice() {
                [one, Self::Null] | [Self::Null, one] => one,
                _ => self,
            },
            _ => self,
        }
    }

    /// The fields of an object; none of anything else.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        match self.present() {
            Self::Object(fields) => fields,
            _ => &[],
        }
    }

    /// Whether it is a single value.
    #[must_use]
    pub fn is_leaf(&self) -> bool {
        match self {
            Self::Object(_) | Self::List(_) => false,
            Self::OneOf(shapes) => shapes.iter().all(Self::is_leaf),
            _ => true,
        }
    }
}

/// Adds a shape to several, joined with the one that it can be told together with.
fn shapes_with(mut shapes: Vec<Shape>, other: Shape) -> Shape {
    use Shape::{List, Object};
    let alike = shapes.iter().position(|one| {
        *one == other || matches!((one, &other), (List(_), List(_)) | (Object(_), Object(_)))
    });
    match alike {
        Some(at) => {
            let one = shapes.remove(at);
            shapes.insert(at, one.or(other));
        }
        None => shapes.push(other),
    }
    // What may be missing is said last.
    if let Some(at) = shapes.iter().position(|shape| *shape == Shape::Null) {
        let null = shapes.remove(at);
        shapes.push(null);
    }
    match shapes.len() {
        1 => shapes.remove(0),
        _ => Shape::OneOf(shapes),
    }
}

/// The fields of both; those of only one may be missing. Each new one stands behind the one that it followed.
fn joined(one: Vec<Field>, another: Vec<Field>) -> Vec<Field> {
    let mut fields = one;
    for field in &mut fields {
        field.is_optional |= !another.iter().any(|other| other.name == field.name);
    }
    let mut at = 0;
    for other in another {
        match fields.iter_mut().enumerate().find(|(_, field)| field.name == other.name) {
            Some((found, field)) => {
                let shape = std::mem::replace(&mut field.shape, Shape::Any);
                field.shape = shape.or(other.shape);
                field.is_optional |= other.is_optional;
                at = found + 1;
            }
            None => {
                fields.insert(at, Field { is_optional: true, ..other });
                at += 1;
            }
        }
    }
    fields
}

/// A value of a shape that nothing is known of but its shape: names stand for texts, so that a result shows where each
/// came from.
#[must_use]
pub fn example(shape: &Shape, name: &str) -> Value {
    match shape {
        Shape::Any | Shape::Text => Value::from(name),
        Shape::Number => Value::from(1),
        Shape::Truth => Value::from(true),
        Shape::Null => Value::Null,
        Shape::Exactly(values) => values.first().cloned().unwrap_or_default(),
        Shape::List(item) => Value::Array(vec![example(item, name)]),
        Shape::OneOf(shapes) => shapes.first().map_or(Value::Null, |shape| example(shape, name)),
        Shape::Object(fields) => {
            fields.iter().map(|field| (field.name.clone(), example(&field.shape, &field.name))).collect()
        }
    }
}

/// The least that a shape allows: no optional fields, no items. `None` when an example has nothing to leave out.
#[must_use]
pub fn least(shape: &Shape) -> Option<Value> {
    let mut left_out = false;
    let value = bare(shape, &mut left_out);
    left_out.then_some(value)
}

fn bare(shape: &Shape, left_out: &mut bool) -> Value {
    match shape {
        Shape::List(_) => {
            *left_out = true;
            Value::Array(Vec::new())
        }
        Shape::OneOf(shapes) if shapes.contains(&Shape::Null) => {
            *left_out = true;
            Value::Null
        }
        Shape::OneOf(shapes) => shapes.first().map_or(Value::Null, |shape| bare(shape, left_out)),
        Shape::Object(fields) => {
            let mut members = serde_json::Map::new();
            for field in fields {
                if field.is_optional {
                    *left_out = true;
                } else {
                    let value = if field.shape.is_leaf() && field.shape.present() == &field.shape {
                        example(&field.shape, &field.name)
                    } else {
                        bare(&field.shape, left_out)
                    };
                    members.insert(field.name.clone(), value);
                }
            }
            Value::Object(members)
        }
        leaf => example(leaf, ""),
    }
}

#[cfg(test)]
mod tests;
