//! Arguments and schemas: a table of cases (`cases.jsonl`), and what the table cannot show.

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// The whole schema, or...
    schema: Option<Value>,
    /// ...the properties of one...
    #[serde(default)]
    properties: Value,
    /// ...which of them must be there...
    #[serde(default)]
    required: Vec<String>,
    /// ...and whether there may be others.
    #[serde(default)]
    closed: bool,
    args: Args,
    fits: Option<Value>,
    #[serde(default)]
    changes: Vec<String>,
    wrong: Option<Vec<String>>,
    /// Only that it ends matters.
    #[serde(default)]
    bad_schema_or_fits: bool,
}

#[test]
fn the_table() {
    let mut failed = Vec::new();
    let mut names = std::collections::BTreeSet::new();
    for line in include_str!("cases.jsonl").lines() {
        let case: Case = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(names.insert(case.name.clone()), "twice: {}", case.name);
        let schema = case.schema.unwrap_or_else(|| {
            let mut schema =
                json!({ "type": "object", "properties": case.properties, "required": case.required });
            if case.closed {
                schema["additionalProperties"] = json!(false);
            }
            schema
        });
        let compiled = match Schema::compile(&schema) {
            Ok(compiled) => compiled,
            Err(_) if case.bad_schema_or_fits => continue,
            Err(bad) => panic!("{}: {bad}", case.name),
        };
        let mut args = case.args.clone();
        let (got, changes, wrong) = match compiled.judge(&mut args) {
            Ok(changes) => {
                (Some(Value::Object(args)), changes.iter().map(ToString::to_string).collect(), None)
            }
            Err(invalid) => {
                assert_eq!(args, case.args, "{}: what is refused is left as it was", case.name);
                let mut wrong: Vec<String> = invalid.complaints.iter().map(ToString::to_string).collect();
                wrong.sort();
                (None, Vec::new(), Some(wrong))
            }
        };
        if case.bad_schema_or_fits {
            continue;
        }
        if (&got, &changes, &wrong) != (&case.fits, &case.changes, &case.wrong) {
            failed.push(format!("{}\n  got {got:?} {changes:?} {wrong:?}", case.name));
        }
    }
    assert!(names.len() >= 60, "{} cases", names.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn the_text_for_the_model() {
    let schema = json!({
        "type": "object",
        "properties": { "file_path": { "type": "string" }, "limit": { "type": "integer" } },
        "required": ["file_path"],
        "additionalProperties": false,
    });
    let mut args = json!({ "filepath": "a.rs", "limit": "ten" }).as_object().unwrap().clone();
    let invalid = Schema::compile(&schema).unwrap().judge(&mut args).unwrap_err();
    assert_eq!(
        invalid.for_model("file_read"),
        "The arguments of file_read do not fit its schema, so it was not run:\n\
         - /limit: must be an integer, but is the string \"ten\"\n\
         - /filepath: is not a known property; did you mean \"file_path\"?\n\
         - /file_path: is required, but missing\n\
         Received: {\"filepath\":\"a.rs\",\"limit\":\"ten\"}\n\
         Call file_read again with this put right."
    );
}

#[test]
fn many_complaints_are_counted_and_long_arguments_cut() {
    let schema = json!({ "type": "object", "additionalProperties": { "type": "integer" } });
    let mut args: Args = (0..57).map(|index| (format!("key_{index:02}"), json!("x".repeat(30)))).collect();
    let invalid = Schema::compile(&schema).unwrap().judge(&mut args).unwrap_err();
    let text = invalid.for_model("many");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 20 + 1 + 2);
    assert_eq!(lines[21], "- and 37 more");
    assert_eq!(lines[22].chars().count(), "Received: ".len() + 500 + 1);
}

#[test]
fn very_many_complaints_and_very_long_names_stay_short() {
    let schema = json!({ "type": "object", "additionalProperties": { "type": "array", "items": { "type": "integer" } } });
    let items = vec![json!("x"); 2_000];
    let mut args = Args::from_iter([("k".repeat(2_000), json!(items))]);
    let invalid = Schema::compile(&schema).unwrap().judge(&mut args).unwrap_err();
    assert_eq!((invalid.complaints.len(), invalid.more), (20, 1_980));
    assert!(invalid.for_model("many").chars().count() < 6_000);
}

#[test]
fn schemas_that_cannot_be_used() {
    let check = |schema: Value, expect: &[&str]| {
        let problems = check_spec(&mica_agent::ToolSpec::new("t", "", schema));
        assert_eq!(problems.iter().map(ToString::to_string).collect::<Vec<_>>(), expect);
    };
    check(json!({ "type": "object" }), &[]);
    check(json!(true), &["t: the schema must be an object, because arguments are"]);
    check(json!({ "type": "string" }), &["t: the schema must have \"type\": \"object\" at its root"]);
    check(
        json!({ "type": "object", "properties": { "a": { "type": "strnig" } } }),
        &[
            "t: the schema is not valid at #/properties/a/type: \"strnig\" is not valid under any of the schemas listed \
           in the 'anyOf' keyword",
        ],
    );
    check(
        json!({ "type": "object", "properties": { "a": {} }, "required": ["b"], "additionalProperties": false }),
        &["t: \"b\" is required, but no property and others are not allowed: no call can fit"],
    );
    for leads_out in ["https://example.com/schema.json", "file:///etc/schema.json", "#/$defs/none"] {
        let schema = json!({ "type": "object", "properties": { "a": { "$ref": leads_out } } });
        assert_eq!(check_spec(&mica_agent::ToolSpec::new("t", "", schema)).len(), 1, "{leads_out}");
    }
}

#[test]
fn a_schema_that_branches_without_end_is_given_up_on() {
    let branch = json!({ "$ref": "#/$defs/x" });
    let schema = json!({
        "type": "object",
        "properties": { "a": { "$ref": "#/$defs/x" } },
        "$defs": { "x": { "anyOf": [
            { "type": "array", "items": { "anyOf": [branch, branch, branch] } },
            { "allOf": [{ "type": "object" }, { "anyOf": [branch, branch] }] },
            { "type": "integer" },
        ] } },
    });
    let mut args = json!({ "a": "5" });
    coerce(&schema, &mut args);
}

#[test]
fn a_deep_argument_is_followed_to_a_bound() {
    let schema = json!({ "type": "object", "properties": { "a": { "$ref": "#" } } });
    let mut args = json!({});
    for _ in 0..120 {
        args = json!({ "a": args });
    }
    let mut args = args.as_object().unwrap().clone();
    assert_eq!(Schema::compile(&schema).unwrap().judge(&mut args), Ok(Vec::new()));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        (-1000_i32..1000).prop_map(|tenths| Value::from(f64::from(tenths) / 10.0)),
        prop_oneof!["[a-z0-9.-]{0,6}", Just("true".to_owned()), Just("[1]".to_owned())].prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        prop::sample::select(vec!["string", "integer", "number", "boolean", "null", "array", "object"])
            .prop_map(|name| json!({ "type": name })),
        Just(json!({ "type": ["integer", "null"] })),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|items| json!({ "type": "array", "items": items })),
            prop::collection::btree_map("[a-c]", inner.clone(), 0..3)
                .prop_map(|known| json!({ "type": "object", "properties": known })),
            prop::collection::vec(inner, 1..3).prop_map(|branches| json!({ "anyOf": branches })),
        ]
    })
}

