//! The members of a JSON object: in order of first appearance, found by name without a walk.

use std::collections::HashMap;

use super::Json;

/// From this many members on, names are looked up in an index. Below, walking a short list is quicker than
/// hashing and costs no second copy of the names.
const INDEXED_FROM: usize = 12;

/// Members in order. A name that comes twice keeps its first place and its last value.
#[derive(Debug, Clone, Default)]
pub struct Object {
    members: Vec<(String, Json)>,
    places: HashMap<String, usize>,
}

impl Object {
    /// An object without members.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many members there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no member.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The value of a member.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.place(name).and_then(|place| self.members.get(place)).map(|(_, value)| value)
    }

    /// Whether there is a member of that name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    /// Sets a member; a new name goes to the end.
    pub fn insert(&mut self, name: impl Into<String>, value: Json) {
        let name = name.into();
        if let Some(member) = self.place(&name).and_then(|place| self.members.get_mut(place)) {
            member.1 = value;
            return;
        }
        let place = self.members.len();
        if place >= INDEXED_FROM {
            if self.places.is_empty() {
                self.places =
                    self.members.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
            }
            self.places.insert(name.clone(), place);
        }
        self.members.push((name, value));
    }

    /// The members in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Json)> + DoubleEndedIterator {
        self.members.iter().map(|(name, value)| (name.as_str(), value))
    }

    fn place(&self, name: &str) -> Option<usize> {
        if self.places.is_empty() {
            self.members.iter().position(|(known, _)| known == name)
        } else {
            self.places.get(name).copied()
        }
    }
}

/// The order of members says nothing about equality.
impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

impl<N: Into<String>> FromIterator<(N, Json)> for Object {
    fn from_iter<I: IntoIterator<Item = (N, Json)>>(members: I) -> Self {
        let mut object = Self::new();
        for (name, value) in members {
            object.insert(name, value);
        }
        object
    }
}
