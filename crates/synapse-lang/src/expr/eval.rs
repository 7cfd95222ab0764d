//! Evaluates expressions with the results of the runtime's own engine, failures and oddities included.
//!
//! The engine builds the JSONPath of `payload.a[vars.i]` by replacing the first occurrence of the index's text in the
//! text of the whole path, in the order in which a Java hash map hands the indices out. That is visible (an index
//! whose text also stands earlier in the path is replaced there), so it is done the same way here.

use super::ast::{
    Access, Call, Expression, Filter, Index, IndexKind, Lookup, Node, NodeKind, Path, Place, SlicePart,
    StepKind, Suffix, Variable as VariableNode,
};
use super::context::{Context, Variable};
use super::functions;
use super::operators;
use super::substitute::{hash_order, replace_first};
use super::value::{Failure, Outcome, Value, crash, refuse};
use super::{parse, xml_payload};
use crate::java;
use crate::json::{self, Json, Number};
use crate::jsonpath::{self, Found, Holder, ReadError};
use std::borrow::Cow;
use std::cell::OnceCell;

/// How an evaluation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// With a value.
    Ok,
    /// With null.
    Null,
    /// With an error that the engine catches: a warning in the log, and the value is empty.
    EvalError,
    /// It is no expression: the artifact does not deploy.
    SyntaxError,
    /// With an exception that the engine does not catch.
    Crash,
}

impl Status {
    /// The word that stands in output.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Null => "null",
            Self::EvalError => "eval_error",
            Self::SyntaxError => "syntax_error",
            Self::Crash => "crash",
        }
    }
}

/// What an evaluation gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// How it ended.
    pub status: Status,
    /// The printed form; empty unless there is a value.
    pub string: String,
    /// The Java class of the value.
    pub kind: Option<&'static str>,
    /// What went wrong.
    pub message: Option<String>,
}

/// Who asks for the value. Only `xpath()` gives different things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Attributes, templates, typed variables: a text is wanted.
    #[default]
    Text,
    /// Variables without a type and collections: the object itself is wanted.
    Object,
}

/// Evaluates an expression where a text is wanted.
#[must_use]
pub fn evaluate(expression: &Expression, context: &Context) -> Evaluation {
    evaluate_as(expression, context, Mode::Text)
}

/// Evaluates an expression.
#[must_use]
pub fn evaluate_as(expression: &Expression, context: &Context, mode: Mode) -> Evaluation {
    let outcome = value_of(expression, context, mode);
    let printed = outcome.and_then(|value| value.map(|value| Ok((value.print()?, value.kind()))).transpose());
    match printed {
        Ok(Some((string, kind))) => {
            Evaluation { status: Status::Ok, string, kind: Some(kind), message: None }
        }
        Ok(None) => Evaluation { status: Status::Null, string: String::new(), kind: None, message: None },
        Err(failure) => failed(&failure),
    }
}

/// Parses a text and evaluates it.
#[must_use]
pub fn evaluate_text(text: &str, context: &Context) -> Evaluation {
    match parse(text) {
        Ok(expression) => evaluate(&expression, context),
        Err(error) => Evaluation {
            status: Status::SyntaxError,
            string: String::new(),
            kind: None,
            message: Some(error.message()),
        },
    }
}

/// The value of an expression.
///
/// # Errors
/// What the engine throws.
pub fn value_of(expression: &Expression, context: &Context, mode: Mode) -> Outcome {
    let evaluator = Evaluator { context, mode, payload: OnceCell::new() };
    evaluator.node(&expression.root)
}

fn failed(failure: &Failure) -> Evaluation {
    let status = match failure {
        Failure::Evaluation(_) => Status::EvalError,
        Failure::Crash(_) => Status::Crash,
    };
    Evaluation { status, string: String::new(), kind: None, message: Some(failure.to_string()) }
}

