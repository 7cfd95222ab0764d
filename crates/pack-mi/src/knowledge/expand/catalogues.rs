//! Tables of facts that belong to no single element: properties, scopes, roots, external values, parameters.

use synapse_lang::diagnostic::Class;
use synapse_lang::model::{Access, JavaType, Place, Unit, ValueType};

use super::{CannotFill, Table, model, unknown};

/// The well-known properties of a scope.
pub(super) fn properties(scope: &str) -> Result<String, CannotFill> {
    let mut scopes: Vec<&str> = model().properties().iter().map(|one| one.scope.as_str()).collect();
    scopes.dedup();
    if !scopes.contains(&scope) {
        return Err(unknown("properties", scope, scopes));
    }
    let mut table = Table::new(&["property", "set/read", "value", "what it does", "traps"]);
    for one in model().properties().iter().filter(|one| one.scope == scope) {
        let name = if one.prefix { format!("`{}`…", one.name) } else { format!("`{}`", one.name) };
        let access = match one.access {
            Access::Write => "set",
            Access::Read => "read",
            Access::Both => "both",
        };
        let mut value = if one.value == ValueType::Text { String::new() } else { one.value.to_string() };
        match one.java {
            JavaType::Any => {}
            JavaType::String => value.push_str("; no `type`"),
            JavaType::Boolean => value.push_str("; `type=\"BOOLEAN\"`"),
        }
        let mut traps = Vec::new();
        if let Some(class) = one.wrong_type {
            traps.push(format!("Another type: {}.", does(class)));
        }
        if let Some(class) = one.wrong_scope {
            traps.push(format!("Another scope: {}.", does(class)));
        }
        traps.extend(one.notes.clone());
        let value = value.trim_start_matches("; ").to_owned();
        table.row(&[name, access.to_owned(), value, one.summary.clone(), traps.join(" ")]);
    }
    Ok(table.finish())
}

/// The scopes.
pub(super) fn scopes() -> String {
    let mut table = Table::new(&["scope", "set", "remove", "XPath", "`${…}`", "lives", "what is there"]);
    let yes = |yes: bool| (if yes { "yes" } else { "no" }).to_owned();
    for one in model().scopes() {
        let xpath = one.xpath.iter().map(|form| format!("`{form}`")).collect::<Vec<_>>().join(" ");
        let expression = one.expression.as_ref().map_or_else(String::new, |form| format!("`{form}`"));
        table.row(&[
            format!("`{}`", one.name),
            yes(one.settable),
            yes(one.removable),
            xpath,
            expression,
            one.life.clone(),
            one.summary.clone(),
        ]);
    }
    table.finish()
}

/// The roots of expressions.
pub(super) fn roots() -> String {
    let mut table = Table::new(&["root", "gives", "text that is a number becomes one", "traps"]);
    for one in model().roots() {
        table.row(&[
            format!("`{}`", one.form),
            one.summary.clone(),
            (if one.auto_number { "yes" } else { "no" }).to_owned(),
            one.notes.clone().unwrap_or_default(),
        ]);
    }
    table.finish()
}

/// The forms of values from outside.
pub(super) fn external() -> String {
    let mut table = Table::new(&["form", "what it is", "when it is missing"]);
    for one in model().external_forms() {
        table.row(&[format!("`{}`", one.form), one.summary.clone(), does(one.missing).to_owned()]);
    }
    table.finish()
}

/// The parameters of a protocol or an implementation: `inboundEndpoint http`. Without the second word, those that
/// every one has.
pub(super) fn parameters(asked: &str) -> Result<String, CannotFill> {
    let (of, name) = asked.split_once(' ').unwrap_or((asked, ""));
    let ends = |full: &str| full == name || full.rsplit('.').next() == Some(name);
    let found = model().catalogues(of).find(|one| ends(&one.name));
    let Some(found) = found else {
        let known = model().catalogues(of).map(|one| one.name.rsplit('.').next().unwrap_or(&one.name));
        return Err(unknown("parameters", name, known));
    };
    let mut table = Table::new(&["parameter", "value", "default", "what it does"]);
    for one in &found.parameters {
        let name = if one.prefix { format!("`{}`…", one.name) } else { format!("`{}`", one.name) };
        let mut value = value(&one.value, one.unit);
        if one.place != Place::Literal {
            value = format!("{value} ({})", place(one.place));
        }
        let default = match (&one.default, one.required) {
            (Some(default), _) => format!("`{default}`"),
            (None, Some(class)) => format!("required: {}", does(class)),
            (None, None) => String::new(),
        };
        let since = one.since.map_or_else(String::new, |since| format!(" Since {since}."));
        table.row(&[name, value, default, format!("{}{since}", one.summary)]);
    }
    Ok(table.finish())
}

/// What a value may be, in a few words.
pub(super) fn value(kind: &ValueType, unit: Option<Unit>) -> String {
    let unit = match unit {
        None => "",
        Some(Unit::Milliseconds) => " of milliseconds",
        Some(Unit::Seconds) => " of seconds",
        Some(Unit::Minutes) => " of minutes",
        Some(Unit::Bytes) => " of bytes",
        Some(Unit::Messages) => " of messages",
    };
    match kind {
        ValueType::Choice { values, any_case } => {
            let tail = if *any_case { ", any case" } else { "" };
            format!("{}{tail}", quoted(values))
        }
        ValueType::Suggest(values) => format!("text, such as {}", quoted(values)),
        other => format!("{other}{unit}"),
    }
}

fn quoted(values: &[String]) -> String {
    values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" ")
}

/// Who evaluates a value, in a few words.
pub(super) const fn place(place: Place) -> &'static str {
    match place {
        Place::Path => "`${…}`, `json-eval(…)` or XPath",
        Place::Value => "literal, or whole value in braces: `{${…}}`",
        Place::XPath => "XPath only",
        Place::Query => "XPath or `json-eval(…)`",
        Place::Template => "text with any number of `${…}`",
        Place::Literal => "literal",
        Place::Resolved => "literal, or `$SYSTEM:X`, `${configs.x}` as a whole",
    }
}

/// What the runtime does.
pub(super) const fn does(class: Class) -> &'static str {
    match class {
        Class::Deploy => "does not deploy",
        Class::Fault => "fault at run time",
        Class::Crash => "uncaught exception at run time",
        Class::Empty => "empty value",
        Class::Ignored => "ignored",
        Class::Surprise => "does something else than it says",
        Class::Style => "works",
    }
}
