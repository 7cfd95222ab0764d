//! Values as people type them: with quotes around what has spaces, and of the kind that they change.

use anyhow::{Result, anyhow, bail};
use serde_json::Value;

/// Words of a line. Quotes keep together what has spaces, also behind a `=`.
///
/// # Errors
/// A quote that is not closed.
pub fn words(text: &str) -> Result<Vec<String>> {
    let mut all = Vec::new();
    let mut word = String::new();
    let mut quote: Option<char> = None;
    let mut began = false;
    for letter in text.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => word.push(letter),
            // An apostrophe within a word is one.
            None if letter == '"' || (letter == '\'' && (word.is_empty() || word.ends_with('='))) => {
                (quote, began) = (Some(letter), true);
            }
            None if letter.is_whitespace() => {
                if began {
                    all.push(std::mem::take(&mut word));
                }
                began = false;
            }
            None => {
                word.push(letter);
                began = true;
            }
        }
    }
    if let Some(open) = quote {
        bail!("the quote {open} is not closed");
    }
    if began {
        all.push(word);
    }
    Ok(all)
}

/// A value without the quotes around all of it.
pub fn unquoted(text: &str) -> &str {
    let inside =
        |quote: char| text.strip_prefix(quote)?.strip_suffix(quote).filter(|inner| !inner.contains(quote));
    inside('"').or_else(|| inside('\'')).unwrap_or(text)
}

/// A value of the kind that `now` is. Of an argument that is not there it is a text, unless it is written as a list or an
/// object.
///
/// # Errors
/// What does not fit.
pub fn value(text: &str, now: Option<&Value>) -> Result<Value> {
    let wrong = |kind: &str| anyhow!("{text:?} does not fit: it is {kind}");
    let read = || serde_json::from_str::<Value>(text);
    Ok(match now {
        Some(Value::Bool(_)) => {
            read().ok().filter(Value::is_boolean).ok_or_else(|| wrong("true or false"))?
        }
        Some(Value::Number(_)) => read().ok().filter(Value::is_number).ok_or_else(|| wrong("a number"))?,
        Some(Value::Array(_)) if !text.starts_with('[') => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            items.map(|item| Value::String(item.to_owned())).collect()
        }
        Some(Value::Array(_) | Value::Object(_)) => {
            read().map_err(|_| wrong("a list or an object, as JSON"))?
        }
        None | Some(Value::Null) if text.starts_with(['[', '{']) => {
            read().unwrap_or_else(|_| Value::String(text.to_owned()))
        }
        _ => Value::String(text.replace("\\n", "\n")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_words_together() {
        for (text, expect) in [
            ("a b", Ok(vec!["a", "b"])),
            (
                "temp_1 title=\"Ring Ana_S  now\" temp_2",
                Ok(vec!["temp_1", "title=Ring Ana_S  now", "temp_2"]),
            ),
            ("title='a b'", Ok(vec!["title=a b"])),
            ("title=it's", Ok(vec!["title=it's"])),
            ("title=\"\"", Ok(vec!["title="])),
            ("  ", Ok(vec![])),
            ("title=\"a", Err("the quote \" is not closed")),
        ] {
            let expect = expect.map(|all: Vec<&str>| all.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(
                words(text).map_err(|error| error.to_string()),
                expect.map_err(str::to_owned),
                "{text}"
            );
        }
    }
}
