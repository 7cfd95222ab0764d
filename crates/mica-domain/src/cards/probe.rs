//! How a thing is found in what a tool gave: by its shape, which is data.
//!
//! A shape must say enough: an object with an id and a title is no task, nor anything else.

use std::collections::BTreeMap;

use mica_context::fence::is_unseen;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::store::path::Path;

/// Bytes of an id at most. A longer one is none.
const LONGEST_ID: usize = 200;

/// Characters of a text in a snapshot at most.
const LONGEST_TEXT: usize = 500;

/// Values inside a field that is no plain value, at most. A larger one is no display data.
const MOST_VALUES: usize = 64;

/// Fields of a snapshot at most.
const MOST_FIELDS: usize = 32;

/// The shape of a thing in what tools give.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Probe {
    /// What is found.
    pub thing: String,
    /// Where the id is: paths, of which the first that leads to one counts.
    pub id: Vec<String>,
    /// What the id looks like.
    pub id_form: Form,
    /// Keys that must be there, and hold something.
    pub required: Vec<String>,
    /// Keys that must not be there.
    pub forbidden: Vec<String>,
    /// What values look like, of keys that are there.
    pub values: BTreeMap<String, Form>,
    /// Keys of which one must lead to the object, or to the list it is in. Empty: it may be anywhere.
    pub under: Vec<String>,
    /// The snapshot: each of its fields, and paths to it, of which the first that leads to something counts.
    pub fields: BTreeMap<String, Vec<String>>,
}

/// What a value looks like.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Like anything.
    #[default]
    Any,
    /// A text that is not empty.
    Text,
    /// A number.
    Number,
    /// Yes or no.
    Flag,
    /// A time: `2026-11-15T20:00:00Z`, or a date alone.
    Time,
    /// A list.
    List,
    /// `kind:id`, with exactly one colon and something on both sides.
    Pair,
    /// A pair of one of these kinds.
    PairOf(Vec<String>),
    /// A text that begins so, and goes on.
    Prefix(String),
    /// One of these texts.
    OneOf(Vec<String>),
}

impl Form {
    /// Whether a value looks so.
    pub fn fits(&self, value: &Value) -> bool {
        let text = || value.as_str();
        match self {
            Self::Any => true,
            Self::Text => text().is_some_and(|text| !text.trim().is_empty()),
            Self::Number => value.is_number(),
            Self::Flag => value.is_boolean(),
            Self::List => value.is_array(),
            Self::Time => text().is_some_and(|text| {
                text.parse::<jiff::Timestamp>().is_ok() || text.parse::<jiff::civil::Date>().is_ok()
            }),
            Self::Pair => text().is_some_and(|text| pair(text).is_some()),
            Self::PairOf(kinds) => {
                text().and_then(pair).is_some_and(|(kind, _)| kinds.iter().any(|known| known == kind))
            }
            Self::Prefix(prefix) => text()
                .and_then(|text| text.strip_prefix(prefix.as_str()))
                .is_some_and(|rest| !rest.is_empty()),
            Self::OneOf(texts) => text().is_some_and(|text| texts.iter().any(|known| known == text)),
        }
    }
}

fn pair(text: &str) -> Option<(&str, &str)> {
    let (kind, id) = text.split_once(':')?;
    let is_whole =
        !kind.is_empty() && !id.is_empty() && !id.contains(':') && !text.contains(char::is_whitespace);
    is_whole.then_some((kind, id))
}

impl Probe {
    /// A probe for a thing whose id is under this key.
    pub fn new(thing: impl Into<String>, id: impl Into<String>) -> Self {
        Self { thing: thing.into(), id: vec![id.into()], ..Self::default() }
    }

    /// What the id looks like.
    #[must_use]
    pub fn id_like(mut self, form: Form) -> Self {
        self.id_form = form;
        self
    }

    /// The id may be under this key instead.
    #[must_use]
    pub fn or_id(mut self, id: impl Into<String>) -> Self {
        self.id.push(id.into());
        self
    }