/// Whether evaluating an expression needs the body, so that the runtime has to build it.
#[must_use]
pub fn is_content_aware(expression: &Expression) -> bool {
    let mut aware = false;
    expression.root.walk(&mut |node| match &node.kind {
        NodeKind::Payload(_) => aware = true,
        NodeKind::Call(call) if call.name == "xpath" => {
            aware |= call.arguments.first().is_none_or(|path| match &path.ungrouped().kind {
                NodeKind::Text(text) => xpath_is_content_aware(text),
                _ => true,
            });
        }
        _ => {}
    });
    aware
}

/// Properties and headers can be read without the body.
fn xpath_is_content_aware(text: &str) -> bool {
    let path = text.trim_matches(['"', '\'']);
    if ["$ctx", "$trp", "$axis2"].iter().any(|prefix| path.starts_with(prefix)) {
        return false;
    }
    path.contains('/') || path.contains("get-property('From'") || path.contains("get-property('FAULT'")
}

pub(super) struct Evaluator<'a> {
    pub(super) context: &'a Context,
    pub(super) mode: Mode,
    /// The body as JSON, read once.
    payload: OnceCell<Result<Json, Failure>>,
}

impl Evaluator<'_> {
    pub(super) fn node(&self, node: &Node) -> Outcome {
        match &node.kind {
            NodeKind::Null => Ok(None),
            NodeKind::Boolean(truth) => Ok(Some(Value::Bool(*truth))),
            NodeKind::Number(text) => Ok(Some(number(text))),
            NodeKind::Text(text) => Ok(Some(Value::Text(text.clone()))),
            NodeKind::Array(items) => self.array(items),
            NodeKind::Binary { operator, left, right, .. } => {
                let left = self.node(left)?;
                let right = self.node(right)?;
                bounded(operators::apply(*operator, left, right)?)
            }
            NodeKind::Conditional { condition, then, otherwise } => {
                let Some(condition) = self.node(condition)? else {
                    return refuse("Condition is null in conditional expression");
                };
                match condition.as_bool() {
                    Some(true) => self.node(then),
                    Some(false) => self.node(otherwise),
                    None => refuse("Condition is not a boolean in conditional expression"),
                }
            }
            NodeKind::Group(inner) => self.node(inner),
            NodeKind::Call(call) => bounded(self.call(call)?),
            NodeKind::Payload(access) => self.payload(access),
            NodeKind::Variable(variable) => self.variable(variable),
            NodeKind::Lookup(lookup) => self.lookup(lookup),
        }
    }

    /// Ints and doubles stay numbers in an array literal, everything else becomes a string.
    fn array(&self, items: &[Node]) -> Outcome {
        let mut elements = Vec::with_capacity(items.len());
        for item in items {
            let Some(value) = self.node(item)? else {
                return crash("java.lang.NullPointerException: null in an array literal");
            };
            elements.push(if value.is_int() {
                Json::Number(Number::Int(value.to_int()))
            } else if value.is_double() {
                Json::Number(Number::Double(value.to_double()))
            } else {
                let text = value.print()?;
                if text.len() > MAX_TEXT {
                    return too_long();
                }
                Json::String(text)
            });
        }
        Ok(Some(Value::Json(Json::Array(elements))))
    }

    fn call(&self, call: &Call) -> Outcome {
        match &call.suffix {
            Some(Suffix::Property { arguments, .. }) if call.name == "registry" => {
                let arguments = call.arguments.iter().chain(arguments.first()).collect::<Vec<_>>();
                functions::call(self, &call.name, &arguments)
            }
            Some(Suffix::Path(path)) if functions::find(&call.name).is_some_and(|function| function.path) => {
                self.path_of_call(call, path)
            }
            _ => functions::call(self, &call.name, &call.arguments.iter().collect::<Vec<_>>()),
        }
    }

    fn path_of_call(&self, call: &Call, path: &Path) -> Outcome {
        let text = rooted(&self.resolved(&path.text, Some(path))?);
        let value = functions::call(self, &call.name, &call.arguments.iter().collect::<Vec<_>>())?;
        match value {
            None => refuse(format!("Could not find a JSON payload to evaluate the expression: {text}")),
            Some(Value::Json(json)) => read(&json, &text),
            Some(value) => read(&document(&value.print()?)?, &text),
        }
    }

    fn payload(&self, access: &Access) -> Outcome {
        let text = match access.text.strip_prefix("payload") {
            Some(rest) => Cow::Owned(format!("${rest}")),
            None => Cow::Borrowed(access.text.as_str()),
        };
        let text = self.resolved(&text, access.path.as_ref())?;
        if text == "$" && self.context.has_xml_payload() {
            return Ok(self.context.payload.as_deref().map(xml_payload::body).map(Value::Xml));
        }
        match self.payload.get_or_init(|| self.read_payload()) {
            Ok(json) => read(json, &text),
            Err(failure) => Err(failure.clone()),
        }
    }

    fn read_payload(&self) -> Result<Json, Failure> {
        let body = self.context.payload.as_deref().unwrap_or_default();
        if body.is_empty() {
            return refuse("Error while fetching the payload, Payload is empty");
        }
        if self.context.has_xml_payload() {
            return xml_payload::to_json(body);
        }
        document(body)
    }

    fn variable(&self, node: &VariableNode) -> Outcome {
        let text = self.resolved(&node.text, node.path.as_ref())?;
        let (name, rest) = split_variable(&text)?;
        let Some(variable) = self.context.vars.get(name) else {
            return refuse(format!("Variable {name} is not defined"));
        };
        if rest.is_empty() {
            return Ok(plain(variable));
        }
        match variable {
            Variable::Map(map) => {
                let dotted =
                    if rest.starts_with('.') { format!("vars{rest}") } else { format!("vars.{rest}") };
                let (key, rest) = split_variable(&dotted)?;
                match map.get(key) {
                    None => refuse(format!("Could not find key: {key} in the variable: {name}")),
                    Some(value) if rest.is_empty() => Ok(plain(value)),
                    Some(Variable::Json(json)) => read(&json.0, &rooted(rest)),
                    Some(_) => refuse(format!(
                        "Could not evaluate JSONPath expression: {} on non-JSON object",
                        rooted(rest)
                    )),
                }
            }
            Variable::Xml(_) => {
                refuse(format!("Could not evaluate JSONPath expression: {text} on non-JSON variable value"))
            }
            Variable::Json(json) => read(&json.0, &rooted(rest)),
            Variable::String(text) => read(&document(text)?, &rooted(rest)),
            Variable::Int(_) | Variable::Long(_) | Variable::Double(_) | Variable::Boolean(_) => {
                let printed = plain(variable).map(|value| value.print()).transpose()?.unwrap_or_default();
                read(&document(&printed)?, &rooted(rest))
            }
        }
    }

    fn lookup(&self, lookup: &Lookup) -> Outcome {
        let context = self.context;
        let name = &lookup.name.value;
        let found = match lookup.place {
            Place::Header => context.headers.get(name),
            Place::Config => context.configs.get(name),
            Place::QueryParam => context.syn.get(&format!("query.param.{name}")),
            Place::PathParam => context.syn.get(&format!("uri.var.{name}")),
            Place::Synapse => context.syn.get(name),
            Place::Axis2 => context.ax.get(name),
            Place::FunctionParam => match &context.func {
                Some(parameters) => parameters.get(name),
                None => {
                    return crash(
                        "java.lang.NullPointerException: there is no template around the expression",
                    );
                }
            },
        };
        match found {
            Some(text) => Ok(Some(auto_number(text))),
            None => refuse(format!("Could not fetch the value of the key: {name}")),
        }
    }

    /// The text of a path with its computed parts replaced by their values.
    fn resolved(&self, text: &str, path: Option<&Path>) -> Result<String, Failure> {
        let mut text = text.to_owned();
        let indices = path.iter().flat_map(|path| &path.steps).filter_map(|step| match &step.kind {
            StepKind::Index(index) => Some(index),
            _ => None,
        });
        for index in hash_order(indices, |index| &index.text) {
            if let Some(value) = self.index(index)? {
                text = replace_first(&text, &index.text, &value)?;
            }
        }
        Ok(text)
    }

    /// What is put in the place of an index; nothing when it stays as it is.
    fn index(&self, index: &Index) -> Result<Option<String>, Failure> {
        let quoted = |value: Option<Value>| -> Result<Option<String>, Failure> {
            let Some(value) = value else { return Ok(None) };
            let text = value.print()?;
            Ok(Some(if value.is_string() { format!("\"{text}\"") } else { text }))
        };
        match &index.kind {
            IndexKind::All => Ok(None),
            IndexKind::Number(text) => quoted(Some(number(text))),
            IndexKind::Text(text) => quoted(Some(Value::Text(text.clone()))),
            IndexKind::Computed(node) => quoted(self.node(node)?),
            IndexKind::List(items) => {
                let parts = items.iter().map(|item| Ok(Some(self.node(item)?)));
                self.joined(parts, ",").map(Some)
            }
            IndexKind::Slice(parts) => self.slice(parts).map(Some),
            IndexKind::Filter(filter) => self.filter(filter).map(Some),
        }
    }

    /// The parts of an index list or slice. A part that evaluates to null is left out, an absent one is empty.
    fn joined(
        &self,
        parts: impl Iterator<Item = Result<Option<Option<Value>>, Failure>>,
        separator: &str,
    ) -> Result<String, Failure> {
        let mut texts = Vec::new();
        for part in parts {
            match part? {
                None => texts.push(String::new()),
                Some(None) => {}
                Some(Some(value)) => texts.push(value.print()?),
            }
        }
        // The engine reads the joined text back as a string, then takes every quote out of it.
        Ok(Value::Text(texts.join(separator)).print()?.replace('"', ""))
    }

    /// The engine keeps the bounds and forgets the colons, except when there are only one bound and one colon.
    fn slice(&self, parts: &[SlicePart]) -> Result<String, Failure> {
        let open_start = parts.len() == 2 && matches!(parts.first(), Some(SlicePart::Colon));
        let open_end = parts.len() == 2 && matches!(parts.get(1), Some(SlicePart::Colon));
        let bounds = parts.iter().filter_map(|part| match part {
            SlicePart::Colon => None,
            SlicePart::Bound(node) => Some(self.node(node).map(Some)),
            SlicePart::Negated(node) => Some(self.negated(node).map(|value| Some(Some(value)))),
        });
        let start = open_start.then_some(Ok(None));
        let end = open_end.then_some(Ok(None));
        self.joined(start.into_iter().chain(bounds).chain(end), ":")
    }

    fn negated(&self, node: &Node) -> Result<Value, Failure> {
        match self.node(node)? {
            None => crash("java.lang.IllegalStateException: Cannot negate a null value"),
            Some(value) if value.is_int() => Ok(Value::Int(value.to_int().wrapping_neg())),
            Some(value) if value.is_double() => Ok(Value::Double(-value.to_double())),
            Some(_) => crash("java.lang.IllegalStateException: Cannot negate a non-numeric value"),
        }
    }

    fn filter(&self, filter: &Filter) -> Result<String, Failure> {
        let mut text = filter.text.clone();
        for part in hash_order(filter.parts.iter(), |part| &part.text) {
            let Some(value) = part.value.as_ref().map(|node| self.node(node)).transpose()?.flatten() else {
                continue;
            };
            let printed = value.print()?;
            let printed = if value.is_string() { format!("\"{printed}\"") } else { printed };
            text = replace_first(&text, &part.text, &printed)?;
        }
        Ok(format!("?({text})"))
    }
}

