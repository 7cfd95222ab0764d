//! JSON Schemas that are read, and those that lead out of themselves.

#![allow(clippy::needless_pass_by_value, reason = "expectations read best as they are")]

use serde_json::json;

use super::*;

fn check(schema: Value, expected: Shape) {
    assert_eq!(read(&schema.to_string()).unwrap().shape, expected, "{schema}");
}

fn refused(schema: Value, expected: &str) {
    assert_eq!(read(&schema.to_string()).unwrap_err().to_string(), expected);
}

#[test]
fn schemas_are_read() {
    check(
        json!({ "type": "object", "required": ["a"], "properties": {
            "a": { "type": ["string", "null"] },
            "b": { "type": "array", "items": { "$ref": "#/$defs/item" } },
            "c": { "enum": ["x", "y"] },
            "d": { "anyOf": [{ "type": "integer" }, { "type": "boolean" }] },
            "e": { "allOf": [{ "$ref": "#/$defs/item" }, { "properties": { "more": { "type": "string" } } }] },
            "f": {},
        }, "$defs": { "item": { "type": "object", "properties": { "self": { "$ref": "#/$defs/item" }, "n": { "type": "number", "nullable": true } } } } }),
        Shape::Object(vec![
            Field::new("a", Shape::OneOf(vec![Shape::Text, Shape::Null])),
            Field::optional("b", item().list()),
            Field::optional("c", Shape::Exactly(vec![json!("x"), json!("y")])),
            Field::optional("d", Shape::OneOf(vec![Shape::Number, Shape::Truth])),
            Field::optional(
                "e",
                Shape::Object(vec![
                    Field::new("self", Shape::Any),
                    Field::new("n", Shape::OneOf(vec![Shape::Number, Shape::Null])),
                    Field::new("more", Shape::Text),
                ]),
            ),
            Field::optional("f", Shape::Any),
        ]),
    );
}

fn item() -> Shape {
    Shape::Object(vec![
        Field::new("self", Shape::Any),
        Field::new("n", Shape::OneOf(vec![Shape::Number, Shape::Null])),
    ])
}

#[test]
fn what_leads_out_is_refused() {
    refused(
        json!({ "type": "object", "properties": { "a": { "$ref": "other.json#/a" } } }),
        "it is no usable JSON Schema: \"other.json#/a\" lies outside of the schema: put what it refers to into $defs",
    );
    refused(json!({ "$ref": "#/gone" }), "it is no usable JSON Schema: there is nothing at \"#/gone\"");
    refused(json!({ "type": "text" }), "it is no usable JSON Schema: there is no type \"text\"");
    refused(
        json!({ "type": "string" }),
        "it is no usable JSON Schema: the root must be an object or an array",
    );
}

#[test]
fn schemas_are_told_from_samples() {
    for (text, expected) in [
        (r#"{ "$schema": "http://json-schema.org/draft-07/schema#" }"#, true),
        (r#"{ "type": "object", "properties": {} }"#, true),
        (r#"{ "type": "array", "items": {} }"#, true),
        (r#"{ "type": "object", "name": "a" }"#, false),
        (r#"{ "properties": [] }"#, false),
        ("[]", false),
    ] {
        assert_eq!(is_schema(text), expected, "{text}");
    }
}

/// Each type uses the next one twice: read naively, that is more parts than there are atoms.
#[test]
fn schemas_that_explode_are_refused() {
    let mut defs = Map::new();
    for n in 0..90 {
        let next = json!({ "$ref": format!("#/$defs/t{}", n + 1) });
        defs.insert(format!("t{n}"), json!({ "type": "object", "properties": { "a": next, "b": next } }));
    }
    defs.insert("t90".to_owned(), json!({ "type": "string" }));
    let error = read(&json!({ "$ref": "#/$defs/t0", "$defs": defs }).to_string()).unwrap_err().to_string();
    assert!(error.starts_with("it is no usable JSON Schema: it"), "{error}");
}
