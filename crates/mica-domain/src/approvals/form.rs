//! The arguments of a call as the fields of a form, from the schema of its tool.

use mica_agent::{Args, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::amend::is_required;

/// Letters from which a text gets more than a line.
const LINE: usize = 60;

/// How deep references between schemas are followed.
const DEPTH: usize = 8;

/// An argument, as it is shown and perhaps changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// The argument.
    pub name: String,
    /// What people see.
    pub label: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What goes into it.
    #[serde(flatten)]
    pub kind: FieldKind,
    /// What it is now. `null` when it is not given.
    pub value: Value,
    /// Whether it has to be there.
    pub required: bool,
    /// Whether it may be changed.
    pub amendable: bool,
}

/// What goes into a field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FieldKind {
    /// A text.
    Text {
        /// Whether it has more than a line.
        long: bool,
        /// What it stands for, such as `date`, as the schema says it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<String>,
    },
    /// A number.
    Number {
        /// Whether it is a whole one.
        whole: bool,
        /// At least.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<f64>,
        /// At most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<f64>,
    },
    /// Yes or no.
    Flag,
    /// One of these.
    Choice {
        /// Which.
        options: Vec<Value>,
    },
    /// Several texts.
    List,
    /// Anything else, as JSON.
    Data,
}

/// The fields of a call: the arguments that the schema declares, in its order, then those that are given besides.
pub fn form(spec: &ToolSpec, args: &Args, amendable: &[String]) -> Vec<Field> {
    let none = serde_json::Map::new();
    let declared = spec.schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let of = |name: &str, schema: &Value| {
        let value = args.get(name).cloned().unwrap_or(Value::Null);
        let text = |key: &str| schema.get(key).and_then(Value::as_str).map(str::to_owned);
        Field {
            label: text("title").unwrap_or_else(|| spoken(name)),
            description: text("description"),
            kind: kind(schema, &spec.schema, &value, DEPTH),
            required: is_required(spec, name),
            amendable: amendable.iter().any(|amendable| amendable == name),
            name: name.to_owned(),
            value,
        }
    };
    let others = args.keys().filter(|name| !declared.contains_key(*name));
    let fields = declared.iter().map(|(name, schema)| of(name, schema));
    fields.chain(others.map(|name| of(name, &Value::Null))).collect()
}

/// `due_date` as `Due date`.
fn spoken(name: &str) -> String {
    let words = name.replace(['_', '-'], " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn kind(schema: &Value, root: &Value, value: &Value, depth: usize) -> FieldKind {
    let within = |schema: &Value| match depth.checked_sub(1) {
        Some(depth) => kind(schema, root, value, depth),
        None => FieldKind::Data,
    };
    if let Some(meant) = schema.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#')) {
        return root.pointer(meant).map_or(FieldKind::Data, within);
    }
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        return FieldKind::Choice {
            options: options.iter().filter(|option| !option.is_null()).cloned().collect(),
        };
    }
    for of in ["anyOf", "oneOf"] {
        let Some(branches) = schema.get(of).and_then(Value::as_array) else { continue };
        let branches: Vec<&Value> =
            branches.iter().filter(|branch| branch.get("type").is_none_or(|kind| kind != "null")).collect();
        if let [only] = branches[..] {
            return within(only);
        }
        // Names with a description of their own stand alone, the others together.
        let options: Option<Vec<Vec<Value>>> = branches
            .iter()
            .map(|branch| match (branch.get("const"), branch.get("enum").and_then(Value::as_array)) {
                (Some(only), _) => Some(vec![only.clone()]),
                (None, several) => several.cloned(),
            })
            .collect();
        let options = options.map(|options| options.concat());
        return options.map_or(FieldKind::Data, |options| FieldKind::Choice { options });
    }
    let names: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect()
        }
        _ => Vec::new(),
    };
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    match names[..] {
        ["string"] => {
            let long = value.as_str().is_some_and(|text| text.contains('\n') || text.chars().count() > LINE);
            FieldKind::Text { long, format: schema.get("format").and_then(Value::as_str).map(str::to_owned) }
        }
        [name @ ("integer" | "number")] => {
            FieldKind::Number { whole: name == "integer", min: number("minimum"), max: number("maximum") }
        }
        ["boolean"] => FieldKind::Flag,
        ["array"] if schema.pointer("/items/type").is_some_and(|kind| kind == "string") => FieldKind::List,
        _ => FieldKind::Data,
    }
}

#[cfg(test)]
mod tests {
    use mica_agent::typed::schema_of;
    use schemars::JsonSchema;
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Task {
        /// What is to be done.
        title: String,
        due_date: Option<String>,
        hours: Option<u8>,
        urgency: Option<Urgency>,
        done: bool,
        tags: Vec<String>,
        links: Vec<Link>,
    }

    #[derive(JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code, reason = "only its schema is looked at")]
    enum Urgency {
        /// Some day.
        Low,
        High,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Link {
        to: String,
    }

    #[test]
    fn a_form_from_the_schema_of_a_tool() {
        let spec = ToolSpec::new("create_task", "", schema_of::<Task>());
        let args = json!({ "title": "Call back\nsoon", "hours": 2, "extra": [1] });
        let fields = form(&spec, args.as_object().unwrap(), &["title".to_owned(), "hours".to_owned()]);
        let shown: Vec<Value> = fields
            .iter()
            .map(|field| {
                let kind = serde_json::to_value(&field.kind).unwrap();
                json!([field.name, field.label, kind, field.value, field.required, field.amendable])
            })
            .collect();
        assert_eq!(
            shown,
            [
                json!(["title", "Title", { "kind": "text", "long": true }, "Call back\nsoon", true, true]),
                json!(["due_date", "Due date", { "kind": "text", "long": false }, null, false, false]),
                json!(["hours", "Hours", { "kind": "number", "whole": true, "min": 0.0, "max": 255.0 }, 2, false, true]),
                json!(["urgency", "Urgency", { "kind": "choice", "options": ["high", "low"] }, null, false, false]),
                json!(["done", "Done", { "kind": "flag" }, null, true, false]),
                json!(["tags", "Tags", { "kind": "list" }, null, true, false]),
                json!(["links", "Links", { "kind": "data" }, null, true, false]),
                json!(["extra", "Extra", { "kind": "data" }, [1], false, false]),
            ]
        );
        assert_eq!(fields[0].description.as_deref(), Some("What is to be done."));
    }

    #[test]
    fn a_schema_that_leads_in_a_circle_is_data() {
        let schema = json!({
            "type": "object",
            "properties": { "a": { "$ref": "#/$defs/a" }, "b": { "$ref": "#/$defs/b" } },
            "$defs": { "a": { "$ref": "#/$defs/a" }, "b": { "type": ["string", "null"], "format": "date" } },
        });
        let fields = form(&ToolSpec::new("t", "", schema), &Args::new(), &[]);
        let kinds: Vec<&FieldKind> = fields.iter().map(|field| &field.kind).collect();
        let date = FieldKind::Text { long: false, format: Some("date".to_owned()) };
        assert_eq!(kinds, [&FieldKind::Data, &date]);
    }
}
