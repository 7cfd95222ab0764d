//! Whether a value may be stored in a variable of a declared type. Values of the engine must have exactly that type;
//! JSON scalars are converted.

use super::kind::{Atom, Kind};

/// How a kind fits a declared type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fit {
    /// Whatever the data.
    Always,
    /// For some data; for other data the mediator faults.
    Sometimes,
    /// For no data: the mediator always faults.
    Never,
}

impl Fit {
    /// How the result of an expression fits the `type` of a variable; nothing for a type that does not exist.
    #[must_use]
    pub fn of(kind: Kind, declared: &str) -> Option<Self> {
        // Numbers of JSON are cut to the type, silently.
        let numbers = Kind::of(&[
            Atom::MemberInt,
            Atom::MemberLong,
            Atom::MemberDouble,
            Atom::ElementInt,
            Atom::ElementDouble,
            Atom::Big,
        ]);
        let fits = match declared {
            "STRING" => return Some(Self::Always),
            // The text of the result is parsed.
            "XML" if kind.is(Kind::NUMERIC.or(Kind::BOOLEAN)) => return Some(Self::Never),
            "XML" if kind.is(Kind::one(Atom::Xml)) => return Some(Self::Always),
            "XML" => return Some(Self::Sometimes),
            "INTEGER" => numbers.or(Kind::one(Atom::Int)),
            "LONG" => numbers.or(Kind::one(Atom::Long)),
            "DOUBLE" => numbers.or(Kind::one(Atom::Double)),
            "BOOLEAN" => Kind::BOOLEAN,
            // A JSON scalar is stored as a plain string.
            "JSON" => Kind::OBJECT.or(Kind::ARRAY).or(Kind::SCALAR),
            _ => return None,
        };
        // Setting null changes nothing and does not fault.
        let fits = fits.or(Kind::NULL);
        Some(if kind.is(fits) {
            Self::Always
        } else if kind.may_be(fits) {
            Self::Sometimes
        } else {
            Self::Never
        })
    }
}
