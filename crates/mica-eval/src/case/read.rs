//! Reads values that are written in more than one way, and says what is wrong with a file.

use std::fmt;

use jiff::Timestamp;
use mica_agent::nearest::{distance, nearest};
use serde::de::{self, DeserializeOwned, Deserializer, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::product::StageError;

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

/// A case, or what is wrong with its file and where.
pub(super) fn file<T: DeserializeOwned>(text: &str) -> Result<T, (Option<usize>, String)> {
    let read = toml::Deserializer::parse(text).map_err(|error| (String::new(), error)).and_then(|read| {
        serde_path_to_error::deserialize(read).map_err(|error| (error.path().to_string(), error.into_inner()))
    });
    read.map_err(|(path, error)| {
        let line = error.span().and_then(|span| text.get(..span.start));
        (line.map(|before| before.matches('\n').count() + 1), at(&path, error.message()))
    })
}

/// What a case gives a product: a setup, what comes with a message, what an event happens with. `what` is what it is
/// called in the case.
///
/// # Errors
/// In words, with the key that is wrong.
pub fn given<T: DeserializeOwned>(what: &str, values: Map<String, Value>) -> Result<T, StageError> {
    serde_path_to_error::deserialize(Value::Object(values)).map_err(|error| {
        let path = error.path().to_string();
        let path = if path == "." { what.to_owned() } else { format!("{what}.{path}") };
        StageError::new(at(&path, &error.into_inner().to_string()))
    })
}

/// A problem with the key it is about. A key that nobody knows is named by the problem itself.
fn at(path: &str, message: &str) -> String {
    let said = meant(message);
    let known = said.starts_with("unknown ") || path.is_empty() || path == ".";
    if known { said } else { format!("`{path}`: {said}") }
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

/// The line of the so-manieth heading.
pub(super) fn line_of(text: &str, heading: &str, index: usize) -> Option<usize> {
    let mut found = text.lines().enumerate().filter(|(_, line)| line.trim().starts_with(heading));
    found.nth(index).map(|(line, _)| line + 1)
}
