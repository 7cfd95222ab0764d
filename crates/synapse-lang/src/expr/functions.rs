//! The table of functions: their names, arguments, results and what to know about them.
//!
//! The table is data (`functions.toml`). Parser, evaluator, checker, completion and hover all read this one.

use super::ast::Node;
use super::eval::Evaluator;
use super::value::{Failure, Outcome, Value, refuse};
use crate::xpath;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::LazyLock;

mod access;
mod convert;
mod encoding;
mod kind;
mod math;
mod string;
mod time;

/// The kind of values an argument takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArgumentKind {
    /// Everything but null.
    Any,
    /// A string.
    String,
    /// An int or a double; a long is refused.
    Number,
    /// An int, a long or a double.
    Numeric,
    /// An int.
    Int,
    /// A boolean.
    Boolean,
    /// A string or a JSON scalar.
    Scalar,
    /// A string or a JSON array.
    TextOrArray,
    /// JSON, or its text.
    Json,
    /// An expression that may fail.
    Expression,
}

/// The kind of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResultKind {
    /// A string.
    String,
    /// An int.
    Int,
    /// A long.
    Long,
    /// A double.
    Double,
    /// The kind of the argument.
    Number,
    /// A boolean.
    Boolean,
    /// A JSON array.
    Array,
    /// A JSON object.
    Object,
    /// Known only at run time.
    Any,
}

/// The family of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Texts.
    String,
    /// Numbers.
    Math,
    /// Base64 and percent-encoding.
    Encoding,
    /// Questions about a value.
    Kind,
    /// Conversions.
    Convert,
    /// Date and time.
    Time,
    /// Reading from elsewhere.
    Access,
}

/// One accepted list of arguments.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// The arguments: name and kind.
    pub arguments: Vec<(String, ArgumentKind)>,
    /// What comes back.
    pub result: ResultKind,
}

/// A function of the language.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// Its name; case matters.
    pub name: String,
    /// Its family.
    pub family: Family,
    /// Whether a path or index after the call is honoured.
    #[serde(default)]
    pub path: bool,
    /// What it does.
    pub doc: String,
    /// The trap that people fall into.
    #[serde(default)]
    pub note: Option<String>,
    /// One per accepted number of arguments.
    pub signatures: Vec<Signature>,
}

impl Function {
    /// The signature for a number of arguments.
    #[must_use]
    pub fn signature(&self, arguments: usize) -> Option<&Signature> {
        self.signatures.iter().find(|one| one.arguments.len() == arguments)
    }

    /// The accepted forms for people: `indexOf(text, part)`.
    #[must_use]
    pub fn forms(&self) -> Vec<String> {
        let names = |one: &Signature| {
            one.arguments.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
        };
        self.signatures.iter().map(|one| format!("{}({})", self.name, names(one))).collect()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    function: Vec<Function>,
}

struct Functions {
    all: Vec<Function>,
    by_name: HashMap<String, usize>,
}

// The table is part of the program and its tests read all of it, so a table that cannot be read never ships; a
// library must not panic all the same, hence the empty one.
static FUNCTIONS: LazyLock<Functions> = LazyLock::new(|| {
    let all = toml::from_str::<Table>(include_str!("functions.toml"))
        .map(|table| table.function)
        .unwrap_or_default();
    let by_name = all.iter().enumerate().map(|(index, one)| (one.name.clone(), index)).collect();
    Functions { all, by_name }
});

/// All functions, in the order of the table.
#[must_use]
pub fn all() -> &'static [Function] {
    &FUNCTIONS.all
}

/// The function of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.by_name.get(name).and_then(|index| FUNCTIONS.all.get(*index))
}

/// What a family makes of a call: nothing when it has no such form.
type Answer = Option<Result<Value, Failure>>;

/// Calls a function. All arguments are evaluated before any is looked at; null is refused by all but `exists`.
pub(super) fn call(evaluator: &Evaluator<'_>, name: &str, arguments: &[&Node]) -> Outcome {
    let form = match arguments.len() {
        0 => "no arguments",
        1 => "one argument",
        2 => "two arguments",
        3 => "three arguments",
        count => {
            return refuse(format!("Invalid number of arguments: {count} provided for the function: {name}"));
        }
    };
    if let ("exists", [argument]) = (name, arguments) {
        return access::exists(evaluator, argument);
    }
    let mut evaluated = Vec::with_capacity(arguments.len());
    for argument in arguments {
        evaluated.push(evaluator.node(argument)?);
    }
    let mut values = Vec::with_capacity(evaluated.len());
    for (value, role) in evaluated.into_iter().zip(["source", "argument1", "argument2"]) {
        match value {
            Some(value) => values.push(value),
            None => return refuse(format!("Null {role} value provided for the function: {name}")),
        }
    }
    let answer = match find(name).map(|function| function.family) {
        Some(Family::String) => string::call(name, &values),
        Some(Family::Math) => math::call(name, &values),
        Some(Family::Encoding) => encoding::call(name, &values),
        Some(Family::Kind) => kind::call(name, &values),
        Some(Family::Convert) => convert::call(name, &values),
        Some(Family::Time) => time::call(evaluator.context, name, &values),
        Some(Family::Access) => access::call(evaluator, name, &values),
        None => None,
    };
    match answer {
        Some(result) => result.map(Some),
        None => refuse(format!("Invalid function: {name} with {form}")),
    }
}

/// The text functions that the runtime adds to XPath.
pub(super) fn xpath_text_function(
    name: &str,
    texts: &[&str],
) -> Option<Result<xpath::Value, xpath::EvaluateError>> {
    encoding::xpath_text_function(name, texts)
}

/// The refusal of arguments of the wrong kind.
fn invalid(name: &str, values: &[Value]) -> Result<Value, Failure> {
    let mut shown = Vec::with_capacity(values.len());
    for (value, role) in values.iter().zip(["source", "argument1", "argument2"]) {
        shown.push(format!("{role}: {}", value.print()?));
    }
    refuse(format!("Invalid argument provided for {name} function. {}", shown.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_holds_the_forty_one_functions() {
        assert_eq!(all().len(), 41);
        let mut names = all().iter().map(|one| one.name.as_str()).collect::<Vec<_>>();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 41);
        for function in all() {
            assert!(!function.doc.is_empty() && !function.signatures.is_empty(), "{}", function.name);
        }
        let honoured = all().iter().filter(|one| one.path).map(|one| one.name.as_str()).collect::<Vec<_>>();
        assert_eq!(honoured, ["object", "array", "registry"]);
        assert_eq!(
            find("indexOf").map(Function::forms),
            Some(vec!["indexOf(text, part)".to_owned(), "indexOf(text, part, start)".to_owned()])
        );
    }
}
