//! Arguments as whoever approves a call changes them: only those that may be, and only to what fits.

use mica_agent::{Args, ToolSpec};
use mica_policy::Schema;
use serde_json::Value;

/// Arguments with changes. A form sends all of its fields back, so what is as it was is no change; `null` takes an
/// argument out that need not be there. `None`: nothing was changed.
///
/// # Errors
/// All that is wrong, in words for whoever changed it.
pub fn amend(
    spec: &ToolSpec,
    args: &Args,
    amendable: &[String],
    edits: &Args,
) -> Result<Option<Args>, Vec<String>> {
    let mut amended = args.clone();
    let mut problems = Vec::new();
    for (name, value) in edits {
        let before = args.get(name);
        if before == Some(value) || (before.is_none() && value.is_null()) {
            continue;
        }
        if !amendable.contains(name) {
            let others = match amendable {
                [] => "nothing of this call may be changed".to_owned(),
                some => format!("what may be changed is: {}", some.join(", ")),
            };
            problems.push(format!("{name} may not be changed; {others}"));
            continue;
        }
        if value.is_null() && !is_required(spec, name) {
            amended.shift_remove(name);
        } else {
            amended.insert(name.clone(), value.clone());
        }
    }
    if problems.is_empty() {
        if amended == *args {
            return Ok(None);
        }
        match Schema::compile(&spec.schema).map_err(|error| error.to_string()) {
            Ok(schema) => match schema.judge(&mut amended) {
                Ok(_) => return Ok(Some(amended)),
                Err(invalid) => problems.extend(invalid.complaints.iter().map(ToString::to_string)),
            },
            Err(problem) => problems.push(problem),
        }
    }
    Err(problems)
}

pub(super) fn is_required(spec: &ToolSpec, name: &str) -> bool {
    let required = spec.schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|required| required == name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(amendable: &[&str], edits: &Value, expect: Result<Option<Value>, &[&str]>) {
        let schema = json!({
            "type": "object",
            "properties": {
                "to": { "type": "string" },
                "body": { "type": "string", "minLength": 2 },
                "hours": { "type": "integer" },
            },
            "required": ["to", "body"],
            "additionalProperties": false,
        });
        let spec = ToolSpec::new("reply", "", schema);
        let args = json!({ "to": "ann", "body": "hello", "hours": 3 });
        let amendable: Vec<String> = amendable.iter().map(|name| (*name).to_owned()).collect();
        let made = amend(&spec, args.as_object().unwrap(), &amendable, edits.as_object().unwrap());
        let expect = expect.map(|args| args.map(|args| args.as_object().unwrap().clone()));
        assert_eq!(
            made,
            expect.map_err(|words| words.iter().map(|word| (*word).to_owned()).collect()),
            "{edits}"
        );
    }

    #[test]
    fn only_what_may_be_changed_and_only_to_what_fits() {
        check(&["body"], &json!({}), Ok(None));
        check(&["body"], &json!({ "to": "ann", "body": "hello" }), Ok(None));
        check(
            &["body"],
            &json!({ "body": "bye" }),
            Ok(Some(json!({ "to": "ann", "body": "bye", "hours": 3 }))),
        );
        check(
            &["body"],
            &json!({ "body": "bye", "to": "bob" }),
            Err(&["to may not be changed; what may be changed is: body"]),
        );
        check(
            &[],
            &json!({ "body": "bye" }),
            Err(&["body may not be changed; nothing of this call may be changed"]),
        );
        check(
            &["body"],
            &json!({ "cc": "eve" }),
            Err(&["cc may not be changed; what may be changed is: body"]),
        );
        check(&["hours"], &json!({ "hours": null }), Ok(Some(json!({ "to": "ann", "body": "hello" }))));
        check(
            &["hours"],
            &json!({ "hours": "5" }),
            Ok(Some(json!({ "to": "ann", "body": "hello", "hours": 5 }))),
        );
        check(&["body"], &json!({ "body": "x" }), Err(&["/body: must have 2 characters or more"]));
        check(&["body"], &json!({ "body": null }), Err(&["/body: must be a string, but is null"]));
    }
}