/// How long a text may grow, in bytes. Nested array literals double what they quote at each level, and nested
/// replacements multiply: the runtime would run out of memory.
pub(super) const MAX_TEXT: usize = 32 << 20;

fn bounded(value: Option<Value>) -> Outcome {
    match &value {
        Some(Value::Text(text) | Value::Json(Json::String(text))) if text.len() > MAX_TEXT => too_long(),
        _ => Ok(value),
    }
}

pub(super) fn too_long<T>() -> Result<T, Failure> {
    crash(format!("java.lang.OutOfMemoryError: a text grows beyond {MAX_TEXT} bytes"))
}

/// A number literal.
fn number(text: &str) -> Value {
    if let Some(int) = java::parse_int(text) {
        Value::Int(int)
    } else if let Some(long) = java::parse_long(text) {
        Value::Long(long)
    } else {
        Value::Double(java::parse_double(text).unwrap_or_default())
    }
}

/// A header, property, parameter or configurable: what reads as a number is one.
fn auto_number(text: &str) -> Value {
    if let Some(int) = java::parse_int(text) {
        Value::Int(int)
    } else if let Some(long) = java::parse_long(text) {
        Value::Long(long)
    } else if let Some(double) = java::parse_double(text) {
        Value::Double(double)
    } else {
        Value::Text(text.to_owned())
    }
}

