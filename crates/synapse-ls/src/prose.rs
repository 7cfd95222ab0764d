//! What the model knows, as Markdown for people.

use std::fmt::Write as _;

use gen_lsp_types::{MarkupContent, MarkupKind};
use synapse_lang::diagnostic::Class;
use synapse_lang::expr::functions::{ArgumentKind, Function, ResultKind, Signature};
use synapse_lang::model::{Attribute, Element, Model, Parameter, Place, Unit, Version, WellKnownProperty};

/// Text for a client that does or does not show Markdown.
pub(crate) fn markup(value: String, markdown: bool) -> MarkupContent {
    MarkupContent { kind: if markdown { MarkupKind::Markdown } else { MarkupKind::PlainText }, value }
}

/// An element.
pub(crate) fn element(element: &Element) -> String {
    let mut text = if element.title.is_empty() {
        format!("`<{}>`\n\n{}", element.name, element.summary)
    } else {
        format!("**{}** `<{}>`\n\n{}", element.title, element.name, element.summary)
    };
    paragraph(&mut text, element.notes.as_deref());
    if let Some(instead) = &element.legacy {
        let _ = write!(text, "\n\nKept for old projects: {instead}");
    }
    versions(&mut text, element.since, element.until);
    let attributes: Vec<&Attribute> = Model::get().attributes(element).collect();
    if !attributes.is_empty() {
        text.push_str("\n\nAttributes:\n");
        for one in attributes {
            let must = if one.required.is_some() { ", required" } else { "" };
            let _ = write!(text, "\n- `{}`{must}: {}", one.name, one.summary);
        }
    }
    text
}

/// An attribute of an element.
pub(crate) fn attribute(attribute: &Attribute, of: &str) -> String {
    let mut text = format!("`{}` of `<{of}>`\n\n{}", attribute.name, attribute.summary);
    paragraph(&mut text, attribute.notes.as_deref());
    text.push_str("\n\n");
    let _ = write!(text, "- Value: {}", attribute.value);
    unit(&mut text, attribute.unit);
    if let Some(default) = &attribute.default {
        let _ = write!(text, "\n- Default: `{default}`");
    }
    if let Some(class) = attribute.required {
        let _ = write!(text, "\n- Required: without it, {}", consequence(class));
    }
    let _ = write!(text, "\n- Evaluated: {}", place(attribute.place));
    if let Some(refusal) = &attribute.refuses {
        let _ = write!(text, "\n- No `${{…}}`: {}", refusal.reason);
    }
    versions(&mut text, attribute.since, attribute.until);
    text
}

/// A parameter of a protocol or an implementation.
pub(crate) fn parameter(parameter: &Parameter) -> String {
    let mut text = format!("`{}`\n\n{}\n\n- Value: {}", parameter.name, parameter.summary, parameter.value);
    unit(&mut text, parameter.unit);
    if let Some(default) = &parameter.default {
        let _ = write!(text, "\n- Default: `{default}`");
    }
    if let Some(class) = parameter.required {
        let _ = write!(text, "\n- Required: without it, {}", consequence(class));
    }
    versions(&mut text, parameter.since, None);
    text
}

/// A property that the runtime knows.
pub(crate) fn property(property: &WellKnownProperty) -> String {
    let mut text =
        format!("Property `{}`, scope `{}`\n\n{}", property.name, property.scope, property.summary);
    paragraph(&mut text, property.notes.as_deref());
    let _ = write!(text, "\n\n- Value: {}", property.value);
    text
}

/// A function of expressions.
pub(crate) fn function(function: &Function) -> String {
    let mut text = "```\n".to_owned();
    for one in &function.signatures {
        text.push_str(&signature(&function.name, one));
        text.push('\n');
    }
    let _ = write!(text, "```\n\n{}", function.doc);
    paragraph(&mut text, function.note.as_deref());
    text
}

/// A form of a function: `indexOf(text: string, part: string) → int`.
pub(crate) fn signature(name: &str, signature: &Signature) -> String {
    let arguments: Vec<String> =
        signature.arguments.iter().map(|(name, kind)| argument(name, *kind)).collect();
    format!("{name}({}) \u{2192} {}", arguments.join(", "), result(signature.result))
}

/// An argument of a form.
pub(crate) fn argument(name: &str, kind: ArgumentKind) -> String {
    let kind = match kind {
        ArgumentKind::Any => "any",
        ArgumentKind::String => "string",
        ArgumentKind::Number => "int or double",
        ArgumentKind::Numeric => "number",
        ArgumentKind::Int => "int",
        ArgumentKind::Boolean => "boolean",
        ArgumentKind::Scalar => "scalar",
        ArgumentKind::TextOrArray => "string or array",
        ArgumentKind::Json => "JSON",
        ArgumentKind::Expression => "expression",
    };
    format!("{name}: {kind}")
}

const fn result(kind: ResultKind) -> &'static str {
    match kind {
        ResultKind::String => "string",
        ResultKind::Int => "int",
        ResultKind::Long => "long",
        ResultKind::Double => "double",
        ResultKind::Number => "number",
        ResultKind::Boolean => "boolean",
        ResultKind::Array => "array",
        ResultKind::Object => "object",
        ResultKind::Any => "any",
    }
}

fn paragraph(text: &mut String, more: Option<&str>) {
    if let Some(more) = more {
        text.push_str("\n\n");
        text.push_str(more);
    }
}

fn versions(text: &mut String, since: Option<Version>, until: Option<Version>) {
    if let Some(since) = since {
        let _ = write!(text, "\n\nSince {since}.");
    }
    if let Some(until) = until {
        let _ = write!(text, "\n\nGone in {until}.");
    }
}

fn unit(text: &mut String, unit: Option<Unit>) {
    let word = match unit {
        None => return,
        Some(Unit::Milliseconds) => "milliseconds",
        Some(Unit::Seconds) => "seconds",
        Some(Unit::Minutes) => "minutes",
        Some(Unit::Bytes) => "bytes",
        Some(Unit::Messages) => "messages",
    };
    let _ = write!(text, ", in {word}");
}

const fn consequence(class: Class) -> &'static str {
    match class {
        Class::Deploy => "the artifact does not deploy",
        Class::Fault => "the step fails",
        Class::Crash => "the step fails with an unhelpful message",
        Class::Empty => "the value is empty",
        Class::Ignored => "nothing happens",
        Class::Surprise => "something else happens than it seems to say",
        Class::Style => "it works all the same",
    }
}

const fn place(place: Place) -> &'static str {
    match place {
        Place::Path => "`${…}` is an expression, `json-eval(…)` a JSONPath, anything else XPath",
        Place::Value => "a literal, unless it is wrapped in braces: `{${…}}`, `{json-eval(…)}`, `{xpath}`",
        Place::XPath => "XPath only",
        Place::Query => "XPath or `json-eval(…)`",
        Place::Template => "text with any number of `${…}`",
        Place::Literal => "never; it is a literal",
        Place::Resolved => "never; it may start with `$SYSTEM:`, `$FILE:` or `${configs.…}`",
    }
}
