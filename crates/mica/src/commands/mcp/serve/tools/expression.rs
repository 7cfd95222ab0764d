//! `evaluate_expression`: what a Synapse expression gives, as `mica expr` says.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use synapse_lang::expr::check::Env;
use synapse_lang::expr::{self, Status};
use synapse_lang::model::Version;

use super::finding::Finding;
use crate::commands::expr::{context_of, findings, inner, told, with_time};
use crate::commands::mcp::serve::answer::{Answer, Offered, Refusal};
use crate::commands::mcp::serve::site::Site;
use crate::render::paint::Paint;

/// The first runtime that has such expressions.
const FIRST: Version = Version::new(4, 4, 0);
/// Bytes of an expression at most.
const LARGEST: usize = 256 << 10;

/// What to evaluate, and with what.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The expression, with or without ${ }.
    expression: String,
    /// The body: JSON as it is, or a text (XML, JSON).
    payload: Option<Value>,
    /// The media type of the body; found out when left out.
    content_type: Option<String>,
    /// Variables (vars.x): JSON values, or {"type":"int","value":1} with int, long, double, string, boolean, json, map or xml.
    #[serde(default)]
    variables: Map<String, Value>,
    /// Transport headers.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Properties of the default scope (properties.synapse.x); path and query parameters are uri.var.x and query.param.x.
    #[serde(default)]
    properties: BTreeMap<String, String>,
    /// Properties of the axis2 scope (properties.axis2.x).
    #[serde(default)]
    axis2_properties: BTreeMap<String, String>,
    /// Parameters of the template that the expression stands in. Left out outside of templates.
    parameters: Option<BTreeMap<String, String>>,
    /// Configurables (configs.x).
    #[serde(default)]
    configs: BTreeMap<String, String>,
    /// Namespaces by prefix, for XPath.
    #[serde(default)]
    namespaces: BTreeMap<String, String>,
    /// The runtime, for example 4.4.0. Left out: what the project says.
    runtime: Option<String>,
}

/// What it gives.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// ok, null, eval_error, syntax_error or crash.
    status: String,
    /// The value as text; none when there is no value.
    value: Option<String>,
    /// The type of the value.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Why there is no value.
    message: Option<String>,
    /// What the checker says of the expression with these values.
    findings: Vec<Finding>,
    /// What else to know.
    notes: Vec<String>,
}

/// The tool.
pub fn tool() -> Offered {
    Offered::new(
        "evaluate_expression",
        "Evaluate a Synapse expression",
        "Evaluates a Synapse expression (${...}) on a payload, variables, headers and properties, with the results of the \
         runtime's own engine: value and type, or the error that the runtime would log, and what is suspicious about it. Use it \
         instead of guessing.",
        run,
    )
}

/// A variable as the evaluator takes it.
fn variable(value: &Value) -> Value {
    let is_typed = value.as_object().is_some_and(|members| {
        members.len() == 2
            && members.contains_key("value")
            && members.get("type").is_some_and(Value::is_string)
    });
    let kind = match value {
        _ if is_typed => return value.clone(),
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.as_i64().is_some_and(|one| i32::try_from(one).is_ok()) => "int",
        Value::Number(number) if number.is_i64() => "long",
        Value::Number(_) => "double",
        Value::String(_) => "string",
        Value::Null | Value::Array(_) | Value::Object(_) => {
            return json!({ "type": "json", "value": value.to_string() });
        }
    };
    json!({ "type": kind, "value": value })
}

fn run(site: &Site, input: &Input) -> Result<Answer<Output>, Refusal> {
    if input.expression.len() > LARGEST {
        return Err(Refusal::new(format!("The expression has more than {LARGEST} bytes.")));
    }
    let runtime = site.runtime(input.runtime.as_deref())?;
    let text = inner(&input.expression);
    let variables: Map<String, Value> =
        input.variables.iter().map(|(name, value)| (name.clone(), variable(value))).collect();
    let mut context = json!({
        "vars": variables,
        "headers": input.headers,
        "syn": input.properties,
        "ax": input.axis2_properties,
        "func": input.parameters,
        "configs": input.configs,
        "namespaces": input.namespaces,
    });
    if let Value::Object(members) = &mut context {
        members.extend(input.payload.clone().map(|payload| ("payload".to_owned(), payload)));
        members
            .extend(input.content_type.clone().map(|kind| ("content_type".to_owned(), Value::String(kind))));
    }
    let context = context_of(context)
        .map_err(|error| Refusal::new(format!("The values cannot be used: {}.", crate::told(&error))))?;
    let env = Env::of_sample(&context);
    let context = with_time(context);
    let (evaluation, error) = match expr::parse(text) {
        Ok(expression) => (expr::evaluate(&expression, &context), None),
        Err(error) => (expr::evaluate_text(text, &context), Some(error)),
    };
    let mut notes = Vec::new();
    if let Some(runtime) = runtime.filter(|runtime| *runtime < FIRST) {
        notes.push(format!(
            "The runtime is {runtime}: it has no Synapse expressions, which came with {FIRST}. Use XPath or JSONPath there."
        ));
    }
    let found = findings(text, &env);
    let mut said = told(text, &evaluation, error.as_ref(), Paint::PLAIN);
    let found = Finding::all(text, &found);
    said.push_str(&super::finding::rows(found.iter().map(|one| ("expression", one))));
    notes.iter().for_each(|note| said.push_str(&format!("{note}\n")));
    let has_value = matches!(evaluation.status, Status::Ok | Status::Null);
    let data = Output {
        status: evaluation.status.word().to_owned(),
        value: has_value.then(|| evaluation.string.clone()),
        kind: evaluation.kind.map(str::to_owned),
        message: evaluation.message.clone(),
        findings: found,
        notes,
    };
    Ok(Answer { text: said.trim_end().to_owned(), data })
}
