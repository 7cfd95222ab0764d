//! Front matter: the fields at the top of a Markdown file, between two lines of three dashes.
//!
//! Promise: whatever a file has there, something sensible is read or nothing, and never a failure. What is YAML is read as
//! YAML. What is not (people write `description: Reads: and writes`) is read line by line, and that is told.

use std::collections::BTreeMap;

use serde_json::Value;

/// Bytes of front matter that are looked at. What the format has room for, several times over.
pub const LONGEST: usize = 16 << 10;

/// The fields of a file, and the text behind them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Front {
    /// Fields by their names, in lower case.
    pub fields: BTreeMap<String, Value>,
    /// Why they were read line by line, when they were.
    pub problem: Option<String>,
    /// Whether there is front matter at all.
    pub is_there: bool,
}

impl Front {
    /// The fields at the top of a text, and what follows them.
    pub fn read(text: &str) -> (Self, &str) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let Some((head, body)) = parted(text) else { return (Self::default(), text) };
        if let Some(fields) = plain(head) {
            return (Self { fields, problem: None, is_there: true }, body);
        }
        let (fields, problem) = match serde_saphyr::from_str::<Value>(&spaced(head)) {
            Ok(Value::Object(fields)) => (fields.into_iter().collect(), None),
            Ok(Value::Null) => (BTreeMap::new(), None),
            Ok(_) => (by_lines(head), Some("it is no list of fields".to_owned())),
            Err(error) => {
                let reason = error.to_string();
                (by_lines(head), Some(reason.lines().next().unwrap_or_default().trim().to_owned()))
            }
        };
        let fields = fields.into_iter().map(|(name, value)| (name.trim().to_lowercase(), value)).collect();
        (Self { fields, problem, is_there: true }, body)
    }

    /// A field as a text. Numbers and the like are taken as they would be written.
    pub fn text(&self, name: &str) -> Option<String> {
        let text = words(self.fields.get(name)?)?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// A field as a list: a list of YAML, or words with blanks or commas between them. What is in parentheses stays together.
    pub fn list(&self, name: &str) -> Vec<String> {
        match self.fields.get(name) {
            Some(Value::Array(items)) => {
                let items = items.iter().filter_map(words).map(|item| item.trim().to_owned());
                items.filter(|item| !item.is_empty()).collect()
            }
            Some(other) => words(other).map(|text| split(&text)).unwrap_or_default(),
            None => Vec::new(),
        }
    }

    /// Whether a field says yes.
    pub fn is_set(&self, name: &str) -> bool {
        match self.fields.get(name) {
            Some(Value::Bool(set)) => *set,
            Some(Value::String(text)) => matches!(text.trim().to_lowercase().as_str(), "true" | "yes" | "on"),
            _ => false,
        }
    }

    /// A field of fields, as texts.
    pub fn map(&self, name: &str) -> BTreeMap<String, String> {
        let Some(Value::Object(fields)) = self.fields.get(name) else { return BTreeMap::new() };
        fields.iter().filter_map(|(key, value)| Some((key.clone(), words(value)?))).collect()
    }
}

/// The lines between the dashes, and what is behind them.
fn parted(text: &str) -> Option<(&str, &str)> {
    let is_rule = |line: &str| matches!(line.trim_end(), "---");
    let first = text.split_inclusive('\n').next().filter(|line| is_rule(line))?;
    let rest = text.get(first.len()..)?;
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if is_rule(line) || line.trim_end() == "..." {
            return Some((rest.get(..end)?, rest.get(end + line.len()..)?));
        }
        end += line.len();
        if end > LONGEST {
            return None;
        }
    }
    None
}

