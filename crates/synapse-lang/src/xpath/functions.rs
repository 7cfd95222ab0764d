//! The function library of XPath 1.0.

use super::ast::{Expr, Name};
use super::evaluate::{EvaluateError, Evaluator, Focus};
use super::tree::Kind;
use super::value::Value;

type Called = Result<Value, EvaluateError>;

/// Calls a function: those of XPath first, then those of the environment.
pub(super) fn call(evaluator: &Evaluator<'_>, name: &Name, arguments: &[Expr], focus: Focus) -> Called {
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let value = evaluator.expr(argument, focus)?;
        evaluator.spend_on(&value)?;
        values.push(value);
    }
    if name.prefix.is_none()
        && let Some(result) = core(evaluator, &name.local, &values, focus)
    {
        return result;
    }
    let full =
        name.prefix.as_ref().map_or_else(|| name.local.clone(), |prefix| format!("{prefix}:{}", name.local));
    match evaluator.environment.function(&full, &values) {
        Some(result) => result,
        None => Err(EvaluateError::UnknownFunction(full)),
    }
}

fn core(evaluator: &Evaluator<'_>, name: &str, values: &[Value], focus: Focus) -> Option<Called> {
    let forest = evaluator.forest();
    let itself = || Value::Nodes(focus.node.into_iter().collect());
    let text = |value: &Value| value.to_text(forest);
    #[expect(clippy::cast_precision_loss, reason = "counts are far below what a double holds exactly")]
    let count = |count: usize| Value::Number(count as f64);
    let wrong = || Err(EvaluateError::Arguments(name.to_owned()));
    let value = match (name, values) {
        ("last", []) => count(focus.size),
        ("position", []) => count(focus.position),
        ("count", [Value::Nodes(nodes)]) => count(nodes.len()),
        ("sum", [Value::Nodes(nodes)]) => {
            Value::Number(nodes.iter().map(|node| super::value::text_to_number(&forest.string(*node))).sum())
        }
        ("id", [_]) => Value::Nodes(Vec::new()),
        ("local-name" | "name" | "namespace-uri", []) => named(evaluator, name, &itself()),
        ("local-name" | "name" | "namespace-uri", [nodes @ Value::Nodes(_)]) => named(evaluator, name, nodes),
        ("count" | "sum" | "local-name" | "name" | "namespace-uri", [_]) => {
            return Some(Err(EvaluateError::NotNodes));
        }
        ("string", []) => Value::Text(text(&itself())),
        ("string", [value]) => Value::Text(text(value)),
        ("concat", [_, _, ..]) => Value::Text(values.iter().map(text).collect()),
        ("starts-with", [value, part]) => Value::Bool(text(value).starts_with(&text(part))),
        ("ends-with", [value, part]) => Value::Bool(text(value).ends_with(&text(part))),
        ("contains", [value, part]) => Value::Bool(text(value).contains(&text(part))),
        ("substring-before", [value, part]) => Value::Text(
            text(value).split_once(&text(part)).map_or_else(String::new, |(before, _)| before.to_owned()),
        ),
        ("substring-after", [value, part]) => Value::Text(
            text(value).split_once(&text(part)).map_or_else(String::new, |(_, after)| after.to_owned()),
        ),
        ("substring", [value, start]) => {
            Value::Text(substring(&text(value), start.to_number(forest), f64::INFINITY))
        }
        ("substring", [value, start, length]) => {
            Value::Text(substring(&text(value), start.to_number(forest), length.to_number(forest)))
        }
        ("string-length", []) => count(text(&itself()).chars().count()),
        ("string-length", [value]) => count(text(value).chars().count()),
        ("normalize-space", []) => Value::Text(normalized(&text(&itself()))),
        ("normalize-space", [value]) => Value::Text(normalized(&text(value))),
        ("translate", [value, from, to]) => Value::Text(translate(&text(value), &text(from), &text(to))),
        ("lower-case", [value]) => Value::Text(text(value).to_lowercase()),
        ("upper-case", [value]) => Value::Text(text(value).to_uppercase()),
        ("boolean", [value]) => Value::Bool(value.to_bool()),
        ("not", [value]) => Value::Bool(!value.to_bool()),
        ("true", []) => Value::Bool(true),
        ("false", []) | ("lang", [_]) => Value::Bool(false),
        ("number", []) => Value::Number(itself().to_number(forest)),
        ("number", [value]) => Value::Number(value.to_number(forest)),
        ("floor", [value]) => Value::Number(value.to_number(forest).floor()),
        ("ceiling", [value]) => Value::Number(value.to_number(forest).ceil()),
        ("round", [value]) => Value::Number(round(value.to_number(forest))),
        (
            "last" | "position" | "count" | "sum" | "id" | "local-name" | "name" | "namespace-uri" | "string"
            | "concat" | "starts-with" | "ends-with" | "contains" | "substring-before" | "substring-after"
            | "substring" | "string-length" | "normalize-space" | "translate" | "lower-case" | "upper-case"
            | "boolean" | "not" | "true" | "false" | "lang" | "number" | "floor" | "ceiling" | "round",
            _,
        ) => return Some(wrong()),
        _ => return None,
    };
    Some(Ok(value))
}

fn named(evaluator: &Evaluator<'_>, function: &str, nodes: &Value) -> Value {
    let Value::Nodes(nodes) = nodes else { return Value::Text(String::new()) };
    let kind = nodes.first().and_then(|node| evaluator.forest().kind(*node));
    let name = match kind {
        Some(Kind::Element(name) | Kind::Attribute(name, _)) => name,
        Some(Kind::Instruction(target, _)) if function != "namespace-uri" => {
            return Value::Text(target.clone());
        }
        _ => return Value::Text(String::new()),
    };
    Value::Text(match function {
        "local-name" => name.local.clone(),
        "name" => name.written(),
        _ => name.namespace.clone().unwrap_or_default(),
    })
}

/// Half up, as XPath rounds.
fn round(value: f64) -> f64 {
    if value.is_finite() { (value + 0.5).floor() } else { value }
}

fn substring(text: &str, start: f64, length: f64) -> String {
    let first = round(start);
    let end = first + round(length);
    let kept = text.chars().zip(1_u32..).filter(|(_, position)| {
        let position = f64::from(*position);
        position >= first && (position < end || length == f64::INFINITY)
    });
    kept.map(|(character, _)| character).collect()
}

fn normalized(text: &str) -> String {
    text.split([' ', '\t', '\n', '\r']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn translate(text: &str, from: &str, to: &str) -> String {
    let to = to.chars().collect::<Vec<_>>();
    text.chars()
        .filter_map(|character| match from.chars().position(|one| one == character) {
            None => Some(character),
            Some(at) => to.get(at).copied(),
        })
        .collect()
}
