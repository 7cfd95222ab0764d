//! Reads values that are written in more than one way, and says what is wrong with a file: all of it, each with its place.

use std::fmt;
use std::ops::Range;

use jiff::Timestamp;
use mica_agent::nearest::{distance, nearest};
use serde::de::{self, DeserializeOwned, Deserializer, SeqAccess, Visitor};
use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::shape::{Shape, Shapes};
use crate::product::StageError;

/// What is wrong, and where: line and column, as far as there is a place.
pub(super) type Mistake = (Option<(usize, usize)>, String);

/// Mistakes of one file that are told at most.
const MOST: usize = 50;

/// A point in time: a date and time of TOML, or text.
pub(super) fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let value = <toml::Value as de::Deserialize>::deserialize(deserializer)?;
    let text = match &value {
        toml::Value::Datetime(time) => time.to_string(),
        toml::Value::String(text) => text.clone(),
        _ => return Err(de::Error::custom("a point in time such as 2026-03-02T09:00:00Z is expected")),
    };
    let time = text.parse();
    time.map(Some).map_err(|_| {
        de::Error::custom(format!(
            "{text:?} is no point in time: write date, time and zone, such as 2026-03-02T09:00:00Z"
        ))
    })
}

/// One text, or several.
pub(super) fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Words;
    impl<'de> Visitor<'de> for Words {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text or a list of texts")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok(vec![text.to_owned()])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> Result<Self::Value, A::Error> {
            let mut all = Vec::new();
            while let Some(text) = texts.next_element()? {
                all.push(text);
            }
            Ok(all)
        }
    }
    deserializer.deserialize_any(Words)
}

/// A file, with the places of what is in it.
pub(super) struct Source<'a> {
    text: &'a str,
    table: Spanned<DeTable<'a>>,
}

impl<'a> Source<'a> {
    /// Reads a file as TOML, or says which of its lines are none.
    pub(super) fn parse(text: &'a str) -> Result<Self, Vec<Mistake>> {
        let (table, errors) = DeTable::parse_recoverable(text);
        let mut mistakes: Vec<Mistake> = errors
            .iter()
            .map(|error| (error.span().map(|span| place(text, &span)), error.message().to_owned()))
            .collect();
        // What follows in a line from its first mistake is anybody's guess.
        mistakes.sort_by_key(|(place, _)| *place);
        mistakes.dedup_by_key(|(place, _)| place.map(|(line, _)| line));
        mistakes.truncate(MOST);
        if mistakes.is_empty() { Ok(Self { text, table }) } else { Err(mistakes) }
    }

