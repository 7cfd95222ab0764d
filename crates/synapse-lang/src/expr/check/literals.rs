//! Literals that are not what they seem: escapes, JSON in quotes, arrays of other things than numbers and strings.

use super::kind::Kind;
use super::{Look, codes, signatures};
use crate::diagnostic::{Edit, Severity};
use crate::expr::ast::{Call, Node, NodeKind, Operator};

pub(super) fn look(node: &Node, look: &mut Look<'_>) {
    match &node.kind {
        NodeKind::Array(items) => {
            for item in items {
                element(item, look);
            }
        }
        NodeKind::Text(text) => escapes(node, text, look),
        NodeKind::Call(call) if matches!(&*call.name, "object" | "array" | "isObject" | "isArray") => {
            json(call, look);
        }
        // Patterns may hold backslashes of their own.
        NodeKind::Call(call) if call.name == "split" => {
            if let Some(pattern) = call.arguments.get(1) {
                look.mute(pattern);
            }
        }
        NodeKind::Binary { operator: Operator::Add, left, right, .. } => quotes(node, left, right, look),
        _ => {}
    }
}

fn element(item: &Node, look: &mut Look<'_>) {
    let kind = look.kind(item);
    if kind.is(Kind::NULL) {
        look.report(codes::ARRAY_NULL, item.span, "null in an array literal crashes");
    } else if kind.is(Kind::BOOLEAN.or(Kind::LONG).or(Kind::OBJECT).or(Kind::ARRAY)) {
        let message = format!("{kind} becomes a string in an array literal");
        look.report(codes::ARRAY_STRINGS, item.span, message);
    }
}

/// Escapes are recognised, and stay as they are written.
fn escapes(node: &Node, text: &str, look: &mut Look<'_>) {
    if look.is_muted(node) || !text.contains('\\') {
        return;
    }
    let escape: String = text.chars().skip_while(|sign| *sign != '\\').take(2).collect();
    let message = format!("escapes are not translated: `{escape}` stays in the text as it is written");
    look.report(codes::ESCAPE, node.span, message);
}

/// Only text in double quotes is looked at as JSON.
fn json(call: &Call, look: &mut Look<'_>) {
    let Some(argument) = call.arguments.first() else { return };
    let NodeKind::Text(text) = &argument.ungrouped().kind else { return };
    look.mute(argument.ungrouped());
    if !text.starts_with('\'') {
        return;
    }
    let inner = signatures::literal(call, 0).unwrap_or_default().to_owned();
    let converts = matches!(&*call.name, "object" | "array");
    let message = if converts {
        "text in single quotes is never read as JSON, so this always fails: use double quotes"
    } else {
        "text in single quotes is never read as JSON, so this is always false: use double quotes"
    };
    let span = argument.span;
    let finding = look.report(codes::JSON_IN_SINGLE_QUOTES, span, message);
    if !converts {
        finding.at_most(Severity::Warning);
    }
    if !inner.contains('\\') {
        let text = format!("\"{}\"", inner.replace('"', "\\\""));
        finding.safe("Write it in double quotes", vec![Edit::replace(span, text)]);
    }
}

/// `"'" + x + "'"`: the outer quotes are taken off again.
fn quotes(node: &Node, left: &Node, right: &Node, look: &mut Look<'_>) {
    let first = leftmost(left);
    let (NodeKind::Text(begin), NodeKind::Text(end)) = (&first.kind, &right.kind) else { return };
    let inside =
        |text: &str| text.get(1..text.len().saturating_sub(1)).map(str::to_owned).unwrap_or_default();
    let (begin, end) = (inside(begin), inside(end));
    let same = ['\'', '"'].into_iter().find(|quote| begin.starts_with(*quote) && end.ends_with(*quote));
    if let Some(quote) = same {
        let message = format!("a text that begins and ends with `{quote}` loses both when it is read");
        look.report(codes::QUOTES_STRIPPED, node.span, message);
    }
}

fn leftmost(node: &Node) -> &Node {
    match &node.kind {
        NodeKind::Binary { operator: Operator::Add, left, .. } => leftmost(left),
        _ => node,
    }
}