/// Fields that YAML reads as texts beyond doubt, one on each line: most front matter is that, and a start that reads a hundred
/// files has no time for more. `None` leaves it to YAML.
fn plain(head: &str) -> Option<BTreeMap<String, Value>> {
    let mut fields = BTreeMap::new();
    for line in head.lines() {
        let (name, value) = line.trim_end().split_once(": ")?;
        let is_letter = |letter: char| letter.is_ascii_lowercase() || letter == '-';
        if name.is_empty() || name.starts_with('-') || !name.chars().all(is_letter) {
            return None;
        }
        let value = match value.strip_prefix('"') {
            Some(quoted) => quoted.strip_suffix('"').filter(|inside| !inside.contains(['"', '\\', '\t']))?,
            None => {
                // What begins with a letter and has no sign of YAML in it is a text, unless it is one of its few words.
                let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
                let is_word = words.iter().any(|word| value.eq_ignore_ascii_case(word));
                let is_text = value.starts_with(|letter: char| letter.is_ascii_alphabetic())
                    && !value.contains([':', '#', '\t', '"', '\''])
                    && !is_word;
                is_text.then_some(value)?
            }
        };
        if value.chars().any(char::is_control) || fields.insert(name.to_owned(), value.into()).is_some() {
            return None;
        }
    }
    (!fields.is_empty()).then_some(fields)
}

/// YAML knows no tabs before a field, and no carriage returns of other systems.
fn spaced(head: &str) -> String {
    let mut out = String::with_capacity(head.len());
    for line in head.lines() {
        let line = line.trim_end();
        let text = line.trim_start_matches([' ', '\t']);
        let before = line.get(..line.len() - text.len()).unwrap_or_default();
        out.push_str(&before.replace('\t', "  "));
        out.push_str(text);
        out.push('\n');
    }
    out
}

/// Fields line by line: a name, a colon, and everything behind it, whatever it has in it. Lines that are further in belong to
/// the field before.
fn by_lines(head: &str) -> BTreeMap<String, Value> {
    let mut fields: BTreeMap<String, Value> = BTreeMap::new();
    let mut last: Option<String> = None;
    for line in head.lines() {
        let text = line.trim();
        let is_inner = line.starts_with([' ', '\t']) || text.starts_with("- ");
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        match (is_inner, &last) {
            (true, Some(name)) => {
                if let Some(value) = fields.get_mut(name) {
                    add(value, text);
                }
            }
            _ => {
                let Some((name, value)) = text.split_once(':') else { continue };
                let (name, value) = (unquoted(name.trim()), value.trim());
                let value = if matches!(value, ">" | ">-" | ">+" | "|" | "|-" | "|+") { "" } else { value };
                fields.insert(name.to_owned(), Value::String(unquoted(value).to_owned()));
                last = Some(name.to_owned());
            }
        }
    }
    fields
}

/// Adds a line to the field that it belongs to.
fn add(value: &mut Value, line: &str) {
    let item = line.strip_prefix("- ").map(|item| unquoted(item.trim()).to_owned());
    let pair = line.split_once(": ").filter(|(name, _)| !name.contains(' '));
    match (value, item, pair) {
        (Value::Array(items), Some(item), _) => items.push(Value::String(item)),
        (value @ Value::String(_), Some(item), _) if value == "" => *value = Value::Array(vec![item.into()]),
        (Value::Object(fields), _, Some((name, inner))) => {
            fields.insert(name.to_owned(), unquoted(inner.trim()).into());
        }
        (value @ Value::String(_), _, Some((name, inner))) if value == "" => {
            let pair = (name.to_owned(), Value::from(unquoted(inner.trim())));
            *value = Value::Object([pair].into_iter().collect());
        }
        (Value::String(text), ..) => {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(line);
        }
        _ => {}
    }
}

fn unquoted(text: &str) -> &str {
    let inside = |mark: char| text.strip_prefix(mark).and_then(|text| text.strip_suffix(mark));
    inside('"').or_else(|| inside('\'')).unwrap_or(text)
}

/// A single value as it would be written.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn split(text: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut depth = 0_usize;
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (letter.is_whitespace() || letter == ',') {
            items.push(String::new());
        } else if let Some(item) = items.last_mut() {
            item.push(letter);
        }
    }
    items.retain(|item| !item.is_empty());
    items
}

#[cfg(test)]
mod tests;
