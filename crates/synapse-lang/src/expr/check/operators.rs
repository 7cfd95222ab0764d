//! What the operators make of kinds: the engine's table, atom by atom.

use super::kind::{Atom, Kind};
use crate::expr::ast::Operator;

/// What can come of an operator between two kinds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    /// The kind of the result, where there is one.
    pub kind: Kind,
    /// Whether some pairs are refused.
    pub refuses: bool,
}

impl Outcome {
    /// Whether it fails whatever the data.
    pub(super) const fn always_fails(&self) -> bool {
        self.kind.is_never() && self.refuses
    }
}

/// What an operator makes of two kinds. Operands without any value give no outcome: their failure is their own.
pub(super) fn outcome(operator: Operator, left: Kind, right: Kind) -> Outcome {
    let mut kind = Kind::NEVER;
    let mut refuses = false;
    for a in left.atoms() {
        for b in right.atoms() {
            match pair(operator, a, b) {
                Some(result) => kind = kind.or(result),
                None => refuses = true,
            }
        }
    }
    // One possible kind is certain, whatever the data.
    let open = (left.is_open() || right.is_open()) && kind.atoms().count() > 1;
    Outcome { kind: if open { kind.opened() } else { kind }, refuses }
}

/// The kind of the result for one pair; nothing when it is refused.
fn pair(operator: Operator, a: Atom, b: Atom) -> Option<Kind> {
    use Operator as O;
    let (left, right) = (Kind::one(a), Kind::one(b));
    let either = |kind: Kind| left.is(kind) || right.is(kind);
    let both = |kind: Kind| left.is(kind) && right.is(kind);
    let boolean = Kind::one(Atom::Boolean);
    match operator {
        O::Equal | O::NotEqual => Some(boolean),
        O::And | O::Or => both(Kind::BOOLEAN).then_some(boolean),
        // Longs are no numbers here.
        O::Less | O::LessEqual | O::Greater | O::GreaterEqual => both(Kind::NUMBER).then_some(boolean),
        O::Add if both(Kind::TEXT) => Some(Kind::one(Atom::Text)),
        O::Add | O::Subtract | O::Multiply | O::Divide | O::Modulo => {
            both(Kind::NUMERIC).then(|| number(operator, either(Kind::DOUBLE), either(Kind::LONG)))
        }
    }
}

/// The kind of a number: a double when one operand is, else a long, else an int or what it grows into.
const fn number(operator: Operator, double: bool, long: bool) -> Kind {
    let (int, wide) = (Kind::one(Atom::Int), Kind::one(Atom::Long));
    match operator {
        _ if double => Kind::one(Atom::Double),
        Operator::Divide if long => Kind::one(Atom::Double),
        Operator::Divide => int.or(Kind::one(Atom::Double)),
        _ if long => wide,
        Operator::Add | Operator::Multiply => int.or(wide),
        _ => int,
    }
}
