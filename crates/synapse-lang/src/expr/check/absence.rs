//! What is missing is an error and not null, and both sides of `and` and `or` are always evaluated.

use super::kind::Kind;
use super::{Guard, Look, codes};
use crate::diagnostic::Edit;
use crate::expr::ast::{Call, Node, NodeKind, Operator};

pub(super) fn look(node: &Node, look: &mut Look<'_>) {
    let NodeKind::Binary { operator, left, right, .. } = &node.kind else { return };
    if operator.is_logical() {
        if !look.is_muted(node) {
            short_circuit(node, *operator, left, right, look);
        }
    } else if let Some(test) = null_test(node)
        && !look.is_muted(node)
        && look.guard == Guard::None
    {
        absent(node, &test, look);
    }
}

/// `x == null` or `x != null`.
struct NullTest<'a> {
    value: &'a Node,
    /// Whether it asks for null.
    is_null: bool,
}

fn null_test(node: &Node) -> Option<NullTest<'_>> {
    let NodeKind::Binary { operator, left, right, .. } = &node.ungrouped().kind else { return None };
    let is_null = match operator {
        Operator::Equal => true,
        Operator::NotEqual => false,
        _ => return None,
    };
    let null = |node: &Node| matches!(node.ungrouped().kind, NodeKind::Null);
    match (null(left), null(right)) {
        (false, true) => Some(NullTest { value: left, is_null }),
        (true, false) => Some(NullTest { value: right, is_null }),
        _ => None,
    }
}

/// Whether a node reads something that may be missing.
fn reads(node: &Node) -> bool {
    matches!(&node.ungrouped().kind, NodeKind::Payload(access) if access.path.is_some())
        || matches!(&node.ungrouped().kind, NodeKind::Variable(_) | NodeKind::Lookup(_))
}

fn absent(node: &Node, test: &NullTest<'_>, look: &mut Look<'_>) {
    let kind = look.kind(test.value);
    // A value whose kind is known is there.
    if !reads(test.value) || !(kind.is_open() || kind == Kind::AUTO) {
        return;
    }
    let value = look.text(test.value).to_owned();
    let message = format!(
        "when `{value}` is missing this fails instead of comparing with null; ask with `exists({value})`"
    );
    let text = if test.is_null { format!("not(exists({value}))") } else { format!("exists({value})") };
    look.report(codes::ABSENCE, node.span, message)
        .review(format!("Write `{text}`"), vec![Edit::replace(node.span, text)]);
}

/// `exists(x) and (x > 3)`: the right side is evaluated even when x is missing.
fn short_circuit(node: &Node, operator: Operator, left: &Node, right: &Node, look: &mut Look<'_>) {
    let asked = match (exists(left), operator) {
        (Some((value, true)), Operator::And) | (Some((value, false)), Operator::Or) => {
            uses(right, look.text(value), false, look).then_some(value)
        }
        _ => None,
    };
    let null = null_test(left).filter(|test| test.is_null == (operator == Operator::Or) && reads(test.value));
    let asked = asked.or_else(|| {
        let value = null.as_ref()?.value;
        uses(right, look.text(value), true, look).then_some(value)
    });
    let Some(value) = asked else { return };
    let message = format!(
        "both sides of `{}` are always evaluated, so the right one fails when `{}` is missing or null: use `? :`",
        operator.symbol(),
        look.text(value)
    );
    let (condition, rest) = (look.text(left), look.text(right));
    let text = match operator {
        Operator::And => format!("{condition} ? {rest} : false"),
        _ => format!("{condition} ? true : {rest}"),
    };
    let edit = look.conditional(node, text);
    look.report(codes::SHORT_CIRCUIT, node.span, message).review("Use a conditional", vec![edit]);
    if null.is_some() {
        look.mute(left.ungrouped());
    }
}

/// What `exists(x)` asks for, and whether for its presence (`not(exists(x))` asks for its absence).
fn exists(node: &Node) -> Option<(&Node, bool)> {
    let NodeKind::Call(Call { name, arguments, .. }) = &node.ungrouped().kind else { return None };
    let [argument] = arguments.as_slice() else { return None };
    match &**name {
        "exists" => Some((argument, true)),
        "not" => exists(argument).map(|(value, present)| (value, !present)),
        _ => None,
    }
}

/// Whether a node evaluates a value, or something below it. With `not_compared`, uses that null does not hurt
/// (`==` and `!=`) do not count.
fn uses(node: &Node, value: &str, not_compared: bool, look: &Look<'_>) -> bool {
    let squeeze = |text: &str| text.chars().filter(|sign| !sign.is_whitespace()).collect::<String>();
    let value = squeeze(value);
    let hits = |node: &Node| {
        let text = squeeze(look.text(node));
        let rest = text.strip_prefix(value.as_str());
        reads(node) && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    match &node.kind {
        NodeKind::Group(inner) => uses(inner, &value, not_compared, look),
        NodeKind::Call(call) if call.name == "exists" => false,
        NodeKind::Conditional { condition, .. } => uses(condition, &value, not_compared, look),
        NodeKind::Binary { operator: Operator::Equal | Operator::NotEqual, left, right, .. }
            if not_compared =>
        {
            [left, right].into_iter().any(|side| !hits(side) && uses(side, &value, not_compared, look))
        }
        _ => hits(node) || node.children().into_iter().any(|child| uses(child, &value, not_compared, look)),
    }
}
