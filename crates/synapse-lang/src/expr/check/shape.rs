//! The shape of JSON: what a sample or a schema tells about a body or a variable.

use std::collections::BTreeMap;

use super::kind::{Atom, Kind};

/// The shape of a JSON value.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Shape {
    /// Nothing is known.
    #[default]
    Any,
    /// null.
    Null,
    /// A boolean.
    Boolean,
    /// A string.
    Text,
    /// An integer in the range of an int, or negative.
    Int,
    /// A larger integer.
    Long,
    /// A decimal.
    Double,
    /// A number beyond long, or not exact as a double.
    Big,
    /// An object.
    Object {
        /// Its fields.
        fields: BTreeMap<String, Shape>,
        /// Whether there may be others.
        more: bool,
    },
    /// An array of known length.
    Array(Vec<Shape>),
    /// An array of unknown length.
    List(Box<Shape>),
}

impl Shape {
    /// The kind of such a value as the field of an object.
    #[must_use]
    pub fn member(&self) -> Kind {
        let atom = match self {
            Self::Any => return Kind::MEMBER,
            Self::Null => Atom::Null,
            Self::Boolean => Atom::MemberBoolean,
            Self::Text => Atom::MemberText,
            Self::Int => Atom::MemberInt,
            Self::Long => Atom::MemberLong,
            Self::Double => Atom::MemberDouble,
            Self::Big => Atom::Big,
            Self::Object { .. } => Atom::Object,
            Self::Array(_) | Self::List(_) => Atom::Array,
        };
        Kind::one(atom)
    }

    /// The kind of such a value as an element of an array, or as a whole.
    #[must_use]
    pub fn element(&self) -> Kind {
        match self {
            Self::Any => Kind::ELEMENT,
            Self::Int => Kind::one(Atom::ElementInt),
            Self::Long | Self::Double => Kind::one(Atom::ElementDouble),
            _ => self.member(),
        }
    }

    /// What a field of it is; nothing when there certainly is none.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Self> {
        match self {
            Self::Any => Some(Self::Any),
            Self::Object { fields, more } => fields.get(name).cloned().or_else(|| more.then_some(Self::Any)),
            _ => None,
        }
    }

    /// What an element of it is; nothing when there certainly is none.
    #[must_use]
    pub fn at(&self, index: i64) -> Option<Self> {
        match self {
            Self::Any => Some(Self::Any),
            Self::List(element) => Some((**element).clone()),
            Self::Array(items) => {
                let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
                let at = if index < 0 { index.saturating_add(length) } else { index };
                usize::try_from(at).ok().and_then(|at| items.get(at)).cloned()
            }
            _ => None,
        }
    }

    /// The names of the fields, when all are known.
    #[must_use]
    pub fn fields(&self) -> Vec<&str> {
        match self {
            Self::Object { fields, .. } => fields.keys().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }
}
