//! What must be so of one thing that is looked at: equal, with some words, there, a number within bounds, a time nearby.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::duration;

/// What must be so. All of what is said must.
///
/// What is not there (`null`) is nothing but `gone`: words that it should lack are no reason to pass.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Holds {
    /// It is this.
    pub equals: Option<Value>,
    /// It is not this.
    pub not: Option<Value>,
    /// Texts that it has: parts of a text, or members of a list.
    #[serde(deserialize_with = "super::read::words")]
    pub has: Vec<String>,
    /// Texts that it has not.
    #[serde(deserialize_with = "super::read::words")]
    pub lacks: Vec<String>,
    /// Regular expressions that find something in it.
    #[serde(deserialize_with = "super::read::words")]
    pub matches: Vec<String>,
    /// Members of a list: for each of these, one that has all of it.
    pub includes: Vec<Value>,
    /// Members of a list: for none of these, one that has all of it.
    pub excludes: Vec<Value>,
    /// It is there, or not.
    pub exists: Option<bool>,
    /// It is not there.
    pub gone: bool,
    /// It is as it was when the case began.
    pub same: bool,
    /// A number, at least this.
    pub at_least: Option<f64>,
    /// A number, at most this.
    pub at_most: Option<f64>,
    /// A number or a time, about this.
    pub near: Option<Near>,
    /// So many members, or characters of a text.
    pub count: Option<usize>,
}

/// About this.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Near {
    /// The number, or the time as text.
    pub value: Value,
    /// How far off it may be: a number, or a duration as text.
    pub within: Value,
}

/// What was expected, and is not so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlike {
    /// What was expected.
    pub expected: String,
    /// What is there.
    pub found: String,
}

impl Holds {
    /// It is this.
    pub fn equal(value: impl Into<Value>) -> Self {
        Self { equals: Some(value.into()), ..Self::default() }
    }

    /// What does not hold. `before` is what it was when the case began.
    pub fn check(&self, found: &Value, before: Option<&Value>) -> Vec<Unlike> {
        let mut unlike = Vec::new();
        let mut expected = |expected: String| unlike.push(Unlike { expected, found: shown(found) });
        let absent = found.is_null();
        if (self.gone || self.exists == Some(false)) && !absent {
            expected("that it is not there".to_owned());
        }
        if self.exists == Some(true) && absent {
            expected("that it is there".to_owned());
        }
        if self.same && before != Some(found) {
            expected(format!("what it was at the beginning: {}", before.map_or_else(String::new, shown)));
        }
        if let Some(value) = self.equals.as_ref().filter(|value| !equal(value, found)) {
            expected(shown(value));
        }
        if let Some(value) = self.not.as_ref().filter(|value| equal(value, found)) {
            expected(format!("anything but {}", shown(value)));
        }
        if absent {
            if self.needs_something() {
                expected("that it is there".to_owned());
            }
            return unlike;
        }
        let has = |part: &String| match found {
            Value::Array(members) => members.iter().any(|member| plain(member) == *part),
            Value::Object(members) => members.contains_key(part),
            other => plain(other).contains(part.as_str()),
        };
        self.has.iter().filter(|part| !has(part)).for_each(|part| expected(format!("{part:?} in it")));
        self.lacks.iter().filter(|part| has(part)).for_each(|part| expected(format!("no {part:?} in it")));
        for pattern in &self.matches {
            if !finds(pattern, &plain(found)) {
                expected(format!("something that fits /{pattern}/"));
            }
        }
        let some = |part: &Value| match found {
            Value::Array(members) => members.iter().any(|member| includes(member, part)),
            other => includes(other, part),
        };
        for part in self.includes.iter().filter(|part| !some(part)) {
            expected(format!("a member with {}", shown(part)));
        }
        for part in self.excludes.iter().filter(|part| some(part)) {
            expected(format!("no member with {}", shown(part)));
        }
        let number = found.as_f64();
        if let Some(least) = self.at_least.filter(|least| number.is_none_or(|number| number < *least)) {
            expected(format!("a number, at least {least}"));
        }
        if let Some(most) = self.at_most.filter(|most| number.is_none_or(|number| number > *most)) {
            expected(format!("a number, at most {most}"));
        }
        if let Some(near) = self.near.as_ref().filter(|near| !near.holds(found)) {
            expected(format!("{}, give or take {}", plain(&near.value), plain(&near.within)));
        }
        let count = match found {
            Value::Array(members) => members.len(),
            Value::Object(members) => members.len(),
            other => plain(other).chars().count(),
        };
        if let Some(wanted) = self.count.filter(|wanted| *wanted != count) {
            expected(format!("{wanted} of it, and there are {count}"));
        }
        unlike
    }

