//! Schemas and the examples that are made from them.

use serde_json::json;

use super::*;

#[allow(clippy::needless_pass_by_value, reason = "rows of a table read better without references")]
fn check(schema: Value, expect: Option<Value>) {
    let whole = json!({ "components": { "schemas": {
        "Pet": { "type": "object", "properties": { "name": { "type": "string", "example": "Rex" } } },
        "Node": { "properties": {
            "id": { "type": "integer" },
            "parent": { "$ref": "#/components/schemas/Node" },
            "children": { "type": "array", "items": { "$ref": "#/components/schemas/Node" } },
        } },
        "Loop": { "$ref": "#/components/schemas/Loop" },
    } } });
    assert_eq!(sample(&whole, &schema), expect, "{schema}");
}

#[test]
fn a_schema_is_answered_with_a_value() {
    check(json!({ "type": "string" }), Some(json!("text")));
    check(json!({ "type": "string", "format": "date" }), Some(json!("2026-01-31")));
    check(json!({ "type": "integer", "minimum": 10 }), Some(json!(10)));
    check(json!({ "type": ["null", "boolean"] }), Some(json!(true)));
    check(json!({ "enum": ["open", "closed"] }), Some(json!("open")));
    check(json!({ "type": "object" }), Some(json!({})));
    check(
        json!({ "type": "array", "items": { "$ref": "#/components/schemas/Pet" } }),
        Some(json!([{ "name": "Rex" }])),
    );
    check(
        json!({ "allOf": [{ "$ref": "#/components/schemas/Pet" }], "properties": {
            "age": { "type": "number" }, "password": { "type": "string", "writeOnly": true } } }),
        Some(json!({ "name": "Rex", "age": 1 })),
    );
    check(json!({ "oneOf": [{}, { "type": "boolean" }] }), Some(json!(true)));
    check(json!({ "items": { "type": "null" } }), Some(json!([null])));
    check(json!({}), None);
    check(json!({ "$ref": "other.json#/Pet" }), None);
}

#[test]
fn a_schema_that_contains_itself_ends() {
    check(json!({ "$ref": "#/components/schemas/Node" }), Some(json!({ "id": 1, "children": [] })));
    check(json!({ "$ref": "#/components/schemas/Loop" }), None);
    // Each level has the next one four times: without a bound of size that would be 4 to the power of 12.
    let mut deep = json!({ "type": "string" });
    for _ in 0..12 {
        deep = json!({ "properties": { "a": deep, "b": deep, "c": deep, "d": deep } });
        if deep.to_string().len() > 1 << 20 {
            break;
        }
    }
    let made = sample(&Value::Null, &deep).unwrap().to_string();
    assert!(made.len() < 10_000, "{}", made.len());
}
