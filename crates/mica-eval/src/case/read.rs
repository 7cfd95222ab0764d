//! Reads values that are written in more than one way, and says what is wrong with a file.

use std::fmt;

use jiff::Timestamp;
use mica_agent::nearest::nearest;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

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

/// What is wrong with a file, and where.
pub(super) fn problem(text: &str, error: &toml::de::Error) -> (Option<usize>, String) {
    let line =
        error.span().map(|span| text.get(..span.start).map_or(1, |before| before.matches('\n').count() + 1));
    (line, meant(error.message()))
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
    let hint = nearest(written, known.iter().copied())
        .map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
    format!("unknown {what} `{written}`{hint} (known: {})", known.join(", "))
}

/// The line of the so-manieth heading.
pub(super) fn line_of(text: &str, heading: &str, index: usize) -> Option<usize> {
    let mut found = text.lines().enumerate().filter(|(_, line)| line.trim().starts_with(heading));
    found.nth(index).map(|(line, _)| line + 1)
}
