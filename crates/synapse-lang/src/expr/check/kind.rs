//! Kinds of values, as far as they decide what the engine does.
//!
//! The engine asks a value whether it is an int, a long, a double, a string or a boolean, and the answer depends on
//! where the value came from: a number in an array counts as a double, the same number in an object does not. So a
//! kind here is a set of [`Atom`]s, each with one fixed answer to every question, and a mark for kinds of which only
//! part is known.

use std::fmt;

/// A sort of value that behaves the same everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Atom {
    /// JSON null, or the literal.
    Null,
    /// A variable that holds a map (the result of a connector); used as a whole it reads as null.
    Map,
    /// An int: a literal, a result, the text of a header.
    Int,
    /// A long that is too large for an int, or comes from `now()`, `.length()` or a `LONG` variable.
    Long,
    /// A double.
    Double,
    /// A string.
    Text,
    /// A boolean.
    Boolean,
    /// An integer of a JSON object, small enough for an int.
    MemberInt,
    /// An integer of a JSON object, too large for an int.
    MemberLong,
    /// A decimal of a JSON object.
    MemberDouble,
    /// A JSON string.
    MemberText,
    /// A JSON boolean.
    MemberBoolean,
    /// An integer directly in a JSON array, or a whole JSON variable: int and double at once.
    ElementInt,
    /// Any other number directly in a JSON array.
    ElementDouble,
    /// A number beyond long, or not exact as a double: no number for the engine.
    Big,
    /// A JSON object.
    Object,
    /// A JSON array.
    Array,
    /// An XML element.
    Xml,
    /// Several XML nodes, from `xpath()` where an object is wanted.
    Nodes,
}

impl Atom {
    /// All atoms.
    pub const ALL: [Self; 19] = [
        Self::Null,
        Self::Map,
        Self::Int,
        Self::Long,
        Self::Double,
        Self::Text,
        Self::Boolean,
        Self::MemberInt,
        Self::MemberLong,
        Self::MemberDouble,
        Self::MemberText,
        Self::MemberBoolean,
        Self::ElementInt,
        Self::ElementDouble,
        Self::Big,
        Self::Object,
        Self::Array,
        Self::Xml,
        Self::Nodes,
    ];

    const fn bit(self) -> u32 {
        1 << self as u8
    }

    /// How people call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Map => "a map",
            Self::Int | Self::MemberInt | Self::ElementInt => "an int",
            Self::Long | Self::MemberLong => "a long",
            Self::Double | Self::MemberDouble | Self::ElementDouble => "a double",
            Self::Text | Self::MemberText => "a string",
            Self::Boolean | Self::MemberBoolean => "a boolean",
            Self::Big => "a number too large for arithmetic",
            Self::Object => "a JSON object",
            Self::Array => "a JSON array",
            Self::Xml => "XML",
            Self::Nodes => "a list of XML nodes",
        }
    }
}

/// What a value may be: a set of atoms.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kind {
    atoms: u32,
    /// Which of the atoms it is depends on data that nothing is known about.
    open: bool,
}

