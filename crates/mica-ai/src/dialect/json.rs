//! JSON that borrows what it says, to be written once.
//!
//! A request repeats the whole conversation, so its body is nearly all text that exists already. As a
//! [`serde_json::Value`] each text and each key would be copied before it is written, and freed afterwards, for every
//! turn. Promise: it is written as the value that it turns into is.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

/// A JSON value that borrows what it can.
#[derive(Debug)]
pub(crate) enum Json<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// A list.
    List(Vec<Json<'a>>),
    /// Members, in order.
    Object(Members<'a>),
    /// Something small.
    Value(Value),
    /// Something that others keep.
    Lent(&'a Value),
}

/// The members of an object, in the order they are written. A key is put in once.
#[derive(Debug, Default)]
pub(crate) struct Members<'a>(Vec<(&'static str, Json<'a>)>);

impl<'a> Members<'a> {
    /// Puts a member behind the others.
    pub(crate) fn insert(&mut self, key: &'static str, value: impl Into<Json<'a>>) {
        debug_assert!(self.0.iter().all(|(known, _)| *known != key), "{key} is there twice");
        self.0.push((key, value.into()));
    }
}

/// An object of these members.
macro_rules! object {
    ({ $($key:literal: $value:expr),* $(,)? }) => {{
        let mut members = $crate::dialect::json::Members::default();
        $(members.insert($key, $value);)*
        $crate::dialect::json::Json::Object(members)
    }};
}
pub(crate) use object;

impl<'a> Json<'a> {
    /// A member of an object.
    pub(crate) fn get(&self, key: &str) -> Option<&Json<'a>> {
        let Json::Object(members) = self else { return None };
        members.0.iter().find_map(|(known, value)| (*known == key).then_some(value))
    }

    /// A member of an object, to change it.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Json<'a>> {
        let Json::Object(members) = self else { return None };
        members.0.iter_mut().find_map(|(known, value)| (*known == key).then_some(value))
    }

    /// Puts a member behind the others, when it is an object.
    pub(crate) fn put(&mut self, key: &'static str, value: impl Into<Json<'a>>) {
        if let Json::Object(members) = self {
            members.insert(key, value);
        }
    }

    /// A text.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The bytes of it.
    pub(crate) fn written(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.size());
        match serde_json::to_writer(&mut out, self) {
            Ok(()) => out,
            // A value always has JSON, and memory takes all of it; were it not so, this says the same.
            Err(_) => self.to_value().to_string().into_bytes(),
        }
    }

    /// About how many bytes it takes: enough for nearly every body, so that it is not moved while it grows.
    fn size(&self) -> usize {
        /// Quotes, a comma, and what has to be escaped: one line break in 16 characters.
        const FRAME: usize = 4;
        /// What others keep are schemas of tools, and few are longer.
        const SCHEMA: usize = 1024;
        match self {
            Json::Text(text) => text.len() + text.len() / 16 + FRAME,
            Json::List(items) => items.iter().map(Json::size).sum::<usize>() + FRAME,
            Json::Object(members) => {
                members.0.iter().map(|(key, value)| key.len() + value.size() + FRAME).sum::<usize>() + FRAME
            }
            Json::Value(_) => 4 * FRAME,
            Json::Lent(_) => SCHEMA,
        }
    }

    /// The same as a value of its own.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Json::Text(text) => Value::String(text.as_ref().to_owned()),
            Json::List(items) => items.iter().map(Json::to_value).collect(),
            Json::Object(members) => Value::Object(
                members.0.iter().map(|(key, value)| ((*key).to_owned(), value.to_value())).collect(),
            ),
            Json::Value(value) => value.clone(),
            Json::Lent(value) => Value::clone(value),
        }
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Text(text) => serializer.serialize_str(text),
            Json::List(items) => serializer.collect_seq(items),
            Json::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.0.len()))?;
                for (key, value) in &members.0 {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
            Json::Value(value) => value.serialize(serializer),
            Json::Lent(value) => value.serialize(serializer),
        }
    }
}

impl<'a> From<&'a str> for Json<'a> {
    fn from(text: &'a str) -> Self {
        Json::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a String> for Json<'a> {
    fn from(text: &'a String) -> Self {
        Json::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Json<'_> {
    fn from(text: String) -> Self {
        Json::Text(Cow::Owned(text))
    }
}

impl<'a> From<Cow<'a, str>> for Json<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Json::Text(text)
    }
}

impl From<Value> for Json<'_> {
    fn from(value: Value) -> Self {
        Json::Value(value)
    }
}

impl<'a> From<&'a Value> for Json<'a> {
    fn from(value: &'a Value) -> Self {
        Json::Lent(value)
    }
}

impl<'a> From<Vec<Json<'a>>> for Json<'a> {
    fn from(items: Vec<Json<'a>>) -> Self {
        Json::List(items)
    }
}

impl<'a> FromIterator<Json<'a>> for Json<'a> {
    fn from_iter<I: IntoIterator<Item = Json<'a>>>(items: I) -> Self {
        Json::List(items.into_iter().collect())
    }
}

impl From<bool> for Json<'_> {
    fn from(value: bool) -> Self {
        Json::Value(Value::Bool(value))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Any JSON, with its texts and members lent where they can be.
    fn lent(value: &Value) -> Json<'_> {
        match value {
            Value::String(text) => text.into(),
            Value::Array(items) => items.iter().map(lent).collect(),
            Value::Object(members) if members.keys().all(|key| key == "k") => {
                let mut all = Members::default();
                for value in members.values() {
                    all.insert("k", lent(value));
                }
                Json::Object(all)
            }
            other => other.into(),
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(|number| json!(number)),
            any::<String>().prop_map(Value::String),
            "[\\x00-\\x7f\"\\\\\u{2028}é]{0,12}".prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                inner.clone().prop_map(|inner| json!({ "k": inner })),
                (inner.clone(), inner).prop_map(|(one, two)| json!({ "z": one, "a": two })),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_is_written_as_its_value_is(value in values()) {
            let json = lent(&value);
            prop_assert_eq!(json.to_value(), value.clone());
            prop_assert_eq!(String::from_utf8(json.written()).unwrap(), value.to_string());
        }
    }

    #[test]
    fn objects_keep_their_order() {
        let json = object!({ "z": "last", "a": json!(1), "list": vec![Json::from("x"), Json::from(true)] });
        assert_eq!(String::from_utf8(json.written()).unwrap(), r#"{"z":"last","a":1,"list":["x",true]}"#);
    }
}