/// A whole variable. A map is null to the engine.
fn plain(variable: &Variable) -> Option<Value> {
    match variable {
        Variable::Int(int) => Some(Value::Int(*int)),
        Variable::Long(long) => Some(Value::Long(*long)),
        Variable::Double(double) => Some(Value::Double(*double)),
        Variable::String(text) => Some(Value::Text(text.clone())),
        Variable::Boolean(truth) => Some(Value::Bool(*truth)),
        Variable::Json(json) => Value::of_json(json.0.clone()),
        Variable::Map(_) => None,
        Variable::Xml(text) => Some(Value::Xml(text.clone())),
    }
}

/// `vars.name…` or `vars["name"]…` as name and rest. Single quotes are not foreseen.
fn split_variable(text: &str) -> Result<(&str, &str), Failure> {
    for prefix in ["vars.[\"", "vars[\""] {
        if let Some(rest) = text.strip_prefix(prefix) {
            return rest.split_once("\"]").map_or_else(
                || crash("java.lang.StringIndexOutOfBoundsException: the name of the variable does not end"),
                Ok,
            );
        }
    }
    match text.strip_prefix("vars.") {
        Some(rest) => Ok(rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()))),
        None => crash(
            "java.lang.IllegalArgumentException: Invalid input format. Could not parse variable and JSONPath.",
        ),
    }
}

