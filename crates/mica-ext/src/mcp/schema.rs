//! Schemas of servers, made into what every provider takes.
//!
//! Promises: an object at the top; no reference in it, none out of it; no deeper and no larger than the limits; and valid,
//! or it takes anything and the server judges. A schema that lost something takes more than before, never less.

use mica_policy::validate::Schema;
use serde_json::{Map, Value, json};

use super::words::clean;

/// How deep a schema may be.
const DEPTH: usize = 12;
/// Bytes of one.
const SIZE: usize = 24 * 1024;
/// Parts that are made at most while references are put in: few can stand for very many.
const PARTS: usize = 4_000;
/// Characters of a description in one.
const WORDS: usize = 600;

/// What a provider has no use for, or refuses.
const DROPPED: [&str; 12] = [
    "$schema",
    "$id",
    "id",
    "$anchor",
    "$dynamicAnchor",
    "$comment",
    "$defs",
    "definitions",
    "$vocabulary",
    "examples",
    "deprecated",
    "contentEncoding",
];
/// Keys under which there are schemas by name, and names are not keys.
const NAMED: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];
/// Keys whose values are no schemas.
const VALUES: [&str; 3] = ["enum", "const", "default"];

/// A schema that can be used, and what is to be said of it when it could not be kept.
pub(super) fn cleaned(schema: &Value) -> (Value, Option<&'static str>) {
    let mut work = Work { root: schema, parts: 0 };
    let whole = work.part(schema, 0, &mut Vec::new()).map(topped);
    match whole {
        Some(whole) if whole.to_string().len() > SIZE => (anything(), Some(LARGE)),
        Some(whole) if Schema::compile(&whole).is_ok() => (whole, None),
        Some(_) => (anything(), Some(BROKEN)),
        None => (anything(), Some(LARGE)),
    }
}

const LARGE: &str =
    "(The schema of its arguments is too large to be shown; the server says what is wrong with a call.)";
const BROKEN: &str = "(The schema of its arguments is broken; the server says what is wrong with a call.)";

fn anything() -> Value {
    json!({ "type": "object", "properties": {}, "additionalProperties": true })
}

struct Work<'a> {
    root: &'a Value,
    parts: usize,
}

impl<'a> Work<'a> {
    /// One part. `None` when there are too many.
    fn part(&mut self, part: &'a Value, depth: usize, inside: &mut Vec<&'a str>) -> Option<Value> {
        self.parts += 1;
        if self.parts > PARTS {
            return None;
        }
        let Value::Object(members) = part else {
            // True and false are schemas, too; all else is none, and takes anything.
            return Some(if part.is_boolean() { part.clone() } else { json!({}) });
        };
        if depth > DEPTH {
            return Some(json!({}));
        }
        if let Some(reference) =
            members.get("$ref").or_else(|| members.get("$dynamicRef")).and_then(Value::as_str)
        {
            return self.reference(reference, members, depth, inside);
        }
        let mut out = Map::new();
        for (key, value) in members {
            if DROPPED.contains(&key.as_str()) {
                continue;
            }
            let cleaned = match (key.as_str(), value) {
                ("description" | "title", Value::String(text)) => Value::String(clean(text, WORDS)),
                (key, value) if VALUES.contains(&key) => value.clone(),
                (key, Value::Object(named)) if NAMED.contains(&key) => {
                    let mut parts = Map::new();
                    for (name, part) in named {
                        parts.insert(name.clone(), self.part(part, depth + 1, inside)?);
                    }
                    Value::Object(parts)
                }
                (_, Value::Object(_)) => self.part(value, depth + 1, inside)?,
                ("allOf" | "anyOf" | "oneOf" | "prefixItems" | "items", Value::Array(list)) => {
                    let mut parts = Vec::new();
                    for part in list {
                        parts.push(self.part(part, depth + 1, inside)?);
                    }
                    Value::Array(parts)
                }
                (_, value) => value.clone(),
            };
            out.insert(key.clone(), cleaned);
        }
        // Lists were tuples once, under another name.
        if let Some(Value::Array(items)) = out.get("items").cloned() {
            out.remove("items");
            out.insert("prefixItems".to_owned(), Value::Array(items));
        }
        Some(Value::Object(out))
    }

    /// What a reference leads to, in its place. One that leads out, nowhere or into itself takes anything.
    fn reference(
        &mut self,
        reference: &'a str,
        members: &'a Map<String, Value>,
        depth: usize,
        inside: &mut Vec<&'a str>,
    ) -> Option<Value> {
        let target = reference.strip_prefix('#').and_then(|pointer| match pointer {
            "" => Some(self.root),
            pointer => self.root.pointer(pointer),
        });
        let mut found = match target {
            Some(target) if !inside.contains(&reference) => {
                inside.push(reference);
                let found = self.part(target, depth + 1, inside);
                inside.pop();
                found?
            }
            _ => json!({}),
        };
        if let (Value::Object(found), Some(Value::String(text))) = (&mut found, members.get("description")) {
            found.insert("description".to_owned(), Value::String(clean(text, WORDS)));
        }
        Some(found)
    }
}

