//! What binds tighter than it looks: `and` and `or` before comparisons, everything before `?:`.

use super::kind::Kind;
use super::{Look, codes};
use crate::diagnostic::{Edit, Severity};
use crate::expr::ast::{Node, NodeKind, Operator};
use crate::text::Span;

/// Whether an operator takes part in chains of comparisons, `and` and `or`.
pub(super) const fn chains(operator: Operator) -> bool {
    operator.is_comparison() || operator.is_logical()
}

/// Whether a node is such a chain, without parentheses.
pub(super) const fn is_chain(node: &Node) -> bool {
    matches!(&node.kind, NodeKind::Binary { operator, .. } if chains(*operator))
}

pub(super) fn look(node: &Node, look: &mut Look<'_>) {
    match &node.kind {
        NodeKind::Binary { operator, .. } if chains(*operator) && !look.in_chain => chain(node, look),
        NodeKind::Conditional { condition, then, otherwise } => {
            conditional(node, condition, [then, otherwise], look);
        }
        _ => {}
    }
}

/// A chain in the order in which it is written.
#[derive(Default)]
struct Flat<'a> {
    operands: Vec<&'a Node>,
    operators: Vec<Operator>,
    /// The nodes that join the operands.
    joints: Vec<&'a Node>,
}

fn flatten<'a>(node: &'a Node, flat: &mut Flat<'a>) {
    match &node.kind {
        NodeKind::Binary { operator, left, right, .. } if chains(*operator) => {
            flatten(left, flat);
            flat.operators.push(*operator);
            flat.joints.push(node);
            flatten(right, flat);
        }
        _ => flat.operands.push(node),
    }
}

/// Runs of operands between operators that split: the first and the last operand of each.
fn runs(flat: &Flat<'_>, splits: impl Fn(Operator) -> bool) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut first = 0;
    for (at, operator) in flat.operators.iter().enumerate() {
        if splits(*operator) {
            found.push((first, at));
            first = at + 1;
        }
    }
    found.push((first, flat.operands.len().saturating_sub(1)));
    found
}

/// Parentheses around the runs of more than one operand.
fn parenthesise(flat: &Flat<'_>, runs: &[(usize, usize)]) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (first, last) in runs.iter().filter(|(first, last)| last > first) {
        let (Some(first), Some(last)) = (flat.operands.get(*first), flat.operands.get(*last)) else {
            continue;
        };
        edits.push(Edit::insert(first.span.start, "("));
        edits.push(Edit::insert(last.span.end, ")"));
    }
    edits
}

fn chain(node: &Node, look: &mut Look<'_>) {
    let mut flat = Flat::default();
    flatten(node, &mut flat);
    let compares = flat.operators.iter().any(|one| one.is_comparison());
    let joins = flat.operators.iter().any(|one| one.is_logical());
    if compares && joins {
        let own = flat.operands.iter().all(|operand| !look.kind(operand).is_never());
        let certain = own && look.kind(node).is_never();
        let message = if certain {
            "`and` and `or` bind tighter than comparisons, so this always fails: put each comparison in parentheses"
        } else {
            "`and` and `or` bind tighter than comparisons: put each comparison in parentheses"
        };
        let edits = parenthesise(&flat, &runs(&flat, Operator::is_logical));
        let finding = look.report(codes::LOGICAL_FIRST, node.span, message);
        if !certain {
            finding.at_most(Severity::Warning);
        }
        finding.safe("Put each comparison in parentheses", edits);
        flat.joints.iter().for_each(|joint| look.mute(joint));
    } else if joins {
        mixed(node, &flat, look);
    } else if flat.operators.len() > 1 {
        compared(node, &flat, look);
    }
}

/// `a and b or c` is `a and (b or c)`.
fn mixed(node: &Node, flat: &Flat<'_>, look: &mut Look<'_>) {
    let and = flat.operators.iter().position(|one| *one == Operator::And);
    let or = flat.operators.iter().rposition(|one| *one == Operator::Or);
    if !matches!((and, or), (Some(and), Some(or)) if and < or) {
        return;
    }
    let edits = parenthesise(flat, &runs(flat, |one| one == Operator::Or));
    look.report(
        codes::MIXED_LOGICAL,
        node.span,
        "`and` and `or` have the same rank and group to the right: `a and b or c` is `a and (b or c)`",
    )
    .review("Put each `and` in parentheses", edits);
}