    /// Where something stands: the value of a key, or a member of a list by its number.
    pub(super) fn place(&self, path: &[&str]) -> Option<(usize, usize)> {
        let mut at = self.table.get_ref().get(*path.first()?)?;
        for key in path.iter().skip(1) {
            at = match at.get_ref() {
                DeValue::Table(table) => table.get(*key)?,
                DeValue::Array(members) => members.get(key.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(place(self.text, &at.span()))
    }

    /// A case, or everything that is wrong with it. What is wrong is taken out, and the rest read again.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, Vec<Mistake>> {
        let mut table = self.table.clone();
        let mut mistakes: Vec<Mistake> = Vec::new();
        let mut told: Vec<String> = Vec::new();
        loop {
            let read = toml::Deserializer::from(table.clone());
            let error = match serde_path_to_error::deserialize::<_, T>(read) {
                Ok(read) if mistakes.is_empty() => return Ok(read),
                Ok(_) => break,
                Err(error) => error,
            };
            let path = error.path().to_string();
            let span = error.inner().span();
            // What is missing because it was taken out is no second mistake.
            let follows = error.inner().message().starts_with("missing field")
                && told.iter().any(|told| told.starts_with(&path));
            if !follows {
                let written = span.clone().and_then(|span| self.text.get(span));
                let problem = at::<T>("", error.path(), error.inner().message(), written);
                mistakes.push((span.as_ref().map(|span| place(self.text, span)), problem));
                told.push(path);
            }
            if mistakes.len() >= MOST || !span.is_some_and(|span| without(table.get_mut(), &span)) {
                break;
            }
        }
        mistakes.sort_by_key(|(place, _)| *place);
        Err(mistakes)
    }
}

/// The line and the column at which something begins.
fn place(text: &str, span: &Range<usize>) -> (usize, usize) {
    let before = text.get(..span.start).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// Takes out the smallest entry of a table that a place lies in. Whether there was one.
fn without(table: &mut DeTable<'_>, at: &Range<usize>) -> bool {
    fn size(table: &DeTable<'_>, at: &Range<usize>) -> Option<Range<usize>> {
        let covers = |span: &Range<usize>| span.start <= at.start && at.end <= span.end;
        let mut smallest: Option<Range<usize>> = None;
        let mut offer = |span: Range<usize>| {
            if smallest.as_ref().is_none_or(|smallest| span.len() < smallest.len()) {
                smallest = Some(span);
            }
        };
        for (key, value) in table.iter() {
            [key.span(), value.span()].into_iter().filter(covers).for_each(&mut offer);
            tables(value).into_iter().filter_map(|table| size(table, at)).for_each(&mut offer);
        }
        smallest
    }

    fn tables<'t, 'i>(value: &'t Spanned<DeValue<'i>>) -> Vec<&'t DeTable<'i>> {
        match value.get_ref() {
            DeValue::Table(table) => vec![table],
            DeValue::Array(members) => members.iter().flat_map(tables).collect(),
            _ => Vec::new(),
        }
    }

    fn each(value: &mut Spanned<DeValue<'_>>, span: &Range<usize>) -> bool {
        match value.get_mut() {
            DeValue::Table(table) => out(table, span),
            DeValue::Array(members) => members.iter_mut().any(|member| each(member, span)),
            _ => false,
        }
    }

    fn out(table: &mut DeTable<'_>, span: &Range<usize>) -> bool {
        // What lies deeper goes first: a list may begin and end where its only member does.
        if table.iter_mut().any(|(_, value)| each(value, span)) {
            return true;
        }
        let is_here = |(key, value): &(&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| {
            key.span() == *span || value.span() == *span
        };
        let key = table.iter().find(is_here).map(|(key, _)| key.get_ref().to_string());
        key.is_some_and(|key| table.remove(key.as_str()).is_some())
    }

    size(table, at).is_some_and(|span| out(table, &span))
}

/// What a case gives a product: a setup, what comes with a message, what an event happens with. `what` is what it is
/// called in the case.
///
/// # Errors
/// In words, with the key that is wrong.
pub fn given<T: DeserializeOwned>(what: &str, values: Map<String, Value>) -> Result<T, StageError> {
    serde_path_to_error::deserialize(Value::Object(values)).map_err(|error| {
        let problem = at::<T>(what, error.path(), &error.inner().to_string(), None);
        StageError::new(problem)
    })
}

/// A problem with the key it is about. A key that nobody knows is named by the problem itself. `written` is what stands
/// there.
fn at<T: DeserializeOwned>(what: &str, path: &Path, message: &str, written: Option<&str>) -> String {
    let said = meant(message);
    if said.starts_with("unknown ") {
        return said;
    }
    let shown = path.to_string();
    let shown = match (what, shown.as_str()) {
        ("", ".") => String::new(),
        (what, ".") => what.to_owned(),
        ("", path) => path.to_owned(),
        (what, path) => format!("{what}.{path}"),
    };
    let keys: Vec<String> = path
        .iter()
        .map(|segment| match segment {
            Segment::Seq { index } => index.to_string(),
            Segment::Map { key } => key.clone(),
            Segment::Enum { variant } => variant.clone(),
            Segment::Unknown => String::new(),
        })
        .collect();
    let said = in_words(&said, || Shapes::of::<T>().at(&keys), written);
    if shown.is_empty() { said } else { format!("`{shown}`: {said}") }
}

/// What a value is, and what it should be, without the names that programs have for it.
fn in_words(message: &str, shape: impl Fn() -> Option<Shape>, written: Option<&str>) -> String {
    let kinds = message.strip_prefix("invalid type: ").or(message.strip_prefix("invalid value: "));
    if let Some((found, expected)) = kinds.and_then(|kinds| kinds.split_once(", expected ")) {
        let found = match found.split_once(' ').unwrap_or((found, "")) {
            ("map", _) => match written.and_then(|written| written.chars().next()) {
                Some(first) if first.is_ascii_digit() => "a point in time".to_owned(),
                _ => "a table".to_owned(),
            },
            ("sequence", _) => "a list".to_owned(),
            ("string", text) => format!("the text {text}"),
            ("integer" | "boolean", value) => value.trim_matches('`').to_owned(),
            ("floating", value) => value.trim_start_matches("point ").trim_matches('`').to_owned(),
            _ => found.to_owned(),
        };
        return format!("this is {found}; {} is expected", wanted(expected, shape()));
    }
    if let Some(key) = message.strip_prefix("missing field ") {
        return format!("{key} is missing");
    }
    if message == "wanted string or table" {
        return format!("this is {}; {} is expected", written.unwrap_or("none"), wanted("a string", shape()));
    }
    message.to_owned()
}

/// What is expected, as people call it.
fn wanted(expected: &str, shape: Option<Shape>) -> String {
    match (shape, expected) {
        (Some(Shape::Keys(keys)), _) => format!("a table with any of {}", keys.join(", ")),
        (Some(Shape::Words(words)), _) => format!("one of {}", words.join(", ")),
        (None, "a string" | "string" | "str") => "a text".to_owned(),
        (None, "path string") => "a path, as a text".to_owned(),
        (None, "a boolean") => "true or false".to_owned(),
        (None, "usize" | "u8" | "u16" | "u32" | "u64") => "a whole number from 0 on".to_owned(),
        (None, "isize" | "i8" | "i16" | "i32" | "i64") => "a whole number".to_owned(),
        (None, "f32" | "f64") => "a number".to_owned(),
        (None, "a sequence") => "a list".to_owned(),
        (None, "a map") => "a table".to_owned(),
        (None, other) if other.starts_with("struct ") => "a table".to_owned(),
        (None, other) => other.to_owned(),
    }
}

/// The message, with the key that was probably meant.
fn meant(message: &str) -> String {
    let mut parts = message.split('`').skip(1).step_by(2);
    let (true, Some(written)) =
        (message.starts_with("unknown field") || message.starts_with("unknown variant"), parts.next())
    else {
        return message.to_owned();
    };
    let known: Vec<&str> = parts.collect();
    let what = if message.starts_with("unknown field") { "key" } else { "value" };
    let hint = likely(written, &known).map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
    format!("unknown {what} `{written}`{hint} (known: {})", known.join(", "))
}

/// The name that was probably meant.
pub(crate) fn likely<'a>(written: &str, known: &[&'a str]) -> Option<&'a str> {
    // Two letters that changed places are two changes, which is too far for the general rule.
    let swapped = || known.iter().copied().find(|name| name.len() > 3 && distance(written, name) <= 2);
    nearest(written, known.iter().copied()).or_else(swapped)
}