/// A path behind a name, from the root.
fn rooted(path: &str) -> String {
    if path.starts_with('.') { format!("${path}") } else { format!("$.{path}") }
}

/// A text as JSON document.
fn document(text: &str) -> Result<Json, Failure> {
    if text.is_empty() {
        return crash("java.lang.IllegalArgumentException: json string can not be null or empty");
    }
    json::parse(text).or_else(|error| crash(format!("com.jayway.jsonpath.InvalidJsonException: {error}")))
}

fn read(document: &Json, path: &str) -> Outcome {
    let compiled = match jsonpath::Path::compile(path) {
        Ok(compiled) => compiled,
        Err(error) => return crash(format!("com.jayway.jsonpath.InvalidPathException: {error}")),
    };
    match compiled.read(document) {
        Ok(Found { value, holder: Holder::Computed }) => Ok(computed(value.into_owned())),
        Ok(found) => Ok(Value::of_json(found.value.into_owned())),
        Err(ReadError::NotFound(message)) => refuse(message),
        Err(error @ (ReadError::Crash(_) | ReadError::TooMuchWork)) => crash(error.to_string()),
    }
}

/// What a function of a path made: plain Java values, JSON arrays and objects.
fn computed(json: Json) -> Option<Value> {
    Some(match json {
        Json::Null => return None,
        Json::Bool(truth) => Value::Bool(truth),
        Json::String(text) => Value::Text(text),
        Json::Number(Number::Int(int)) => Value::Int(int),
        Json::Number(Number::Long(long)) => Value::Long(long),
        Json::Number(Number::Double(double)) => Value::Double(double),
        other => Value::Json(other),
    })
}

#[cfg(test)]
mod tests;
