//! JSON Schema: read where somebody has one, and written to judge a result by.

use serde_json::{Map, Value, json};

use super::extent::Extent;
use super::shape::{Field, Shape};
use super::{Kind, Schema, SchemaError};

/// Reads a JSON Schema.
///
/// # Errors
/// [`SchemaError::JsonSchema`] when it is none, or leads out of itself.
pub fn read(text: &str) -> Result<Schema, SchemaError> {
    let root: Value = serde_json::from_str(text).map_err(|error| SchemaError::Json(error.to_string()))?;
    let shape = Reading { root: &root, extent: Extent::default() }.shape(&root, &mut Vec::new())?;
    if shape.is_leaf() {
        return Err(bad("the root must be an object or an array"));
    }
    let title = root.get("title").and_then(Value::as_str).filter(|title| !title.trim().is_empty());
    Ok(Schema::new(title.unwrap_or("root"), Kind::Json, shape))
}

/// Whether a JSON text is a schema rather than a sample.
#[must_use]
pub fn is_schema(text: &str) -> bool {
    let Ok(Value::Object(members)) = serde_json::from_str(text) else { return false };
    let says =
        members.get("$schema").and_then(Value::as_str).is_some_and(|uri| uri.contains("json-schema.org"));
    let kind = members.get("type").and_then(Value::as_str);
    let inside = |name: &str| members.get(name).is_some_and(Value::is_object);
    says || kind == Some("object") && inside("properties") || kind == Some("array") && inside("items")
}

fn bad(reason: impl Into<String>) -> SchemaError {
    SchemaError::JsonSchema(reason.into())
}

struct Reading<'a> {
    root: &'a Value,
    extent: Extent,
}

impl Reading<'_> {
    fn shape(&self, schema: &Value, through: &mut Vec<String>) -> Result<Shape, SchemaError> {
        let Value::Object(members) = schema else { return Ok(Shape::Any) };
        let _within = self.extent.enter().map_err(bad)?;
        if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
            return self.referred(reference, through);
        }
        if let Some(Value::Array(values)) = members.get("enum") {
            return Ok(Shape::Exactly(values.clone()));
        }
        if let Some(value) = members.get("const") {
            return Ok(Shape::Exactly(vec![value.clone()]));
        }
        for either in ["anyOf", "oneOf"] {
            if let Some(Value::Array(schemas)) = members.get(either) {
                return schemas.iter().try_fold(Shape::Any, |all, one| Ok(all.or(self.shape(one, through)?)));
            }
        }
        let mut shape = match members.get("type") {
            Some(Value::Array(kinds)) => {
                let kinds = kinds.iter().filter_map(Value::as_str);
                kinds
                    .map(|kind| self.of_kind(kind, members, through))
                    .try_fold(Shape::Any, |all, one| Ok(all.or(one?)))?
            }
            Some(Value::String(kind)) => self.of_kind(kind, members, through)?,
            _ if members.contains_key("properties") => self.of_kind("object", members, through)?,
            _ if members.contains_key("items") => self.of_kind("array", members, through)?,
            _ => Shape::Any,
        };
        if let Some(Value::Array(schemas)) = members.get("allOf") {
            for one in schemas {
                shape = both(shape, self.shape(one, through)?);
            }
        }
        if members.get("nullable") == Some(&Value::Bool(true)) {
            shape = shape.or(Shape::Null);
        }
        Ok(shape)
    }

    fn referred(&self, reference: &str, through: &mut Vec<String>) -> Result<Shape, SchemaError> {
        let Some(pointer) = reference.strip_prefix('#') else {
            return Err(bad(format!(
                "{reference:?} lies outside of the schema: put what it refers to into $defs"
            )));
        };
        // A type that holds itself has no end; inside of itself it is anything.
        if through.iter().any(|one| one == reference) {
            return Ok(Shape::Any);
        }
        let found =
            self.root.pointer(pointer).ok_or_else(|| bad(format!("there is nothing at {reference:?}")))?;
        through.push(reference.to_owned());
        let shape = self.shape(found, through);
        through.pop();
        shape
    }

    fn of_kind(
        &self,
        kind: &str,
        members: &Map<String, Value>,
        through: &mut Vec<String>,
    ) -> Result<Shape, SchemaError> {
        Ok(match kind {
            "string" => Shape::Text,
            "number" | "integer" => Shape::Number,
            "boolean" => Shape::Truth,
            "null" => Shape::Null,
            "array" => match members.get("items") {
                // A tuple is a list of whatever is in it.
                Some(Value::Array(items)) => items
                    .iter()
                    .try_fold(Shape::Any, |all, one| Ok(all.or(self.shape(one, through)?)))?
                    .list(),
                Some(item) => self.shape(item, through)?.list(),
                None => Shape::Any.list(),
            },
            "object" => {
                let required: Vec<&str> = members
                    .get("required")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .collect();
                // MI's own schemas list nothing as required and mean all of it.
                let all = !members.contains_key("required");
                let properties = members.get("properties").and_then(Value::as_object).into_iter().flatten();
                let fields = properties.map(|(name, schema)| {
                    let is_optional = !all && !required.contains(&name.as_str());
                    Ok(Field { name: name.clone(), shape: self.shape(schema, through)?, is_optional })
                });
                Shape::Object(fields.collect::<Result<_, SchemaError>>()?)
            }
            other => return Err(bad(format!("there is no type {other:?}"))),
        })
    }
}

/// What must be both: objects have the fields of both.
fn both(one: Shape, another: Shape) -> Shape {
    match (one, another) {
        (Shape::Object(mut fields), Shape::Object(more)) => {
            for field in more {
                match fields.iter_mut().find(|one| one.name == field.name) {
                    Some(known) => known.is_optional &= field.is_optional,
                    None => fields.push(field),
                }
            }
            Shape::Object(fields)
        }
        (Shape::Any, shape) | (shape, _) => shape,
    }
}

/// A shape as JSON Schema, for judging: what is not named is not allowed.
#[must_use]
pub fn write(shape: &Shape) -> Value {
    match shape {
        Shape::Any => json!({}),
        Shape::Text => json!({ "type": "string" }),
        Shape::Number => json!({ "type": "number" }),
        Shape::Truth => json!({ "type": "boolean" }),
        Shape::Null => json!({ "type": "null" }),
        Shape::Exactly(values) => json!({ "enum": values }),
        Shape::List(item) => json!({ "type": "array", "items": write(item) }),
        Shape::OneOf(shapes) => json!({ "anyOf": shapes.iter().map(write).collect::<Vec<_>>() }),
        Shape::Object(fields) => {
            let properties: Map<String, Value> =
                fields.iter().map(|field| (field.name.clone(), write(&field.shape))).collect();
            let required: Vec<&str> =
                fields.iter().filter(|field| !field.is_optional).map(|field| field.name.as_str()).collect();
            json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
        }
    }
}

#[cfg(test)]
mod tests;
