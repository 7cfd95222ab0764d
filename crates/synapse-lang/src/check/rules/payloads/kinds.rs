//! What kind of value an expression surely gives, as far as a format cares.

use std::collections::HashMap;

use crate::check::Subject;
use crate::expr::ast::{Node, NodeKind, Operator};
use crate::json;

/// A kind of value in a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text that needs quotes in JSON.
    Text,
    /// A number, true or false.
    Scalar,
    /// Nothing, at least sometimes.
    Null,
    /// Not known.
    Unknown,
}

/// The variables of a document that are always set to one kind.
pub(super) fn variables(subject: &Subject<'_>) -> HashMap<String, Kind> {
    let mut kinds: HashMap<String, Kind> = HashMap::new();
    for placed in subject.tree.placed().iter().filter(|one| one.is_mediator("variable")) {
        let element = placed.element;
        let Some(name) = element.value("name") else { continue };
        if element.value("action").is_some_and(|action| action == "remove") {
            continue;
        }
        let kind = match (element.value("type").as_deref(), element.value("value")) {
            (Some("INTEGER" | "LONG" | "DOUBLE" | "BOOLEAN"), _) => Kind::Scalar,
            (None | Some("STRING"), Some(value)) if !is_json(&value) => Kind::Text,
            _ => Kind::Unknown,
        };
        kinds.entry(name.into_owned()).and_modify(|known| *known = joined(*known, kind)).or_insert(kind);
    }
    kinds
}

/// The kind of an expression.
pub(super) fn of(node: &Node, variables: &HashMap<String, Kind>) -> Kind {
    match &node.kind {
        NodeKind::Null => Kind::Null,
        NodeKind::Text(text) => {
            let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
            if is_json(inner) { Kind::Unknown } else { Kind::Text }
        }
        NodeKind::Group(inner) => of(inner, variables),
        NodeKind::Binary { operator: Operator::Add, left, right, .. } => {
            match (of(left, variables), of(right, variables)) {
                // Only texts are joined to a text, and only numbers added to a number.
                (Kind::Text, _) | (_, Kind::Text) => Kind::Text,
                (Kind::Scalar, _) | (_, Kind::Scalar) => Kind::Scalar,
                _ => Kind::Unknown,
            }
        }
        NodeKind::Boolean(_) | NodeKind::Number(_) | NodeKind::Binary { .. } => Kind::Scalar,
        NodeKind::Conditional { then, otherwise, .. } => {
            joined(of(then, variables), of(otherwise, variables))
        }
        NodeKind::Call(call) if call.suffix.is_none() => match call.name.as_str() {
            // Other functions of texts may well give the text of a number or of JSON.
            "toUpper" | "toLower" | "base64encode" | "urlEncode" => Kind::Text,
            "length" | "indexOf" | "abs" | "ceil" | "floor" | "round" | "sqrt" | "pow" | "log"
            | "integer" | "float" | "now" | "boolean" | "not" | "exists" | "startsWith" | "endsWith"
            | "contains" | "isString" | "isNumber" | "isArray" | "isObject" => Kind::Scalar,
            _ => Kind::Unknown,
        },
        NodeKind::Variable(variable) if variable.path.is_none() => {
            variables.get(&variable.name.value).copied().unwrap_or(Kind::Unknown)
        }
        _ => Kind::Unknown,
    }
}

const fn joined(one: Kind, other: Kind) -> Kind {
    match (one, other) {
        (Kind::Null, _) | (_, Kind::Null) => Kind::Null,
        (Kind::Text, Kind::Text) => Kind::Text,
        (Kind::Scalar, Kind::Scalar) => Kind::Scalar,
        _ => Kind::Unknown,
    }
}

/// Whether a text is JSON by itself, so that it needs no quotes. A bare word is none.
fn is_json(text: &str) -> bool {
    let text = text.trim();
    match text.chars().next() {
        Some('{' | '[' | '"') => json::parse(text).is_ok(),
        Some(first) if first.is_ascii_digit() || first == '-' => text.parse::<f64>().is_ok(),
        _ => matches!(text, "true" | "false" | "null" | ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr;

    fn check(text: &str, kind: Kind) {
        let variables = HashMap::from([("text".to_owned(), Kind::Text), ("count".to_owned(), Kind::Scalar)]);
        let parsed = expr::parse(text).expect(text);
        assert_eq!(of(&parsed.root, &variables), kind, "{text}");
    }

    #[test]
    fn kinds_are_claimed_only_where_they_are_sure() {
        check("'abc'", Kind::Text);
        check("'null'", Kind::Unknown);
        check("'a' + payload.x", Kind::Text);
        check("payload.x + 1", Kind::Scalar);
        check("payload.x", Kind::Unknown);
        check("exists(payload.x) ? payload.x : 'null'", Kind::Unknown);
        check("exists(payload.x) ? payload.x : null", Kind::Null);
        check("toUpper(payload.x)", Kind::Text);
        check("string(payload.x)", Kind::Unknown);
        check("length(payload.x) > 3", Kind::Scalar);
        check("vars.text", Kind::Text);
        check("vars.count", Kind::Scalar);
        check("vars.text.a", Kind::Unknown);
    }
}