    /// A key must be there.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>) -> Self {
        self.required.push(key.into());
        self
    }

    /// A key must be there, and hold what looks so.
    #[must_use]
    pub fn with_like(mut self, key: impl Into<String>, form: Form) -> Self {
        let key = key.into();
        self.required.push(key.clone());
        self.values.insert(key, form);
        self
    }

    /// A key must not be there.
    #[must_use]
    pub fn without(mut self, key: impl Into<String>) -> Self {
        self.forbidden.push(key.into());
        self
    }

    /// It counts only under this key.
    #[must_use]
    pub fn under(mut self, key: impl Into<String>) -> Self {
        self.under.push(key.into());
        self
    }

    /// A field of the snapshot, called as it is called there.
    #[must_use]
    pub fn keeping(self, field: impl Into<String>) -> Self {
        let field = field.into();
        self.keeping_as(field.clone(), field)
    }

    /// A field of the snapshot, and where it comes from. Said again, the same field may come from elsewhere.
    #[must_use]
    pub fn keeping_as(mut self, field: impl Into<String>, path: impl Into<String>) -> Self {
        self.fields.entry(field.into()).or_default().push(path.into());
        self
    }

    pub(crate) fn ready(&self) -> Result<ReadyProbe, String> {
        if self.id.is_empty() {
            return Err("it does not say where the id is".to_owned());
        }
        if self.fields.is_empty() || self.fields.len() > MOST_FIELDS {
            return Err(format!("a snapshot has one field at least and {MOST_FIELDS} at most"));
        }
        // An id alone is the shape of everything.
        let says_more = !self.required.is_empty() || !self.under.is_empty() || self.id_form != Form::Any;
        let tells_apart = says_more || self.id.iter().all(|key| key != "id");
        if !tells_apart {
            return Err("everything with an id would be one: say what else must be there".to_owned());
        }
        let parse = |path: &String| Path::parse(path).map_err(|misread| misread.to_string());
        let id = self.id.iter().map(parse).collect::<Result<_, _>>()?;
        let mut fields = Vec::new();
        for (field, paths) in &self.fields {
            fields.push((field.clone(), paths.iter().map(parse).collect::<Result<_, _>>()?));
        }
        Ok(ReadyProbe { probe: self.clone(), id, fields })
    }
}

/// A probe whose paths are read.
#[derive(Debug)]
pub(crate) struct ReadyProbe {
    probe: Probe,
    id: Vec<Path>,
    fields: Vec<(String, Vec<Path>)>,
}

/// A thing that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// What it is.
    pub thing: String,
    /// Its id.
    pub id: String,
    /// What is shown of it.
    pub fields: Map<String, Value>,
}

impl ReadyProbe {
    /// What an object is, when it has this shape. `under`: the key that led to it.
    pub(crate) fn find(&self, object: &Value, under: Option<&str>) -> Option<Found> {
        let probe = &self.probe;
        let members = object.as_object()?;
        if !probe.under.is_empty() && !probe.under.iter().any(|key| Some(key.as_str()) == under) {
            return None;
        }
        let holds = |key: &String| members.get(key).is_some_and(says_something);
        if !probe.required.iter().all(holds) || probe.forbidden.iter().any(|key| members.contains_key(key)) {
            return None;
        }
        let looks = |(key, form): (&String, &Form)| {
            members.get(key).is_none_or(|value| value.is_null() || form.fits(value))
        };
        if !probe.values.iter().all(looks) {
            return None;
        }
        let id =
            self.id.iter().filter_map(|path| path.read(object).ok()).find(|value| says_something(value))?;
        if !probe.id_form.fits(&id) {
            return None;
        }
        let id = id_of(&id)?;
        let mut fields = Map::new();
        for (field, paths) in &self.fields {
            let read =
                paths.iter().filter_map(|path| path.read(object).ok()).find(|value| says_something(value));
            if let Some(value) = read.and_then(|value| small(&value)) {
                fields.insert(field.clone(), value);
            }
        }
        Some(Found { thing: probe.thing.clone(), id, fields })
    }
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        _ => true,
    }
}

/// An id as text: a short text without spaces or anything that is not seen, or a whole number.
pub(crate) fn id_of(value: &Value) -> Option<String> {
    let id = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => Some(number).filter(|number| !Number::is_f64(number))?.to_string(),
        _ => return None,
    };
    let is_id = id.len() <= LONGEST_ID
        && !id.is_empty()
        && !id.contains(|letter: char| letter.is_whitespace() || is_unseen(letter) || "<>`".contains(letter));
    is_id.then_some(id)
}

/// A value, if it is small enough to be shown. Long texts are cut.
fn small(value: &Value) -> Option<Value> {
    let mut left = MOST_VALUES;
    cut(value, &mut left, 4)
}

fn cut(value: &Value, left: &mut usize, depth: usize) -> Option<Value> {
    *left = left.checked_sub(1)?;
    Some(match value {
        Value::String(text) if text.len() > LONGEST_TEXT => match text.char_indices().nth(LONGEST_TEXT) {
            Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()).into(),
            None => value.clone(),
        },
        Value::Array(list) => {
            let depth = depth.checked_sub(1)?;
            list.iter().map(|value| cut(value, left, depth)).collect::<Option<_>>()?
        }
        Value::Object(members) => {
            let depth = depth.checked_sub(1)?;
            let cut = members.iter().map(|(key, value)| Some((key.clone(), cut(value, left, depth)?)));
            Value::Object(cut.collect::<Option<_>>()?)
        }
        plain => plain.clone(),
    })
}
