//! Which events of a type are meant: conditions on fields that the product declared with their types.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Fields of something that happened, by name.
pub type Fields = BTreeMap<String, Value>;

/// What a field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldKind {
    /// A text.
    Text,
    /// A number.
    Number,
    /// True or false.
    Bool,
    /// A moment, as a text such as `2026-03-01T12:00:00Z`.
    Time,
}

impl FieldKind {
    fn takes(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Number => value.is_number(),
            Self::Bool => value.is_boolean(),
            Self::Time => time(value).is_some(),
        }
    }
}

impl fmt::Display for FieldKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "a text",
            Self::Number => "a number",
            Self::Bool => "true or false",
            Self::Time => "a moment such as \"2026-03-01T12:00:00Z\"",
        })
    }
}

/// The types of events that a product tells, with their fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventKinds {
    kinds: BTreeMap<String, BTreeMap<String, FieldKind>>,
}

impl EventKinds {
    /// Adds a type.
    #[must_use]
    pub fn with<'a>(mut self, event: &str, fields: impl IntoIterator<Item = (&'a str, FieldKind)>) -> Self {
        let fields = fields.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect();
        self.kinds.insert(event.to_owned(), fields);
        self
    }

    /// The fields of a type.
    ///
    /// # Errors
    /// In words, when there is no such type.
    pub fn fields(&self, event: &str) -> Result<&BTreeMap<String, FieldKind>, String> {
        self.kinds.get(event).ok_or_else(|| {
            let known: Vec<&str> = self.kinds.keys().map(String::as_str).collect();
            format!("there is no event {event:?}; there are: {}", known.join(", "))
        })
    }

    /// Whether the fields of something that happened are what they should be. Others than those declared are let through:
    /// no condition can name them.
    ///
    /// # Errors
    /// In words.
    pub fn check(&self, event: &str, fields: &Fields) -> Result<(), String> {
        for (name, kind) in self.fields(event)? {
            match fields.get(name) {
                Some(value) if !value.is_null() && !kind.takes(value) => {
                    return Err(format!("the field {name} of {event} must be {kind}, not {value}"));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// One thing that must be so.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Condition {
    /// The field.
    pub field: String,
    /// It is this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is: Option<Value>,
    /// It is not this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not: Option<Value>,
    /// It is one of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub one_of: Option<Vec<Value>>,
    /// It is no less, or no earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Value>,
    /// It is no more, or no later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<Value>,
    /// This is in it, in any case of letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// It is there, or is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exists: Option<bool>,
}

const OPERATORS: &str = "is, not, one_of, at_least, at_most, contains or exists";

impl Condition {
    /// Whether it can be judged, for fields of these kinds.
    ///
    /// # Errors
    /// In words.
    pub fn check(&self, fields: &BTreeMap<String, FieldKind>) -> Result<(), String> {
        let name = &self.field;
        let Some(kind) = fields.get(name) else {
            let known: Vec<&str> = fields.keys().map(String::as_str).collect();
            return Err(format!("there is no field {name:?}; there are: {}", known.join(", ")));
        };
        let said = [
            self.is.is_some(),
            self.not.is_some(),
            self.one_of.is_some(),
            self.at_least.is_some(),
            self.at_most.is_some(),
            self.contains.is_some(),
            self.exists.is_some(),
        ];
        if said.iter().filter(|said| **said).count() != 1 {
            return Err(format!("say exactly one of {OPERATORS} for {name:?}"));
        }
        let orders = matches!(kind, FieldKind::Number | FieldKind::Time);
        if (self.at_least.is_some() || self.at_most.is_some()) && !orders {
            return Err(format!("{name:?} is {kind}: there is no more or less of it"));
        }
        if self.contains.is_some() && *kind != FieldKind::Text {
            return Err(format!("{name:?} is {kind}: nothing is contained in it"));
        }
        let single = [&self.is, &self.not, &self.at_least, &self.at_most].into_iter().flatten();
        let wrong = single.chain(self.one_of.iter().flatten()).find(|value| !kind.takes(value));
        match wrong {
            Some(value) => Err(format!("{name:?} is {kind}, and can never be {value}")),
            None => Ok(()),
        }
    }

    /// Whether it is so. Of a field that is not there, nothing is so but that it is not.
    pub fn holds(&self, fields: &Fields) -> bool {
        let found = fields.get(&self.field).filter(|value| !value.is_null());
        if let Some(exists) = self.exists {
            return found.is_some() == exists;
        }
        let Some(found) = found else { return false };
        let is = |value: &Value| order(found, value) == Some(std::cmp::Ordering::Equal);
        self.is.as_ref().is_none_or(is)
            && self.not.as_ref().is_none_or(|value| !is(value))
            && self.one_of.as_ref().is_none_or(|values| values.iter().any(is))
            && self
                .at_least
                .as_ref()
                .is_none_or(|value| order(found, value).is_some_and(std::cmp::Ordering::is_ge))
            && self
                .at_most
                .as_ref()
                .is_none_or(|value| order(found, value).is_some_and(std::cmp::Ordering::is_le))
            && self.contains.as_ref().is_none_or(|part| {
                found.as_str().is_some_and(|text| text.to_lowercase().contains(&part.to_lowercase()))
            })
    }
}

/// Numbers and moments by what they mean, everything else by what it is.
fn order(one: &Value, two: &Value) -> Option<std::cmp::Ordering> {
    if let (Some(one), Some(two)) = (one.as_f64(), two.as_f64()) {
        return one.partial_cmp(&two);
    }
    if let (Some(one), Some(two)) = (time(one), time(two)) {
        return Some(one.cmp(&two));
    }
    (one == two).then_some(std::cmp::Ordering::Equal)
}

fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests;