proptest! {
    /// What fits stays as it is, but for integers written as floats: schemas take those, programs do not.
    #[test]
    fn what_fits_is_not_touched(schema in any_schema(), value in any_json()) {
        let compiled = Schema::compile(&schema).unwrap();
        prop_assume!(compiled.validator.is_valid(&value));
        let mut after = value.clone();
        let changes = coerce(&schema, &mut after);
        prop_assert!(changes.iter().all(|done| done.change == Change::FloatToInteger), "{changes:?}");
        prop_assert!(compiled.validator.is_valid(&after));
    }

    /// Coercing twice is coercing once.
    #[test]
    fn coercion_settles(schema in any_schema(), value in any_json()) {
        let mut once = value;
        coerce(&schema, &mut once);
        let mut twice = once.clone();
        prop_assert_eq!(coerce(&schema, &mut twice), Vec::new());
        prop_assert_eq!(once, twice);
    }
}

#[test]
fn a_schema_is_compiled_once_and_again_when_the_tool_is_another() {
    let gate = SchemaGate::new();
    let spec = |schema: Value| mica_agent::ToolSpec::new("t", "", schema);
    let one = spec(json!({ "type": "object" }));
    let other = spec(json!({ "type": "object", "required": ["a"] }));
    let first = gate.schema(&one).unwrap();
    assert!(std::sync::Arc::ptr_eq(&first, &gate.schema(&one).unwrap()));
    assert_eq!(gate.schema(&other).unwrap().text(), &other.schema);
    assert!(gate.schema(&spec(json!({ "type": "nothing" }))).is_err());
}
