//! An example made from a schema, for answers that the definition describes without showing one.
//!
//! It always ends: a schema that contains itself is left out where it comes again, and depth and size are bounded.

use serde_json::{Map, Value, json};

/// How deep values lie in each other.
const DEEPEST: usize = 12;
/// Values that one example has at most.
const MOST: usize = 500;

/// A value that a schema allows, as far as it says what it allows.
pub(super) fn sample(whole: &Value, schema: &Value) -> Option<Value> {
    Sampler { whole, within: Vec::new(), left: MOST }.value(schema, 0)
}

struct Sampler<'a> {
    whole: &'a Value,
    /// The references that are being followed.
    within: Vec<&'a str>,
    left: usize,
}

impl<'a> Sampler<'a> {
    fn value(&mut self, schema: &'a Value, depth: usize) -> Option<Value> {
        if depth > DEEPEST || self.left == 0 {
            return None;
        }
        let Some(target) = schema.get("$ref").and_then(Value::as_str) else {
            self.left -= 1;
            return self.plain(schema, depth);
        };
        if self.within.contains(&target) {
            return None;
        }
        let found = target.strip_prefix('#').and_then(|pointer| self.whole.pointer(pointer))?;
        self.within.push(target);
        let value = self.value(found, depth + 1);
        self.within.pop();
        value
    }

    /// A value for a schema that is no reference.
    fn plain(&mut self, schema: &'a Value, depth: usize) -> Option<Value> {
        let first = |name: &str| schema.get(name).and_then(Value::as_array).and_then(|all| all.first());
        let shown = schema.get("example").or(first("examples")).or(schema.get("const"));
        if let Some(shown) = shown.or(schema.get("default").filter(|it| !it.is_null())).or(first("enum")) {
            return Some(shown.clone());
        }
        for name in ["oneOf", "anyOf"] {
            let all = schema.get(name).and_then(Value::as_array).into_iter().flatten();
            for one in all {
                if let Some(value) = self.value(one, depth + 1) {
                    return Some(value);
                }
            }
        }
        let parts = schema.get("allOf").and_then(Value::as_array);
        if parts.is_some() || schema.get("properties").is_some() {
            return self.object(schema, parts, depth);
        }
        match kind(schema).or_else(|| schema.get("items").map(|_| "array")) {
            Some("object") => Some(json!({})),
            Some("array") => {
                let item = schema.get("items").and_then(|items| self.value(items, depth + 1));
                Some(Value::Array(item.into_iter().collect()))
            }
            Some("string") => Some(text(schema).into()),
            Some("integer" | "number") => {
                Some(schema.get("minimum").filter(|it| it.is_number()).cloned().unwrap_or_else(|| json!(1)))
            }
            Some("boolean") => Some(json!(true)),
            Some("null") => Some(Value::Null),
            _ => None,
        }
    }

    /// What all parts say together.
    fn object(&mut self, schema: &'a Value, parts: Option<&'a Vec<Value>>, depth: usize) -> Option<Value> {
        let mut object = Map::new();
        for part in parts.into_iter().flatten() {
            match self.value(part, depth + 1) {
                Some(Value::Object(more)) => object.extend(more),
                // One that is no object cannot be joined with others: it is the value.
                Some(other) => return Some(other),
                None => {}
            }
        }
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, property) in properties {
            // What is only sent is never answered.
            if property.get("writeOnly").and_then(Value::as_bool).unwrap_or_default() {
                continue;
            }
            if let Some(value) = self.value(property, depth + 1) {
                object.insert(name.clone(), value);
            }
        }
        Some(Value::Object(object))
    }
}

/// The type of a schema; the first that is not null when there are several.
fn kind(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::Array(all) => {
            let mut kinds = all.iter().filter_map(Value::as_str);
            kinds.clone().find(|one| *one != "null").or_else(|| kinds.next())
        }
        one => one.as_str(),
    }
}

/// A text of the format that a schema asks for.
fn text(schema: &Value) -> &'static str {
    match schema.get("format").and_then(Value::as_str) {
        Some("date-time") => "2026-01-31T12:00:00Z",
        Some("date") => "2026-01-31",
        Some("time") => "12:00:00Z",
        Some("uuid") => "123e4567-e89b-42d3-a456-426614174000",
        Some("email") => "someone@example.org",
        Some("uri" | "url") => "https://example.org",
        Some("byte") => "bWljYQ==",
        _ => "text",
    }
}

#[cfg(test)]
mod tests;