impl Kind {
    /// No value: the evaluation always fails.
    pub const NEVER: Self = Self { atoms: 0, open: false };
    /// Anything.
    pub const UNKNOWN: Self = Self { atoms: (1 << Atom::ALL.len()) - 1, open: true };
    /// null, or a map that reads as null.
    pub const NULL: Self = Self::of(&[Atom::Null, Atom::Map]);
    /// A string.
    pub const TEXT: Self = Self::of(&[Atom::Text, Atom::MemberText]);
    /// A boolean.
    pub const BOOLEAN: Self = Self::of(&[Atom::Boolean, Atom::MemberBoolean]);
    /// What the engine takes for an int.
    pub const INT: Self = Self::of(&[Atom::Int, Atom::MemberInt, Atom::ElementInt]);
    /// What the engine takes for a long and for nothing else.
    pub const LONG: Self = Self::of(&[Atom::Long, Atom::MemberLong]);
    /// What the engine takes for a double.
    pub const DOUBLE: Self =
        Self::of(&[Atom::Double, Atom::MemberDouble, Atom::ElementInt, Atom::ElementDouble]);
    /// What can be compared with `<`, and what `isNumber` accepts: an int or a double.
    pub const NUMBER: Self = Self::INT.or(Self::DOUBLE);
    /// What arithmetic accepts.
    pub const NUMERIC: Self = Self::NUMBER.or(Self::LONG);
    /// A JSON object.
    pub const OBJECT: Self = Self::of(&[Atom::Object]);
    /// A JSON array.
    pub const ARRAY: Self = Self::of(&[Atom::Array]);
    /// Header, property, parameter or configuration text: a number when it reads as one.
    pub const AUTO: Self = Self::of(&[Atom::Int, Atom::Long, Atom::Double, Atom::Text]);
    /// The value of a field of unknown JSON.
    pub const MEMBER: Self = Self {
        open: true,
        ..Self::of(&[
            Atom::Null,
            Atom::MemberInt,
            Atom::MemberLong,
            Atom::MemberDouble,
            Atom::MemberText,
            Atom::MemberBoolean,
            Atom::Big,
            Atom::Object,
            Atom::Array,
        ])
    };
    /// An element of an unknown JSON array.
    pub const ELEMENT: Self = Self {
        open: true,
        ..Self::of(&[
            Atom::Null,
            Atom::ElementInt,
            Atom::ElementDouble,
            Atom::MemberText,
            Atom::MemberBoolean,
            Atom::Big,
            Atom::Object,
            Atom::Array,
        ])
    };
    /// JSON scalars.
    pub const SCALAR: Self = Self::of(&[
        Atom::MemberInt,
        Atom::MemberLong,
        Atom::MemberDouble,
        Atom::MemberText,
        Atom::MemberBoolean,
        Atom::ElementInt,
        Atom::ElementDouble,
        Atom::Big,
    ]);

    /// The kind of these atoms.
    #[must_use]
    pub const fn of(atoms: &[Atom]) -> Self {
        let mut set = 0;
        let mut at = 0;
        while at < atoms.len() {
            set |= atoms[at].bit();
            at += 1;
        }
        Self { atoms: set, open: false }
    }

    /// The kind of one atom.
    #[must_use]
    pub const fn one(atom: Atom) -> Self {
        Self { atoms: atom.bit(), open: false }
    }

    /// Either of two.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self { atoms: self.atoms | other.atoms, open: self.open || other.open }
    }

    /// The part that is in the other, too.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self { atoms: self.atoms & other.atoms, open: self.open }
    }

    /// The part that is not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self { atoms: self.atoms & !other.atoms, open: self.open }
    }

    /// The same atoms, of which the data decides.
    #[must_use]
    pub const fn opened(self) -> Self {
        Self { atoms: self.atoms, open: true }
    }

    /// The same atoms, each of which is to be reckoned with.
    #[must_use]
    pub const fn closed(self) -> Self {
        Self { atoms: self.atoms, open: false }
    }

    /// Whether it depends on data that nothing is known about.
    #[must_use]
    pub const fn is_open(self) -> bool {
        self.open
    }

    /// Whether no value is possible.
    #[must_use]
    pub const fn is_never(self) -> bool {
        self.atoms == 0
    }

    /// Whether it can be one of the other.
    #[must_use]
    pub const fn may_be(self, other: Self) -> bool {
        self.atoms & other.atoms != 0
    }

    /// Whether it is certainly one of the other. Nothing is certain about what never has a value.
    #[must_use]
    pub const fn is(self, other: Self) -> bool {
        self.atoms != 0 && self.atoms & !other.atoms == 0
    }

    /// Whether it certainly has a value that is none of the other.
    #[must_use]
    pub const fn cannot_be(self, other: Self) -> bool {
        self.atoms != 0 && self.atoms & other.atoms == 0
    }

    /// Its atoms.
    pub fn atoms(self) -> impl Iterator<Item = Atom> {
        Atom::ALL.into_iter().filter(move |atom| self.atoms & atom.bit() != 0)
    }
}

impl fmt::Display for Kind {
    /// For people: `an int or a string`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.open && self.atoms().count() > 4 {
            return f.write_str("a value of unknown kind");
        }
        let mut names: Vec<&str> = self.atoms().map(Atom::name).collect();
        names.dedup();
        let mut seen = Vec::new();
        names.retain(|name| {
            !seen.contains(name) && {
                seen.push(*name);
                true
            }
        });
        match names.as_slice() {
            [] => f.write_str("no value"),
            [one] => f.write_str(one),
            [first @ .., last] => write!(f, "{} or {last}", first.join(", ")),
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.atoms()).finish()?;
        f.write_str(if self.open { "?" } else { "" })
    }
}
