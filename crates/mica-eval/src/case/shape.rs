//! Which keys a table of a case has, and which words a value knows: asked of the types that cases are read into.
//!
//! Promise: there is no second list. What the parser takes is what errors name, and what the docs are held to by tests.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// What stands in a path for a member of a list, or for a key that may be anything.
const ANY: &str = "*";

/// What texts are while types are asked: it can be read as a text and as a point in time.
const TEXT: &str = "2026-01-01T00:00:00Z";

/// Types that are made of themselves are asked so far.
const DEEPEST: usize = 12;

/// What may stand in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A table with these keys.
    Keys(&'static [&'static str]),
    /// One of these words.
    Words(&'static [&'static str]),
}

impl Shape {
    /// The keys, or the words.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Keys(names) | Self::Words(names) => names,
        }
    }
}

/// What may stand where in something that is read.
#[derive(Debug, Clone, Default)]
pub struct Shapes(BTreeMap<Vec<String>, Shape>);

impl Shapes {
    /// Asks a type.
    pub fn of<T: DeserializeOwned>() -> Self {
        let asking = Asking::default();
        // A type that takes none of the values it is asked with is passed over, and the others are asked again.
        while T::deserialize(Walker(&asking)).is_err() {
            let Some(at) = asking.0.borrow_mut().stuck.take() else { break };
            if at.is_empty() || !asking.0.borrow_mut().passed.insert(at) {
                break;
            }
            asking.0.borrow_mut().path.clear();
        }
        Self(asking.0.into_inner().found)
    }

    /// What may stand at a place, by its keys; the number of a member of a list is a key as well.
    pub(super) fn at(&self, path: &[String]) -> Option<Shape> {
        let same = |known: &[String]| {
            known.len() == path.len()
                && known.iter().zip(path).all(|(known, key)| known == ANY || known == key)
        };
        self.0.iter().find(|(known, _)| same(known)).map(|(_, shape)| *shape)
    }

    /// All of it, by the place it stands in: `step.*.expect`.
    pub fn all(&self) -> impl Iterator<Item = (String, Shape)> {
        self.0.iter().map(|(path, shape)| (path.join("."), *shape))
    }
}

#[derive(Default)]
struct Asking(RefCell<Asked>);

#[derive(Default)]
struct Asked {
    path: Vec<String>,
    found: BTreeMap<Vec<String>, Shape>,
    /// Places that are passed over.
    passed: BTreeSet<Vec<String>>,
    /// The deepest place at which it went wrong.
    stuck: Option<Vec<String>>,
}

impl Asking {
    fn found(&self, shape: Shape) {
        let mut asked = self.0.borrow_mut();
        let path = asked.path.clone();
        asked.found.insert(path, shape);
    }

    /// Goes a step down for what is done there.
    fn within<T, E>(&self, key: &str, done: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.0.borrow_mut().path.push(key.to_owned());
        let done = done();
        let mut asked = self.0.borrow_mut();
        if done.is_err() && asked.stuck.is_none() {
            asked.stuck = Some(asked.path.clone());
        }
        asked.path.pop();
        done
    }

    fn is_passed(&self, key: &str) -> bool {
        let asked = self.0.borrow();
        let mut path = asked.path.clone();
        path.push(key.to_owned());
        path.len() > DEEPEST || asked.passed.contains(&path)
    }
}

/// Reads nothing: it hears what is asked for.
#[derive(Clone, Copy)]
struct Walker<'a>(&'a Asking);

/// Something does not take what it is asked with.
#[derive(Debug)]
struct Stuck;

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stuck")
    }
}

impl std::error::Error for Stuck {}

impl de::Error for Stuck {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

impl<'de> Deserializer<'de> for Walker<'_> {
    type Error = Stuck;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stuck> {
        visitor.visit_str(TEXT)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stuck> {
        visitor.visit_bool(false)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stuck> {
        visitor.visit_u64(1)
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stuck> {
        visitor.visit_u64(1)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stuck> {
        visitor.visit_u64(1)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stuck> {
        visitor.visit_u64(1)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stuck> {
        visitor.visit_u64(1)
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stuck> {
        visitor.visit_u64(1)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stuck> {
        visitor.visit_f64(1.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stuck> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Stuck> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stuck> {
        visitor.visit_seq(Members { walker: self, keys: &[ANY], key: None })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stuck> {
        visitor.visit_map(Members { walker: self, keys: &[ANY], key: None })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stuck> {
        self.0.found(Shape::Keys(keys));
        visitor.visit_map(Members { walker: self, keys, key: None })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stuck> {
        self.0.found(Shape::Words(words));
        visitor.visit_enum(StrDeserializer::<Stuck>::new(words.first().copied().unwrap_or_default()))
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i128 u128 f32 char str string bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

/// What is in a list or a table.
struct Members<'a> {
    walker: Walker<'a>,
    keys: &'static [&'static str],
    key: Option<&'static str>,
}

impl Members<'_> {
    fn step(&mut self) -> Option<&'static str> {
        while let Some((key, rest)) = self.keys.split_first() {
            self.keys = rest;
            if !self.walker.0.is_passed(key) {
                self.key = Some(key);
                return Some(key);
            }
        }
        None
    }
}

impl<'de> SeqAccess<'de> for Members<'_> {
    type Error = Stuck;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Stuck> {
        let Some(key) = self.step() else { return Ok(None) };
        self.walker.0.within(key, || seed.deserialize(self.walker)).map(Some)
    }
}

impl<'de> MapAccess<'de> for Members<'_> {
    type Error = Stuck;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Stuck> {
        let Some(key) = self.step() else { return Ok(None) };
        self.walker.0.within(key, || seed.deserialize(StrDeserializer::<Stuck>::new(key))).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Stuck> {
        let key = self.key.take().unwrap_or_default();
        self.walker.0.within(key, || seed.deserialize(self.walker))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    #[allow(dead_code, reason = "only asked")]
    struct Part {
        when: Option<Inner>,
        all: BTreeMap<String, Vec<Inner>>,
        odd: std::net::Ipv4Addr,
        word: Word,
        free: serde_json::Value,
    }

    #[derive(serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code, reason = "only asked")]
    enum Word {
        OneThing,
        Other(u8),
    }

    #[derive(serde::Deserialize)]
    #[serde(default)]
    #[derive(Default)]
    #[allow(dead_code, reason = "only asked")]
    struct Inner {
        count: usize,
    }

    #[test]
    fn types_say_what_they_take() {
        let shapes = Shapes::of::<Part>();
        let all: Vec<(String, Shape)> = shapes.all().collect();
        assert_eq!(
            all,
            [
                (String::new(), Shape::Keys(&["when", "all", "odd", "word", "free"])),
                ("all.*.*".to_owned(), Shape::Keys(&["count"])),
                ("when".to_owned(), Shape::Keys(&["count"])),
                ("word".to_owned(), Shape::Words(&["one_thing", "other"])),
            ]
        );
        let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(shapes.at(&path("all.x.3")), Some(Shape::Keys(&["count"])));
        assert_eq!(shapes.at(&path("free")), None);
    }
}
