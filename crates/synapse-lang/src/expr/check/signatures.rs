//! What functions take and give, from the table of functions, with the few cases that no table can hold.

use super::kind::{Atom, Kind};
use crate::expr::ast::{Call, NodeKind};
use crate::expr::functions::{ArgumentKind, ResultKind, Signature};

/// The kinds that an argument takes.
pub(super) fn accepted(call: &Call, kind: ArgumentKind) -> Kind {
    match kind {
        ArgumentKind::Any | ArgumentKind::Expression => Kind::UNKNOWN.without(Kind::NULL).closed(),
        ArgumentKind::String => Kind::TEXT,
        ArgumentKind::Number => Kind::NUMBER,
        ArgumentKind::Numeric => Kind::NUMERIC,
        ArgumentKind::Int => Kind::INT,
        ArgumentKind::Boolean => Kind::BOOLEAN,
        ArgumentKind::Scalar => Kind::TEXT.or(Kind::SCALAR),
        ArgumentKind::TextOrArray => Kind::TEXT.or(Kind::ARRAY),
        ArgumentKind::Json if call.name == "array" => Kind::TEXT.or(Kind::ARRAY),
        ArgumentKind::Json => Kind::TEXT.or(Kind::OBJECT),
    }
}

/// An argument that is refused whatever the data.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refused {
    /// Which one.
    pub argument: usize,
    /// Whether because it is null.
    pub null: bool,
}

/// The first argument that is always refused.
pub(super) fn refused(call: &Call, signature: &Signature, kinds: &[Kind]) -> Option<Refused> {
    if call.name == "exists" {
        return None;
    }
    if let Some(argument) = kinds.iter().position(|kind| kind.is(Kind::NULL)) {
        return Some(Refused { argument, null: true });
    }
    let takes = |at: usize| match signature.arguments.get(at) {
        Some((_, kind)) => conversion(call, accepted(call, *kind)),
        None => Kind::UNKNOWN,
    };
    // Whole numbers come back from `round(x, places)` as they are, before `places` is looked at.
    let looked_at = |at: usize| {
        call.name != "round" || at == 0 || kinds.first().is_none_or(|kind| kind.is(Kind::one(Atom::Double)))
    };
    (0..kinds.len())
        .filter(|at| looked_at(*at))
        .find(|at| kinds.get(*at).is_some_and(|kind| kind.cannot_be(takes(*at))))
        .map(|argument| Refused { argument, null: false })
}

/// Conversions take any value, but not every value converts.
fn conversion(call: &Call, accepted: Kind) -> Kind {
    match &*call.name {
        // A long is read by its text, which may be short enough; the time never is.
        "integer" if is_now(call) => Kind::NEVER,
        "integer" => Kind::INT.or(Kind::TEXT).or(Kind::of(&[Atom::ElementDouble, Atom::Long])),
        "float" => Kind::NUMERIC.or(Kind::TEXT).or(Kind::one(Atom::Big)),
        _ => accepted,
    }
}

/// Whether the argument is the current time.
fn is_now(call: &Call) -> bool {
    call.arguments.first().is_some_and(
        |argument| matches!(&argument.ungrouped().kind, NodeKind::Call(inner) if inner.name == "now"),
    )
}

/// The kind of the result.
pub(super) fn result(call: &Call, signature: &Signature, kinds: &[Kind], object: bool) -> Kind {
    let first = kinds.first().copied().unwrap_or(Kind::NEVER);
    match (&*call.name, signature.result) {
        ("xpath", _) if object => Kind::of(&[Atom::Text, Atom::Nodes]).opened(),
        ("xpath", _) => Kind::one(Atom::Text),
        ("toUpper" | "toLower", _) => {
            let text = first.and(Kind::one(Atom::Text));
            let json = if first.may_be(Kind::SCALAR) {
                Kind::of(&[Atom::MemberText, Atom::Text])
            } else {
                Kind::NEVER
            };
            text.or(json).closed()
        }
        // Whole numbers come back as they are, decimals as doubles.
        ("round", ResultKind::Number) => {
            let double = if first.may_be(Kind::DOUBLE) { Kind::one(Atom::Double) } else { Kind::NEVER };
            first.and(Kind::INT.or(Kind::LONG)).or(double)
        }
        (_, ResultKind::Number) => {
            let int = if first.may_be(Kind::INT) { Kind::one(Atom::Int) } else { Kind::NEVER };
            let decimal = first.without(Kind::INT).may_be(Kind::DOUBLE);
            let kind = int.or(if decimal { Kind::one(Atom::Double) } else { Kind::NEVER });
            if first.is_open() { kind.opened() } else { kind }
        }
        (_, ResultKind::String) => Kind::one(Atom::Text),
        (_, ResultKind::Int) => Kind::one(Atom::Int),
        (_, ResultKind::Long) => Kind::one(Atom::Long),
        (_, ResultKind::Double) => Kind::one(Atom::Double),
        (_, ResultKind::Boolean) => Kind::one(Atom::Boolean),
        (_, ResultKind::Array) => Kind::ARRAY,
        (_, ResultKind::Object) => Kind::OBJECT,
        (_, ResultKind::Any) => Kind::UNKNOWN,
    }
}

/// The literal text of an argument, without its quotes.
pub(super) fn literal(call: &Call, at: usize) -> Option<&str> {
    match &call.arguments.get(at)?.ungrouped().kind {
        NodeKind::Text(text) => text.get(1..text.len().saturating_sub(1)),
        _ => None,
    }
}
