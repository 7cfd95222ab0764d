//! What an operation answers, from its output schema, as one row for each field.

use serde_json::Value;

/// Rows of one schema. More help nobody.
const MOST_ROWS: usize = 80;
/// How deep fields are followed.
const DEEPEST: usize = 8;

/// The fields of a JSON Schema: `attributes.statusCode (integer): HTTP status`.
pub(super) fn paths(text: &str) -> Vec<String> {
    let mut rows = Vec::new();
    if let Ok(schema) = serde_json::from_str::<Value>(text) {
        collect(&schema, "", DEEPEST, &mut rows);
    }
    rows
}

fn collect(schema: &Value, path: &str, deeper: usize, rows: &mut Vec<String>) {
    if let Some(items) = schema.get("items").filter(|_| deeper > 0) {
        collect(items, &format!("{path}[]"), deeper - 1, rows);
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, field) in properties {
        if rows.len() >= MOST_ROWS {
            return;
        }
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let kind = match field.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            Some(Value::Array(kinds)) => {
                kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
            }
            _ => "any".to_owned(),
        };
        let about = field.get("description").and_then(Value::as_str).unwrap_or_default().trim();
        let about = if about.is_empty() { String::new() } else { format!(": {about}") };
        rows.push(format!("{path} ({kind}){about}"));
        if deeper > 0 {
            collect(field, &path, deeper - 1, rows);
        }
    }
}
