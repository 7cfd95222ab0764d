//! SARIF: the constraints of the standard that readers rely on, as a schema of our own.

use serde_json::{Value, json};

use crate::{BARE, Stage, sequence};

/// What SARIF 2.1.0 demands of the parts that are written.
fn schema() -> Value {
    let message = json!({
        "type": "object",
        "required": ["text"],
        "properties": { "text": { "type": "string", "minLength": 1 }, "markdown": { "type": "string" } },
        "additionalProperties": false,
    });
    let level = json!({ "enum": ["none", "note", "warning", "error"] });
    let location = json!({
        "type": "object",
        "properties": {
            "uri": { "type": "string", "pattern": "^[A-Za-z0-9%./:_~-]+$" },
            "uriBaseId": { "type": "string" },
            "index": { "type": "integer", "minimum": -1 },
        },
        "required": ["uri"],
        "additionalProperties": false,
    });
    let region = json!({
        "type": "object",
        "properties": {
            "startLine": { "type": "integer", "minimum": 1 },
            "startColumn": { "type": "integer", "minimum": 1 },
            "endLine": { "type": "integer", "minimum": 1 },
            "endColumn": { "type": "integer", "minimum": 1 },
        },
        "required": ["startLine"],
        "additionalProperties": false,
    });
    let properties = json!({ "type": "object", "properties": { "tags": { "type": "array", "uniqueItems": true, "items": { "type": "string" } } } });
    let fix = json!({
        "type": "object",
        "required": ["artifactChanges"],
        "properties": {
            "description": message,
            "properties": properties,
            "artifactChanges": { "type": "array", "minItems": 1, "uniqueItems": true, "items": {
                "type": "object",
                "required": ["artifactLocation", "replacements"],
                "properties": {
                    "artifactLocation": location,
                    "replacements": { "type": "array", "minItems": 1, "items": {
                        "type": "object",
                        "required": ["deletedRegion"],
                        "properties": {
                            "deletedRegion": region,
                            "insertedContent": { "type": "object", "properties": { "text": { "type": "string" } }, "additionalProperties": false },
                        },
                        "additionalProperties": false,
                    } },
                },
                "additionalProperties": false,
            } },
        },
        "additionalProperties": false,
    });
    let result = json!({
        "type": "object",
        "required": ["message"],
        "properties": {
            "ruleId": { "type": "string" },
            "ruleIndex": { "type": "integer", "minimum": -1 },
            "level": level,
            "message": message,
            "locations": { "type": "array", "items": {
                "type": "object",
                "properties": { "physicalLocation": {
                    "type": "object",
                    "properties": { "artifactLocation": location, "region": region },
                    "required": ["artifactLocation"],
                    "additionalProperties": false,
                } },
                "additionalProperties": false,
            } },
            "fixes": { "type": "array", "uniqueItems": true, "items": fix },
            "properties": properties,
        },
        "additionalProperties": false,
    });
    let rule = json!({
        "type": "object",
        "required": ["id"],
        "properties": {
            "id": { "type": "string", "pattern": "^SYN[0-9]{4}$" },
            "name": { "type": "string" },
            "shortDescription": message,
            "fullDescription": message,
            "help": message,
            "defaultConfiguration": { "type": "object", "properties": { "level": level }, "additionalProperties": false },
            "properties": properties,
        },
        "additionalProperties": false,
    });
    let run = json!({
        "type": "object",
        "required": ["tool"],
        "properties": {
            "tool": { "type": "object", "required": ["driver"], "properties": { "driver": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": { "type": "string" },
                    "semanticVersion": { "type": "string", "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+" },
                    "rules": { "type": "array", "uniqueItems": true, "items": rule },
                },
                "additionalProperties": false,
            } }, "additionalProperties": false },
            "invocations": { "type": "array", "items": { "type": "object", "required": ["executionSuccessful"], "properties": { "executionSuccessful": { "type": "boolean" } }, "additionalProperties": false } },
            "columnKind": { "enum": ["utf16CodeUnits", "unicodeCodePoints"] },
            "artifacts": { "type": "array", "uniqueItems": true, "items": { "type": "object", "properties": { "location": location, "properties": properties }, "additionalProperties": false } },
            "results": { "type": "array", "items": result },
        },
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "required": ["version", "runs"],
        "properties": {
            "$schema": { "type": "string" },
            "version": { "const": "2.1.0" },
            "runs": { "type": "array", "items": run },
        },
        "additionalProperties": false,
    })
}

#[test]
fn the_log_keeps_the_standard_and_its_own_indices() {
    let files = [
        ("a b.xml", sequence("a", BARE)),
        ("b.xml", sequence("b", "<lgo/>\n<log")),
        ("c.xml", sequence("c", "    <log/>")),
    ];
    let stage = Stage::new(&files.each_ref().map(|(path, text)| (*path, text.as_str())));
    let ran = stage.run(&["check", "--format", "sarif"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let log: Value = serde_json::from_str(&ran.out).unwrap();
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&log).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(errors, Vec::<String>::new());
    let run = &log["runs"][0];
    assert_eq!(run["columnKind"], "utf16CodeUnits");
    let uris: Vec<&Value> =
        run["artifacts"].as_array().unwrap().iter().map(|one| &one["location"]["uri"]).collect();
    assert_eq!(uris, ["a%20b.xml", "b.xml", "c.xml"]);
    let results = run["results"].as_array().unwrap();
    for result in results {
        let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        let location = &result["locations"][0]["physicalLocation"]["artifactLocation"];
        assert_eq!(uris[location["index"].as_u64().unwrap() as usize], &location["uri"]);
    }
    let bare = results.iter().find(|result| result["ruleId"] == "SYN0201").unwrap();
    assert_eq!(bare["level"], "error");
    assert_eq!(
        bare["locations"][0]["physicalLocation"]["region"],
        json!({ "startLine": 2, "startColumn": 43, "endLine": 2, "endColumn": 55 })
    );
    assert_eq!(
        bare["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"],
        json!({ "text": "${" })
    );
}
