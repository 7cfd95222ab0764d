//! Reads the message of a `context` block.
//!
//! It is the evaluator's own form of a message, and beside it the form people think in: a payload as plain JSON,
//! variables as plain values, `properties` by scope, `params` by kind.
//!
//! ```json
//! {
//!   "payload": {"total": 10},
//!   "vars": {"count": 3, "since": {"type": "long", "value": 5}},
//!   "headers": {"X-Id": "7"},
//!   "properties": {"synapse": {"a": "1"}, "axis2": {"HTTP_SC": "200"}},
//!   "params": {"pathParams": {"id": "12"}, "queryParams": {"q": "x"}, "functionParams": {"p": "1"}},
//!   "configs": {"base": "b"},
//!   "registry": {"conf:/a.json": "{}"}
//! }
//! ```

use serde_json::{Map, Value, json};
use synapse_lang::expr::Context;

pub(super) fn read(text: &str) -> Result<Context, String> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("the context is no JSON: {error}"))?;
    let Value::Object(mut map) = value else { return Err("the context is no JSON object".to_owned()) };
    if let Some(payload) = map.get_mut("payload")
        && !payload.is_string()
        && !payload.is_null()
    {
        *payload = Value::String(payload.to_string());
    }
    if let Some(Value::Object(vars)) = map.get_mut("vars") {
        for (name, value) in vars.iter_mut() {
            *value = variable(value).map_err(|what| format!("the variable {name}: {what}"))?;
        }
    }
    if let Some(registry) = map.remove("registry") {
        map.insert("reg".to_owned(), registry);
    }
    properties(&mut map)?;
    params(&mut map)?;
    serde_json::from_value(Value::Object(map)).map_err(|error| format!("the context is no message: {error}"))
}

/// A plain value as the evaluator types it.
fn variable(value: &Value) -> Result<Value, &'static str> {
    Ok(match value {
        Value::Object(map) if map.len() == 2 && map.contains_key("type") && map.contains_key("value") => {
            value.clone()
        }
        Value::Object(_) | Value::Array(_) => json!({ "type": "json", "value": value.to_string() }),
        Value::String(text) => json!({ "type": "string", "value": text }),
        Value::Bool(truth) => json!({ "type": "boolean", "value": truth }),
        Value::Number(number) => match number.as_i64() {
            Some(whole) if i32::try_from(whole).is_ok() => json!({ "type": "int", "value": whole }),
            Some(whole) => json!({ "type": "long", "value": whole }),
            None => json!({ "type": "double", "value": number }),
        },
        Value::Null => return Err("no variable holds null: setting one to null does nothing"),
    })
}

fn properties(map: &mut Map<String, Value>) -> Result<(), String> {
    match map.remove("properties") {
        None => Ok(()),
        Some(Value::Object(scopes)) => {
            for (scope, values) in scopes {
                let into = match scope.as_str() {
                    "synapse" | "default" => "syn",
                    "axis2" => "ax",
                    other => {
                        return Err(format!("properties have the scopes synapse and axis2, not {other}"));
                    }
                };
                merge(map, into, "", values)?;
            }
            Ok(())
        }
        Some(_) => Err("properties is no JSON object".to_owned()),
    }
}

fn params(map: &mut Map<String, Value>) -> Result<(), String> {
    match map.remove("params") {
        None => Ok(()),
        Some(Value::Object(kinds)) => {
            for (kind, values) in kinds {
                match kind.as_str() {
                    "pathParams" => merge(map, "syn", "uri.var.", values)?,
                    "queryParams" => merge(map, "syn", "query.param.", values)?,
                    "functionParams" => merge(map, "func", "", values)?,
                    other => {
                        return Err(format!(
                            "params are pathParams, queryParams and functionParams, not {other}"
                        ));
                    }
                }
            }
            Ok(())
        }
        Some(_) => Err("params is no JSON object".to_owned()),
    }
}

fn merge(map: &mut Map<String, Value>, into: &str, prefix: &str, values: Value) -> Result<(), String> {
    let Value::Object(values) = values else { return Err(format!("{into} is no JSON object")) };
    let place = map.entry(into).or_insert_with(|| json!({}));
    let Value::Object(place) = place else { return Err(format!("{into} is no JSON object")) };
    place.extend(values.into_iter().map(|(name, value)| (format!("{prefix}{name}"), value)));
    Ok(())
}
