//! What the operators make of kinds: the engine's table, atom by atom.

use super::kind::{Atom, Kind};
use crate::expr::ast::Operator;

/// Why an operator refuses two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// One of them is null.
    Null,
    /// One of them is a long, and comparisons know only ints and doubles.
    Long,
    /// They are of the wrong kinds.
    Kinds,
}

/// What can come of an operator between two kinds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    /// The kind of the result, where there is one.
    pub kind: Kind,
    /// Why some pairs are refused; the gravest reason.
    pub refusal: Option<Refusal>,
}

impl Outcome {
    /// Whether it fails whatever the data.
    pub(super) const fn always_fails(&self) -> bool {
        self.kind.is_never() && self.refusal.is_some()
    }
}

/// What an operator makes of two kinds. Operands without any value give no outcome: their failure is their own.
pub(super) fn outcome(operator: Operator, left: Kind, right: Kind) -> Outcome {
    let mut kind = Kind::NEVER;
    let mut refusal = None;
    for a in left.atoms() {
        for b in right.atoms() {
            match pair(operator, a, b) {
                Ok(result) => kind = kind.or(result),
                // Of several reasons the one about kinds says most.
                Err(why) => {
                    refusal = match (refusal, why) {
                        (None | Some(Refusal::Null), _) => Some(why),
                        (Some(Refusal::Long), Refusal::Kinds) => Some(why),
                        (kept, _) => kept,
                    }
                }
            }
        }
    }
    let open = left.is_open() || right.is_open();
    Outcome { kind: if open && !kind.is_never() { kind.opened() } else { kind }, refusal }
}

fn pair(operator: Operator, a: Atom, b: Atom) -> Result<Kind, Refusal> {
    use Operator as O;
    let (left, right) = (Kind::one(a), Kind::one(b));
    let either = |kind: Kind| left.is(kind) || right.is(kind);
    let both = |kind: Kind| left.is(kind) && right.is(kind);
    if matches!(operator, O::Equal | O::NotEqual) {
        return Ok(Kind::one(Atom::Boolean));
    }
    if either(Kind::NULL) {
        return Err(Refusal::Null);
    }
    match operator {
        O::And | O::Or if both(Kind::BOOLEAN) => Ok(Kind::one(Atom::Boolean)),
        O::Less | O::LessEqual | O::Greater | O::GreaterEqual => {
            if both(Kind::NUMBER) {
                Ok(Kind::one(Atom::Boolean))
            } else if both(Kind::NUMERIC) {
                Err(Refusal::Long)
            } else {
                Err(Refusal::Kinds)
            }
        }
        O::Add if both(Kind::TEXT) => Ok(Kind::one(Atom::Text)),
        O::Add | O::Subtract | O::Multiply | O::Divide | O::Modulo if both(Kind::NUMERIC) => {
            Ok(number(operator, either(Kind::DOUBLE), either(Kind::LONG)))
        }
        _ => Err(Refusal::Kinds),
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
