//! Arguments that a tool does not declare: they would be dropped without a word, and whoever approves a call would approve
//! something that is not done.
//!
//! A schema that says what happens to other members has said it. This is for those that only list their own, as schemas do
//! that come from types.

use mica_agent::nearest::nearest;
use mica_agent::{Args, ToolSpec};
use serde_json::{Map, Value};

/// Names that are listed.
const LISTED: usize = 20;

/// Letters of a name that nobody declared.
const NAME: usize = 60;

/// What is wrong with arguments that the schema of their tool does not declare, for whoever gave them. `None`: nothing is.
pub(crate) fn undeclared(spec: &ToolSpec, args: &Args) -> Option<String> {
    let mut problems = Vec::new();
    members(&spec.schema, args, &spec.name, &mut problems);
    (!problems.is_empty()).then(|| problems.join(" "))
}

fn members(schema: &Value, given: &Map<String, Value>, of: &str, problems: &mut Vec<String>) {
    let Some(declared) = listed(schema) else { return };
    for (name, value) in given {
        match declared.get(name) {
            Some(schema) => look(schema, value, &format!("{of}.{name}"), problems),
            // What is not there cannot be dropped.
            None if value.is_null() => {}
            None => problems.push(stranger(name, of, declared)),
        }
    }
}

fn look(schema: &Value, value: &Value, of: &str, problems: &mut Vec<String>) {
    let schema = meant(schema);
    match value {
        Value::Object(given) => members(schema, given, of, problems),
        Value::Array(items) => {
            let Some(each) = schema.get("items") else { return };
            items.iter().for_each(|item| look(each, item, of, problems));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The members that a schema lists, when it lists them and says nothing else of members.
fn listed(schema: &Value) -> Option<&Map<String, Value>> {
    const SAYS_MORE: [&str; 9] = [
        "additionalProperties",
        "patternProperties",
        "unevaluatedProperties",
        "anyOf",
        "oneOf",
        "allOf",
        "if",
        "dependentSchemas",
        "$ref",
    ];
    let schema = schema.as_object()?;
    let says_more = SAYS_MORE.iter().any(|word| schema.contains_key(*word));
    schema.get("properties").filter(|_| !says_more)?.as_object()
}

/// The one form of something that may be left out.
fn meant(schema: &Value) -> &Value {
    let forms = ["anyOf", "oneOf"].iter().find_map(|of| schema.get(*of)?.as_array());
    let is_some = |form: &&Value| form.get("type").is_none_or(|kind| kind != "null");
    match forms.map(|forms| forms.iter().filter(is_some).collect::<Vec<_>>()).as_deref() {
        Some([only]) => only,
        _ => schema,
    }
}

fn stranger(name: &str, of: &str, declared: &Map<String, Value>) -> String {
    let names = || declared.keys().map(String::as_str);
    let near = nearest(name, names()).map(|near| format!(" Did you mean {near:?}?")).unwrap_or_default();
    let known: Vec<&str> = names().take(LISTED).collect();
    let known = match known.as_slice() {
        [] => "nothing".to_owned(),
        known => known.join(", "),
    };
    let name: String = name.chars().take(NAME).collect();
    format!("{name:?} is no argument of {of}.{near} It takes: {known}.")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: Value, args: &Value, expect: Option<&str>) {
        let spec = ToolSpec::new("note", "", schema);
        assert_eq!(undeclared(&spec, args.as_object().unwrap()).as_deref(), expect, "{args}");
    }

    #[test]
    fn what_nobody_declared_is_said_with_what_was_probably_meant() {
        let schema = || {
            json!({ "type": "object", "properties": {
                "about": { "type": "string" },
                "text": { "type": "string" },
                "tags": { "type": "array", "items": { "type": "object", "properties": { "name": { "type": "string" } } } },
                "where": { "anyOf": [{ "type": "object", "properties": { "page": { "type": "string" } } }, { "type": "null" }] },
                "free": { "type": "object", "additionalProperties": { "type": "string" } },
            } })
        };
        check(schema(), &json!({ "about": "a", "text": "b" }), None);
        check(
            schema(),
            &json!({ "about": "a", "txt": "b" }),
            Some(
                "\"txt\" is no argument of note. Did you mean \"text\"? It takes: about, text, tags, where, free.",
            ),
        );
        check(
            schema(),
            &json!({ "notify": true, "tags": [{ "name": "x", "colour": "red" }] }),
            Some(
                "\"notify\" is no argument of note. It takes: about, text, tags, where, free. \"colour\" is no argument of \
                 note.tags. It takes: name.",
            ),
        );
        check(
            schema(),
            &json!({ "where": { "pages": "inbox" } }),
            Some("\"pages\" is no argument of note.where. Did you mean \"page\"? It takes: page."),
        );
        // What says nothing is dropped by nobody, and what may have any members has them.
        check(schema(), &json!({ "nothing": null, "free": { "any": "thing" } }), None);
        check(json!({ "type": "object" }), &json!({ "any": 1 }), None);
        check(
            json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": true }),
            &json!({ "b": 1 }),
            None,
        );
    }
}