    fn needs_something(&self) -> bool {
        !self.has.is_empty()
            || !self.lacks.is_empty()
            || !self.matches.is_empty()
            || !self.includes.is_empty()
            || !self.excludes.is_empty()
            || self.at_least.is_some()
            || self.at_most.is_some()
            || self.near.is_some()
            || self.count.is_some()
    }

    /// What is wrong with how it is written.
    pub(super) fn wrong(&self) -> Option<String> {
        if *self == Self::default() {
            return Some(
                "nothing is said about it: write for example `equals`, `has` or `exists`".to_owned(),
            );
        }
        if let Some(problem) = self.matches.iter().find_map(|pattern| unreadable(pattern)) {
            return Some(problem);
        }
        self.near.as_ref().and_then(Near::wrong)
    }
}

impl Near {
    fn wrong(&self) -> Option<String> {
        match (&self.value, &self.within) {
            (Value::Number(_), Value::Number(_)) => None,
            (Value::String(time), Value::String(within)) => {
                if time.parse::<Timestamp>().is_err() {
                    return Some(format!("{time:?} is no point in time such as 2026-03-02T09:00:00Z"));
                }
                duration(within).err()
            }
            _ => Some("`near` takes two numbers, or a point in time and a duration as texts".to_owned()),
        }
    }

    fn holds(&self, found: &Value) -> bool {
        match (&self.value, &self.within, found) {
            (Value::Number(value), Value::Number(within), Value::Number(found)) => {
                let far = value.as_f64().zip(found.as_f64()).map(|(one, other)| (one - other).abs());
                far.zip(within.as_f64()).is_some_and(|(far, within)| far <= within)
            }
            (Value::String(value), Value::String(within), Value::String(found)) => {
                let times = value.parse::<Timestamp>().ok().zip(found.parse::<Timestamp>().ok());
                let far = times.map(|(one, other)| one.duration_since(other).abs());
                far.zip(duration(within).ok()).is_some_and(|(far, within)| far <= within)
            }
            _ => false,
        }
    }
}

/// Whether a regular expression finds something.
pub(crate) fn finds(pattern: &str, text: &str) -> bool {
    fancy_regex::Regex::new(pattern).is_ok_and(|regex| regex.is_match(text).unwrap_or(false))
}

/// What is wrong with a regular expression.
pub(super) fn unreadable(pattern: &str) -> Option<String> {
    fancy_regex::Regex::new(pattern)
        .err()
        .map(|error| format!("/{pattern}/ is no regular expression: {error}"))
}

/// Whether a value has all of another: members of objects may be more, everything else is the same.
pub(crate) fn includes(value: &Value, part: &Value) -> bool {
    match (value, part) {
        (Value::Object(value), Value::Object(part)) => {
            part.iter().all(|(key, part)| value.get(key).is_some_and(|value| includes(value, part)))
        }
        _ => equal(value, part),
    }
}

/// The same, with numbers compared as numbers: 1 and 1.0 are.
pub(crate) fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => one == other,
    }
}

/// A text as it is; anything else as JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value for reports.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => {
            serde_json::to_string_pretty(&super::sorted(value)).unwrap_or_else(|_| value.to_string())
        }
        other => other.to_string(),
    }
}
