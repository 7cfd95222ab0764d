//! Which JSON types a schema accepts, as a set.
//!
//! The answer is an upper bound: what is in the set may still be refused by other keywords, what is not in it is
//! certainly refused. Coercion goes by it, so it reads only keywords whose meaning for types is certain.

use std::cell::Cell;
use std::ops::{BitAnd, BitOr};

use serde_json::{Map, Value};

/// How many schemas one judgement may look at. Schemas can be recursive and branch at every level; beyond this, nothing
/// is coerced any more and validation alone decides. An argument of ten thousand items stays well below it.
const FUEL: u32 = 200_000;

/// How deep references and branches of one schema are followed.
const DEPTH: u32 = 24;

/// A set of JSON types. A number without a fraction written as `1.0` counts as a fraction here: programs that want an
/// integer do not take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const NONE: Kinds = Kinds(0);
    pub(crate) const NULL: Kinds = Kinds(1);
    pub(crate) const BOOL: Kinds = Kinds(1 << 1);
    pub(crate) const INTEGER: Kinds = Kinds(1 << 2);
    pub(crate) const FRACTION: Kinds = Kinds(1 << 3);
    pub(crate) const STRING: Kinds = Kinds(1 << 4);
    pub(crate) const ARRAY: Kinds = Kinds(1 << 5);
    pub(crate) const OBJECT: Kinds = Kinds(1 << 6);
    pub(crate) const NUMBER: Kinds = Kinds(Self::INTEGER.0 | Self::FRACTION.0);
    pub(crate) const ANY: Kinds = Kinds(0x7f);

    /// The type of a value.
    pub(crate) fn of(value: &Value) -> Kinds {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOL,
            Value::Number(number) if number.is_f64() => Self::FRACTION,
            Value::Number(_) => Self::INTEGER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    fn named(name: &str) -> Kinds {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOL,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => Self::NONE,
        }
    }

    /// Whether the sets have a type in common.
    pub(crate) fn has(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    /// Without the types of another set.
    pub(crate) fn without(self, other: Kinds) -> Kinds {
        Kinds(self.0 & !other.0)
    }
}

impl BitOr for Kinds {
    type Output = Kinds;

    fn bitor(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }
}

impl BitAnd for Kinds {
    type Output = Kinds;

    fn bitand(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }
}

/// Reads a schema and what it refers to inside itself, within a bound.
pub(crate) struct Reader<'a> {
    root: &'a Value,
    fuel: Cell<u32>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(root: &'a Value) -> Self {
        Self { root, fuel: Cell::new(FUEL) }
    }

    /// Whether there is anything left to judge with.
    pub(crate) fn burn(&self) -> bool {
        let left = self.fuel.get();
        self.fuel.set(left.saturating_sub(1));
        left > 0
    }

    /// What a `$ref` of a schema points to. Only places inside the same document are known.
    pub(crate) fn target(&self, schema: &Map<String, Value>) -> Option<&'a Value> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        // The pointer is part of an address; only the characters that tools really escape are undone.
        self.root.pointer(&pointer.replace("%24", "$").replace("%20", " ").replace("%25", "%"))
    }

    /// The types a schema accepts.
    pub(crate) fn accepts(&self, schema: &'a Value) -> Kinds {
        self.accepts_within(schema, DEPTH)
    }

    fn accepts_within(&self, schema: &'a Value, depth: u32) -> Kinds {
        if depth == 0 || !self.burn() {
            return Kinds::ANY;
        }
        let schema = match schema {
            Value::Bool(false) => return Kinds::NONE,
            Value::Object(schema) => schema,
            _ => return Kinds::ANY,
        };
        let mut kinds = match schema.get("type") {
            Some(Value::String(name)) => Kinds::named(name),
            Some(Value::Array(names)) => union(names.iter().filter_map(Value::as_str).map(Kinds::named)),
            _ => Kinds::ANY,
        };
        if let Some(only) = schema.get("const") {
            kinds = kinds & Kinds::of(only);
        }
        if let Some(Value::Array(choices)) = schema.get("enum") {
            kinds = kinds & union(choices.iter().map(Kinds::of));
        }
        if let Some(target) = self.target(schema) {
            kinds = kinds & self.accepts_within(target, depth - 1);
        }
        for part in members(schema, "allOf") {
            kinds = kinds & self.accepts_within(part, depth - 1);
        }
        for word in ["anyOf", "oneOf"] {
            if schema.contains_key(word) {
                kinds =
                    kinds & union(members(schema, word).map(|branch| self.accepts_within(branch, depth - 1)));
            }
        }
        kinds
    }

    /// The schema of the items of an array, where there is one for all of them.
    pub(crate) fn items(&self, schema: &'a Value) -> Option<&'a Value> {
        self.items_within(schema, DEPTH)
    }

    fn items_within(&self, schema: &'a Value, depth: u32) -> Option<&'a Value> {
        let schema = schema.as_object()?;
        if depth == 0 || !self.burn() || schema.contains_key("prefixItems") {
            return None;
        }
        if let Some(items @ Value::Object(_)) = schema.get("items") {
            return Some(items);
        }
        if let Some(target) = self.target(schema) {
            return self.items_within(target, depth - 1);
        }
        if let Some(found) = members(schema, "allOf").find_map(|part| self.items_within(part, depth - 1)) {
            return Some(found);
        }
        let mut arrays = ["anyOf", "oneOf"]
            .into_iter()
            .flat_map(|word| members(schema, word))
            .filter(|branch| self.accepts(branch).has(Kinds::ARRAY));
        match (arrays.next(), arrays.next()) {
            (Some(only), None) => self.items_within(only, depth - 1),
            _ => None,
        }
    }

    /// The one branch of an `anyOf` or `oneOf` that a value can be meant for. None when there are several: guessing
    /// would change arguments that another branch takes as they are.
    pub(crate) fn branch(&self, branches: &'a Value, value: &Value) -> Option<&'a Value> {
        let mut fitting = branches.as_array()?.iter().filter(|branch| self.fits(branch, value, DEPTH));
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }

    fn fits(&self, schema: &'a Value, value: &Value, depth: u32) -> bool {
        if depth == 0 || !self.accepts(schema).has(Kinds::of(value)) {
            return false;
        }
        let (Some(schema), Some(members)) = (schema.as_object(), value.as_object()) else { return true };
        if let Some(target) = self.target(schema)
            && !self.fits(target, value, depth - 1)
        {
            return false;
        }
        let known = schema.get("properties").and_then(Value::as_object);
        let told_apart = members.iter().all(|(name, given)| {
            let Some(rule) = known.and_then(|known| known.get(name)) else {
                return schema.get("additionalProperties") != Some(&Value::Bool(false));
            };
            let is_it = rule.get("const").is_none_or(|only| only == given);
            is_it && rule.get("enum").and_then(Value::as_array).is_none_or(|all| all.contains(given))
        });
        told_apart && required(schema).all(|name| members.contains_key(name))
    }
}

/// The names that must be there.
pub(crate) fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The schemas in a list under a keyword.
pub(crate) fn members<'a>(schema: &'a Map<String, Value>, word: &str) -> impl Iterator<Item = &'a Value> {
    schema.get(word).and_then(Value::as_array).into_iter().flatten()
}

fn union(all: impl Iterator<Item = Kinds>) -> Kinds {
    all.fold(Kinds::NONE, BitOr::bitor)
}