/// An object at the top, and nothing beside its properties that providers refuse there.
fn topped(schema: Value) -> Value {
    let Value::Object(mut members) = schema else { return anything() };
    if !matches!(members.get("type"), Some(Value::String(kind)) if kind == "object") {
        let is_free = members.get("type").is_none()
            || members
                .get("type")
                .and_then(Value::as_array)
                .is_some_and(|kinds| kinds.contains(&json!("object")));
        if !is_free {
            return anything();
        }
        members.insert("type".to_owned(), json!("object"));
    }
    let mut properties = match members.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    let mut required: Vec<Value> = match members.remove("required") {
        Some(Value::Array(names)) => names,
        _ => Vec::new(),
    };
    for (key, all) in [("allOf", true), ("anyOf", false), ("oneOf", false)] {
        let Some(Value::Array(parts)) = members.remove(key) else { continue };
        for part in parts {
            if let Some(Value::Object(more)) = part.get("properties") {
                for (name, part) in more {
                    properties.entry(name.clone()).or_insert_with(|| part.clone());
                }
            }
            if let (true, Some(Value::Array(names))) = (all, part.get("required")) {
                required.extend(names.iter().cloned());
            }
        }
        // What is beside them was judged together with them.
        members.remove("additionalProperties");
        members.remove("unevaluatedProperties");
    }
    for key in
        ["not", "if", "then", "else", "enum", "const", "default", "dependentSchemas", "dependentRequired"]
    {
        members.remove(key);
    }
    required.retain(|name| name.as_str().is_some_and(|name| properties.contains_key(name)));
    required.dedup();
    members.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        members.insert("required".to_owned(), Value::Array(required));
    }
    Value::Object(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::needless_pass_by_value, reason = "a table reads better without borrows")]
    fn check(schema: Value, expect: Value) {
        assert_eq!(cleaned(&schema), (expect, None), "{schema}");
    }

    #[test]
    fn references_are_put_in() {
        check(
            json!({
                "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
                "properties": { "a": { "$ref": "#/$defs/A", "description": "mine" }, "b": { "$ref": "#/definitions/B" },
                                "out": { "$ref": "https://x.example/y" } },
                "required": ["a", "gone"],
                "$defs": { "A": { "type": "string", "description": "theirs" } },
                "definitions": { "B": { "items": { "$ref": "#/$defs/A" } } },
            }),
            json!({
                "type": "object",
                "properties": { "a": { "type": "string", "description": "mine" },
                                "b": { "items": { "type": "string", "description": "theirs" } }, "out": {} },
                "required": ["a"],
            }),
        );
        // A thing that has things of its kind takes anything at its second level.
        check(
            json!({ "type": "object", "properties": { "t": { "$ref": "#/$defs/T" } },
                    "$defs": { "T": { "type": "object", "properties": { "t": { "$ref": "#/$defs/T" } } } } }),
            json!({ "type": "object", "properties": { "t": { "type": "object", "properties": { "t": {} } } } }),
        );
    }

    #[test]
    fn there_is_an_object_at_the_top() {
        check(json!({}), json!({ "type": "object", "properties": {} }));
        check(
            json!({ "anyOf": [{ "properties": { "a": { "type": "string" } }, "required": ["a"] },
                              { "properties": { "b": { "type": "number" } } }], "additionalProperties": false }),
            json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "number" } } }),
        );
        check(
            json!({ "allOf": [{ "properties": { "a": {} }, "required": ["a"] }] }),
            json!({ "type": "object", "properties": { "a": {} }, "required": ["a"] }),
        );
        check(json!({ "type": "string" }), anything());
        check(json!("no"), json!({ "type": "object", "properties": {} }));
        // A property may be called like a key that is dropped.
        check(
            json!({ "type": "object", "properties": { "id": { "type": "string", "id": "x" }, "$defs": {} } }),
            json!({ "type": "object", "properties": { "id": { "type": "string" }, "$defs": {} } }),
        );
    }

    #[test]
    fn what_is_too_much_takes_anything() {
        let mut deep = json!({ "type": "string" });
        for _ in 0..40 {
            deep = json!({ "type": "object", "properties": { "x": deep } });
        }
        let (cut, note) = cleaned(&deep);
        assert_eq!(note, None);
        assert!(cut.to_string().len() < 1_000, "{cut}");
        let wide: Map<String, Value> = (0..5_000).map(|at| (format!("p{at}"), json!({}))).collect();
        assert_eq!(cleaned(&json!({ "properties": wide })), (anything(), Some(LARGE)));
        let large = json!({ "properties": { "x": { "enum": vec!["y".repeat(100); 400] } } });
        assert_eq!(cleaned(&large), (anything(), Some(LARGE)));
        // References that become eight at every step.
        let mut defs = Map::new();
        for at in 0..40 {
            let next = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
            let eight: Map<String, Value> = (0..8).map(|of| (format!("p{of}"), next.clone())).collect();
            defs.insert(format!("d{at}"), json!({ "properties": eight }));
        }
        let bomb = json!({ "properties": { "x": { "$ref": "#/$defs/d0" } }, "$defs": defs });
        assert_eq!(cleaned(&bomb).1, Some(LARGE));
        let broken = json!({ "type": "object", "properties": { "x": { "type": "nothing" } } });
        assert_eq!(cleaned(&broken), (anything(), Some(BROKEN)));
    }
}
