//! Coercion of arguments, only where the schema asks for it and nothing is lost.
//!
//! Models often write the right value in the wrong notation: a number in quotes, a list of one without its brackets, an
//! object as JSON text. Sending those back costs a turn and teaches nothing. What is changed is reported.
//!
//! Never done: an empty text to a number, a number that would be rounded, a choice by likeness, a guess between two
//! readings.

use std::fmt;

use serde_json::{Map, Value};

use super::decimal;
use super::kinds::{Kinds, Reader, members, required};

/// How deep arguments are followed. The parser stops at 128; no real schema comes near this.
const DEPTH: u32 = 64;

/// One value that was changed before validation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coercion {
    /// Where, as a JSON pointer.
    pub path: String,
    /// How.
    pub change: Change,
}

/// How a value was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// `"12"` to `12`.
    TextToNumber,
    /// `"true"` to `true`.
    TextToBoolean,
    /// `1.0` to `1`.
    FloatToInteger,
    /// `12` or `true` to text.
    ScalarToText,
    /// `x` to `[x]`.
    ValueToList,
    /// JSON text to the object or list it spells.
    TextToJson,
    /// `null` for something optional: taken out.
    NullDropped,
}

impl fmt::Display for Coercion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.change {
            Change::TextToNumber => "a number was written as text",
            Change::TextToBoolean => "a boolean was written as text",
            Change::FloatToInteger => "an integer was written with a fraction of zero",
            Change::ScalarToText => "text was written without quotes",
            Change::ValueToList => "a list of one was written without brackets",
            Change::TextToJson => "JSON was written as text",
            Change::NullDropped => "null was given for something optional",
        };
        write!(f, "{}: {how}", self.path)
    }
}

/// Changes arguments to what their schema asks for, where that is certain. Answers what was changed.
pub fn coerce(schema: &Value, args: &mut Value) -> Vec<Coercion> {
    let mut coercing = Coercing { reader: Reader::new(schema), path: String::new(), done: Vec::new() };
    coercing.value(schema, args, DEPTH);
    coercing.done
}

struct Coercing<'a> {
    reader: Reader<'a>,
    path: String,
    done: Vec<Coercion>,
}

impl<'a> Coercing<'a> {
    fn value(&mut self, schema: &'a Value, value: &mut Value, depth: u32) {
        if depth == 0 || !self.reader.burn() {
            return;
        }
        let wanted = self.reader.accepts(schema);
        if !wanted.has(Kinds::of(value))
            && let Some((better, change)) = self.converted(schema, value, wanted)
        {
            *value = better;
            self.report(change);
        }
        let Value::Object(schema) = schema else { return };
        if let Some(target) = self.reader.target(schema) {
            self.value(target, value, depth - 1);
        }
        for part in members(schema, "allOf") {
            self.value(part, value, depth - 1);
        }
        for word in ["anyOf", "oneOf"] {
            let branch = schema.get(word).and_then(|branches| self.reader.branch(branches, value));
            if let Some(branch) = branch {
                self.value(branch, value, depth - 1);
            }
        }
        match value {
            Value::Object(object) => self.object(schema, object, depth - 1),
            Value::Array(items) => self.array(schema, items, depth - 1),
            _ => {}
        }
    }

    fn object(&mut self, schema: &'a Map<String, Value>, object: &mut Map<String, Value>, depth: u32) {
        let known = schema.get("properties").and_then(Value::as_object);
        for (name, rule) in known.into_iter().flatten() {
            let Some(given) = object.get_mut(name) else { continue };
            let optional = !required(schema).any(|needed| needed == name);
            if given.is_null() && optional && !self.reader.accepts(rule).has(Kinds::NULL) {
                object.shift_remove(name);
                self.at(name, |this| this.report(Change::NullDropped));
            } else {
                self.at(name, |this| this.value(rule, given, depth));
            }
        }
        // Which names a pattern takes is for the validator to say; without patterns, the rest is known.
        if let Some(rest @ Value::Object(_)) = schema.get("additionalProperties")
            && !schema.contains_key("patternProperties")
        {
            for (name, given) in object.iter_mut() {
                if known.is_none_or(|known| !known.contains_key(name)) {
                    self.at(name, |this| this.value(rest, given, depth));
                }
            }
        }
    }

    fn array(&mut self, schema: &'a Map<String, Value>, items: &mut [Value], depth: u32) {
        let first: Vec<&Value> = members(schema, "prefixItems").collect();
        for (index, item) in items.iter_mut().enumerate() {
            if let Some(rule) = first.get(index).copied().or_else(|| schema.get("items")) {
                self.at(&index.to_string(), |this| this.value(rule, item, depth));
            }
        }
    }

    /// The value in the notation that is wanted. `wanted` does not have the type of the value.
    fn converted(&self, schema: &'a Value, value: &Value, wanted: Kinds) -> Option<(Value, Change)> {
        let scalar = match value {
            Value::String(text) => from_text(text, wanted),
            Value::Number(number) if number.is_f64() && wanted.has(Kinds::INTEGER) => {
                decimal::whole(number).map(|whole| (Value::Number(whole), Change::FloatToInteger))
            }
            Value::Number(_) | Value::Bool(_) if wanted.without(Kinds::NULL) == Kinds::STRING => {
                Some((Value::String(value.to_string()), Change::ScalarToText))
            }
            _ => None,
        };
        if scalar.is_some() {
            return scalar;
        }
        if value.is_null() || wanted.without(Kinds::NULL) != Kinds::ARRAY {
            return None;
        }
        let items = self.reader.accepts(self.reader.items(schema)?);
        if items == Kinds::ANY {
            return None;
        }
        let item =
            if items.has(Kinds::of(value)) { value.clone() } else { from_text(value.as_str()?, items)?.0 };
        Some((Value::Array(vec![item]), Change::ValueToList))
    }

    fn at(&mut self, step: &str, what: impl FnOnce(&mut Self)) {
        let before = self.path.len();
        self.path.push('/');
        self.path.push_str(&step.replace('~', "~0").replace('/', "~1"));
        what(self);
        self.path.truncate(before);
    }

    fn report(&mut self, change: Change) {
        self.done.push(Coercion { path: self.path.clone(), change });
    }
}

fn from_text(text: &str, wanted: Kinds) -> Option<(Value, Change)> {
    if wanted.has(Kinds::NUMBER)
        && let Some(number) = decimal::read(text)
    {
        if wanted.has(Kinds::of(&Value::Number(number.clone()))) {
            return Some((Value::Number(number), Change::TextToNumber));
        }
        return decimal::whole(&number).map(|whole| (Value::Number(whole), Change::TextToNumber));
    }
    match text {
        "true" if wanted.has(Kinds::BOOL) => return Some((Value::Bool(true), Change::TextToBoolean)),
        "false" if wanted.has(Kinds::BOOL) => return Some((Value::Bool(false), Change::TextToBoolean)),
        _ => {}
    }
    if wanted.has(Kinds::OBJECT | Kinds::ARRAY) && text.trim_start().starts_with(['{', '[']) {
        let read: Value = serde_json::from_str(text).ok()?;
        return wanted.has(Kinds::of(&read)).then_some((read, Change::TextToJson));
    }
    None
}