/// `1 < x < 5` compares a boolean.
fn compared(node: &Node, flat: &Flat<'_>, look: &mut Look<'_>) {
    let later = flat.operators.get(1..).unwrap_or_default();
    let orders = |one: &Operator| !matches!(one, Operator::Equal | Operator::NotEqual);
    if later.iter().any(orders) {
        let message = "a comparison gives true or false, which cannot be compared with `<` or `>` again";
        let texts: Vec<String> = flat.operands.iter().map(|operand| look.text(operand).to_owned()).collect();
        let finding = look.report(codes::CHAINED, node.span, message);
        if let ([first, middle, last], [one, other]) = (texts.as_slice(), flat.operators.as_slice())
            && orders(one)
            && orders(other)
        {
            let text =
                format!("({first} {} {middle}) and ({middle} {} {last})", one.symbol(), other.symbol());
            finding.safe("Write two comparisons", vec![Edit::replace(node.span, text)]);
        }
        flat.joints.iter().for_each(|joint| look.mute(joint));
    } else if let Some(last) = flat.operands.last()
        && look.kind(last).cannot_be(Kind::BOOLEAN.or(Kind::TEXT))
    {
        let message = format!(
            "`{}` is compared with the outcome of the comparison before it, true or false, and is never equal",
            look.text(last)
        );
        look.report(codes::CHAINED, node.span, message).at_most(Severity::Warning);
        flat.joints.iter().for_each(|joint| look.mute(joint));
    }
}

/// `'x' + flag ? a : b` is `('x' + flag) ? a : b`.
fn conditional(node: &Node, condition: &Node, branches: [&Node; 2], look: &mut Look<'_>) {
    let kind = look.kind(condition);
    if let Some((last, sum)) = swallowed(condition)
        && (kind.is_never() || kind.cannot_be(Kind::BOOLEAN))
    {
        let span = Span::new(last.span.start, node.span.end);
        let [then, otherwise] = branches.map(|branch| look.kind(branch));
        let text = Kind::TEXT;
        // A sum of texts wants text on both sides of the colon; otherwise the repair only moves the failure.
        let fits = then.may_be(text) && otherwise.may_be(text);
        let message = "`?` is weaker than every other operator, so all before it is the condition, and it is no boolean";
        let finding = look.report(codes::CONDITION_FIRST, condition.span, message);
        if fits {
            let edits = vec![Edit::insert(span.start, "("), Edit::insert(span.end, ")")];
            finding.safe("Put the condition and its values in parentheses", edits);
        }
        for joint in sum {
            look.mute(joint);
        }
        return;
    }
    if kind.is(Kind::NULL) {
        let message = format!("the condition {} is null", quoted(condition, look));
        look.report(codes::CONDITION, condition.span, message);
    } else if kind.cannot_be(Kind::BOOLEAN) {
        let message = format!(
            "the condition {} is {}, and a condition must be a boolean",
            quoted(condition, look),
            kind.without(Kind::NULL)
        );
        let text = kind.may_be(Kind::TEXT);
        let finding = look.report(codes::CONDITION, condition.span, message);
        if text {
            finding.review("Read it as a boolean", super::around(condition, "boolean(", ")"));
        }
    }
}

/// A node as it is written, when it is short enough to be shown.
fn quoted(node: &Node, look: &Look<'_>) -> String {
    let text = look.text(node);
    if text.chars().count() > 40 { String::new() } else { format!("`{text}`") }
}

/// When the condition begins with a sum: the operand that was probably meant as the condition, and the sum's nodes.
fn swallowed(condition: &Node) -> Option<(&Node, Vec<&Node>)> {
    let mut nodes = vec![condition];
    let mut node = condition;
    // `'x' + a > 5 ? …`: the sum stands on the left of the comparison.
    if let NodeKind::Binary { operator, left, .. } = &node.kind
        && operator.is_comparison()
        && !matches!(operator, Operator::Equal | Operator::NotEqual)
        && begins_with_text(left)
    {
        node = left;
        nodes.push(node);
    }
    match &node.kind {
        NodeKind::Binary { operator: Operator::Add, right, .. } => Some((right, nodes)),
        _ => None,
    }
}

/// Whether a sum's first operand is a string.
fn begins_with_text(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Binary { operator: Operator::Add, left, .. } => begins_with_text(left),
        NodeKind::Text(_) => true,
        _ => false,
    }
}
