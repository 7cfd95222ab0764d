//! `==` and `!=` compare printed forms: `1` is not `1.0`, and a header `007` is `7`.

use super::coercion::is_many;
use super::kind::{Atom, Kind};
use super::{Look, around, codes};
use crate::diagnostic::{Class, Edit, Severity};
use crate::expr::ast::{Node, NodeKind, Operator};

pub(super) fn look(node: &Node, look: &mut Look<'_>) {
    let NodeKind::Binary { operator: Operator::Equal | Operator::NotEqual, left, right, .. } = &node.kind
    else {
        return;
    };
    if look.is_muted(node) {
        return;
    }
    for (one, other) in [(left, right), (right, left)] {
        if many(one, other, look) || auto(one, other, look) || decimal(node, one, other, look) {
            return;
        }
    }
}

/// A list of matches and one value.
fn many(one: &Node, other: &Node, look: &mut Look<'_>) -> bool {
    let scalar = Kind::TEXT.or(Kind::BOOLEAN).or(Kind::NUMERIC);
    if !is_many(one) || !look.kind(other).is(scalar) || look.text(other).contains('[') {
        return false;
    }
    let message = format!(
        "`{}` gives a list of matches, which never equals a single value: pick one with `array(…)[0]`",
        look.text(one)
    );
    look.report(codes::MANY_AS_ONE, one.span, message)
        .class(Class::Surprise)
        .at_most(Severity::Warning)
        .review("Take the first match", around(one, "array(", ")[0]"));
    true
}

/// A look-up and a text that its value, read as a number, does not print as.
fn auto(one: &Node, other: &Node, look: &mut Look<'_>) -> bool {
    let (NodeKind::Lookup(_), NodeKind::Text(text)) = (&one.ungrouped().kind, &other.ungrouped().kind) else {
        return false;
    };
    let text = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
    let Some(printed) = normalised(text).filter(|printed| printed != text) else { return false };
    let message = format!(
        "the text `{text}` reads as the number {printed} and prints as `{printed}`, so the two are never equal"
    );
    let span = other.span;
    look.report(codes::AUTO_EQUALITY, span, message)
        .review(format!("Compare with {printed}"), vec![Edit::replace(span, printed)]);
    true
}

/// How a text prints after it was read as a number; nothing when it is no plain number.
fn normalised(text: &str) -> Option<String> {
    let digits = text.trim_start_matches(['+', '-']);
    let plain = digits.starts_with(|sign: char| sign.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.bytes().filter(|byte| *byte == b'.').count() <= 1;
    if !plain || digits.len() > 15 {
        return None;
    }
    match text.parse::<i64>() {
        Ok(whole) => Some(whole.to_string()),
        // From ten million on doubles print with an exponent.
        Err(_) => text
            .parse::<f64>()
            .ok()
            .filter(|one| one.abs() < 1e7 && one.abs() >= 1e-3)
            .map(|one| format!("{one:?}")),
    }
}

/// A whole number and a decimal.
fn decimal(node: &Node, one: &Node, other: &Node, look: &mut Look<'_>) -> bool {
    let double = look.kind(one).is(Kind::of(&[Atom::Double, Atom::MemberDouble]));
    let other_kind = look.kind(other);
    let whole = other_kind.is(Kind::of(&[Atom::Int, Atom::Long, Atom::MemberInt, Atom::MemberLong]));
    let round =
        matches!(&one.ungrouped().kind, NodeKind::Number(text) if text.trim_end_matches('0').ends_with('.'));
    let unknown = round && other_kind.is_open() && other_kind.may_be(Kind::INT);
    if !(double && whole || unknown) {
        return false;
    }
    let message = if whole {
        "a double prints with a decimal point and a whole number without one, so the two are never equal"
            .to_owned()
    } else {
        format!(
            "printed forms are compared: this is false when `{}` is written without a decimal point",
            look.text(other)
        )
    };
    let edits = [one, other].iter().flat_map(|side| around(side, "float(", ")")).collect();
    look.report(codes::DECIMAL_EQUALITY, node.span, message).review("Compare both as doubles", edits);
    true
}
