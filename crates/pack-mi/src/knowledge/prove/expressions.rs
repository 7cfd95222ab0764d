//! Proves expressions: what they give with a message, and what the checker says about them.

use serde_json::Value;
use synapse_lang::diagnostic::Code;
use synapse_lang::expr::check::{Env, check};
use synapse_lang::expr::{Context, Evaluation, Status, evaluate_text};

use super::Trial;

pub(super) fn prove(trial: &mut Trial<'_>, message: &Context) {
    trial.only_options(&[]);
    let text = trial.fence.text.clone();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with("# ") {
            continue;
        }
        trial.counts();
        match Claim::read(line) {
            Ok(claim) => {
                for what in claim.broken(message) {
                    trial.fails(at + 1, what);
                }
            }
            Err(what) => trial.fails(at + 1, what),
        }
    }
}

/// What a line says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Claim {
    pub(super) expression: String,
    pub(super) outcome: Option<Expected>,
    pub(super) codes: Vec<Code>,
}

/// What an expression gives.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expected {
    /// A number, printed exactly so.
    Number(String),
    /// A value that is no number.
    Value(Value),
    /// An error: the value is empty and the flow goes on, or an exception.
    Error,
    /// An exception that the engine does not catch.
    Crash,
}

impl Claim {
    pub(super) fn read(line: &str) -> Result<Self, String> {
        let line = line.split_once("  # ").map_or(line, |(claim, _)| claim.trim_end());
        let (rest, codes) = match line.rsplit_once(" !! ") {
            Some((rest, codes)) => (rest.trim_end(), read_codes(codes)?),
            None => (line, Vec::new()),
        };
        // An expression may hold an arrow in a string, and so may what it gives: the last one that makes sense counts.
        for (at, _) in rest.match_indices(" -> ").collect::<Vec<_>>().into_iter().rev() {
            let (expression, expected) =
                (rest.get(..at).unwrap_or_default(), rest.get(at + 4..).unwrap_or_default());
            if let Some(outcome) = Expected::read(expected.trim()) {
                return Ok(Self { expression: expression.trim().to_owned(), outcome: Some(outcome), codes });
            }
        }
        if codes.is_empty() {
            return Err(
                "the line says neither what the expression gives (` -> JSON`, ` -> error`) nor what the \
                        checker says (` !! SYN0401`)"
                    .to_owned(),
            );
        }
        Ok(Self { expression: rest.trim().to_owned(), outcome: None, codes })
    }

    /// What of it does not hold.
    pub(super) fn broken(&self, message: &Context) -> Vec<String> {
        let mut broken = Vec::new();
        if let Some(expected) = &self.outcome {
            let result = evaluate_text(&self.expression, message);
            if !expected.fits(&result) {
                broken.push(format!("`{}` gives {}", self.expression, shown(&result)));
            }
        }
        let mut found: Vec<Code> = Vec::new();
        for env in [Env::default(), Env::of_sample(message)] {
            found.extend(check(&self.expression, &env).iter().map(|one| Code(one.code)));
        }
        found.sort_unstable();
        found.dedup();
        for code in self.codes.iter().filter(|code| !found.contains(code)) {
            let listed: Vec<String> = found.iter().map(Code::to_string).collect();
            let listed = if listed.is_empty() { "nothing".to_owned() } else { listed.join(", ") };
            broken.push(format!("{code} is not found in `{}`; found is {listed}", self.expression));
        }
        broken
    }
}

fn read_codes(text: &str) -> Result<Vec<Code>, String> {
    text.split(',').map(|code| code.trim().parse().map_err(|error| format!("{error}"))).collect()
}

impl Expected {
    fn read(text: &str) -> Option<Self> {
        match text {
            "error" => return Some(Self::Error),
            "crash" => return Some(Self::Crash),
            "NaN" | "Infinity" | "-Infinity" => return Some(Self::Number(text.to_owned())),
            _ => {}
        }
        let value: Value = serde_json::from_str(text).ok()?;
        // 2 and 2.0 are different numbers here, and a JSON library may think otherwise: the text counts.
        Some(if value.is_number() { Self::Number(text.to_owned()) } else { Self::Value(value) })
    }

    fn fits(&self, result: &Evaluation) -> bool {
        let kind = result.kind.unwrap_or_default();
        match self {
            Self::Error => matches!(result.status, Status::EvalError | Status::Crash),
            Self::Crash => result.status == Status::Crash,
            Self::Value(Value::Null) => result.status == Status::Null,
            _ if result.status != Status::Ok => false,
            Self::Number(text) => number(kind) && result.string == *text,
            Self::Value(Value::String(text)) => {
                matches!(kind, "String" | "JsonPrimitive/string" | "OMElement" | "List")
                    && result.string == *text
            }
            Self::Value(Value::Bool(truth)) => {
                matches!(kind, "Boolean" | "JsonPrimitive/boolean") && result.string == truth.to_string()
            }
            Self::Value(value) => {
                let parsed = serde_json::from_str::<Value>(&result.string);
                matches!(kind, "JsonArray" | "JsonObject") && parsed.is_ok_and(|parsed| parsed == *value)
            }
        }
    }
}

fn number(kind: &str) -> bool {
    matches!(
        kind,
        "Integer"
            | "Long"
            | "Double"
            | "JsonPrimitive/LazilyParsedNumber"
            | "JsonPrimitive/Integer"
            | "JsonPrimitive/Long"
            | "JsonPrimitive/Double"
            | "JsonPrimitive/BigDecimal"
    )
}

/// A result as a line would say it.
fn shown(result: &Evaluation) -> String {
    let message = result.message.as_deref().unwrap_or_default();
    match result.status {
        Status::Ok if result.kind.is_some_and(|kind| kind == "String" || kind == "JsonPrimitive/string") => {
            Value::String(result.string.clone()).to_string()
        }
        Status::Ok => format!("{} ({})", result.string, result.kind.unwrap_or_default()),
        Status::Null => "null".to_owned(),
        Status::EvalError => format!("error: {message}"),
        Status::SyntaxError => format!("no result, because it does not parse: {message}"),
        Status::Crash => format!("crash: {message}"),
    }
}
