//! Paths into values: keys, places in lists, and all of a list.
//!
//! ```text
//! path  = step*                      in front of the first key the dot may be left out
//! step  = "." key | "." "first" | "." "last" | "[" number "]" | "[" text "]" | "[*]"
//! key   = name | text
//! name  = letter or "_", then letters, digits, "_" and "-"
//! text  = '"' … '"'                  with \" and \\ inside
//! ```
//!
//! Promises: what does not parse says where and why; what is written out parses to the same path; reading never costs more
//! than the value it reads is large.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

/// Bytes that a path, or a reference with one, may have. A longer one is a mistake.
pub const LONGEST: usize = 1024;

/// Names of what is there that are listed when something is not.
const LISTED: usize = 12;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// The member of an object.
    Key(String),
    /// A place in a list; from the end when it is negative.
    At(i64),
    /// The first of a list. In an object: its member of this name.
    First,
    /// The last of a list. In an object: its member of this name.
    Last,
    /// Each of a list. What comes behind is read of each, and those that have it not are left out.
    Each,
}

/// A path into a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Path {
    steps: Vec<Step>,
}

/// Something that does not parse: where, and what was expected there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not understood at character {}: {problem}", column + 1)]
pub struct Misread {
    /// The whole text.
    pub text: String,
    /// Characters before the mistake.
    pub column: usize,
    /// What is wrong.
    pub problem: String,
}

/// A value has no such place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {missing}; {there}")]
pub struct Nowhere {
    /// The path as far as the step that leads nowhere.
    pub missing: String,
    /// What is there instead.
    pub there: String,
}

impl Path {
    /// A path of these steps.
    pub fn of(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { steps: steps.into_iter().collect() }
    }

    /// Reads a path.
    ///
    /// # Errors
    /// [`Misread`].
    pub fn parse(text: &str) -> Result<Self, Misread> {
        let mut letters = Letters::new(text)?;
        let mut steps = Vec::new();
        if letters.peek().is_some_and(|letter| letter != '.' && letter != '[') {
            steps.push(letters.key()?);
        }
        letters.steps(&mut steps)?;
        Ok(Self { steps })
    }

    /// Its steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether it leads nowhere else.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// What is there in a value.
    ///
    /// # Errors
    /// [`Nowhere`].
    pub fn read<'a>(&self, value: &'a Value) -> Result<Cow<'a, Value>, Nowhere> {
        let mut found = vec![value];
        let mut each = false;
        for (index, step) in self.steps.iter().enumerate() {
            let nowhere = |at: &Value| {
                let missing = Self::of(self.steps.get(..=index).unwrap_or_default().to_vec());
                Nowhere { missing: missing.to_string(), there: there(at) }
            };
            if *step == Step::Each {
                let lists: Vec<&Vec<Value>> = found.iter().filter_map(|value| value.as_array()).collect();
                if let (false, [only], []) = (each, found.as_slice(), lists.as_slice()) {
                    return Err(nowhere(only));
                }
                found = lists.into_iter().flatten().collect();
                each = true;
                continue;
            }
            let next: Vec<&Value> = found.iter().filter_map(|value| one(step, value)).collect();
            if let (false, [only], []) = (each, found.as_slice(), next.as_slice()) {
                return Err(nowhere(only));
            }
            found = next;
        }
        match (each, found.as_slice()) {
            (false, [only]) => Ok(Cow::Borrowed(only)),
            _ => Ok(Cow::Owned(found.into_iter().cloned().collect())),
        }
    }

    /// Puts something there. Members that are not there come to be; places in a list must be there already.
    ///
    /// # Errors
    /// [`Nowhere`], and nothing was changed.
    pub fn write(&self, value: &mut Value, new: Value) -> Result<(), Nowhere> {
        let mut changed = std::mem::take(value);
        let written = self.write_in(&mut changed, new);
        *value = changed;
        written
    }

    fn write_in(&self, value: &mut Value, new: Value) -> Result<(), Nowhere> {
        let mut place = value;
        // Whether everything can be done is looked at first: a member that was made on the way would stay.
        {
            let mut looked = Some(&*place);
            for (index, step) in self.steps.iter().enumerate() {
                let Some(at) = looked else { break };
                let ok = match (step, at) {
                    (Step::Key(_) | Step::First | Step::Last, Value::Object(_) | Value::Null) => true,
                    (Step::Each, _) => false,
                    _ => one(step, at).is_some(),
                };
                if !ok {
                    let missing = Self::of(self.steps.get(..=index).unwrap_or_default().to_vec());
                    return Err(Nowhere { missing: missing.to_string(), there: there(at) });
                }
                looked = one(step, at);
                if looked.is_none()
                    && let Some(behind) = self.steps.iter().skip(index + 1).position(|step| !step.is_member())
                {
                    let missing =
                        Self::of(self.steps.get(..=index + 1 + behind).unwrap_or_default().to_vec());
                    return Err(Nowhere { missing: missing.to_string(), there: there(&Value::Null) });
                }
            }
        }
        for step in &self.steps {
            if place.is_null() && step.is_member() {
                *place = Value::Object(serde_json::Map::new());
            }
            place = match (step.member(), place) {
                (Some(key), Value::Object(members)) => members.entry(key.to_owned()).or_insert(Value::Null),
                (_, Value::Array(list)) => {
                    let at = position(step, list.len());
                    match at.and_then(|at| list.get_mut(at)) {
                        Some(place) => place,
                        None => {
                            return Err(Nowhere { missing: self.to_string(), there: "a list".to_owned() });
                        }
                    }
                }
                (_, other) => return Err(Nowhere { missing: self.to_string(), there: there(other) }),
            };
        }
        *place = new;
        Ok(())
    }
}

impl Step {
    /// The member of an object that it means, if it can mean one.
    fn member(&self) -> Option<&str> {
        match self {
            Self::Key(key) => Some(key),
            Self::First => Some("first"),
            Self::Last => Some("last"),
            Self::At(_) | Self::Each => None,
        }
    }

    fn is_member(&self) -> bool {
        self.member().is_some()
    }
}

/// What a step leads to in one value.
fn one<'a>(step: &Step, value: &'a Value) -> Option<&'a Value> {
    match value {
        Value::Object(members) => members.get(step.member()?),
        Value::Array(list) => list.get(position(step, list.len())?),
        _ => None,
    }
}

fn position(step: &Step, length: usize) -> Option<usize> {
    match step {
        Step::First => Some(0),
        Step::Last => length.checked_sub(1),
        Step::At(at) if *at < 0 => length.checked_sub(usize::try_from(at.unsigned_abs()).ok()?),
        Step::At(at) => usize::try_from(*at).ok(),
        Step::Key(_) | Step::Each => None,
    }
}

/// What a value has, in words.
fn there(value: &Value) -> String {
    match value {
        Value::Null => "there is nothing".to_owned(),
        Value::Bool(_) => "it is a yes or no".to_owned(),
        Value::Number(_) => "it is a number".to_owned(),
        Value::String(_) => "it is a text".to_owned(),
        Value::Array(list) => format!("it is a list of {}", list.len()),
        Value::Object(members) if members.is_empty() => "it is an empty object".to_owned(),
        Value::Object(members) => {
            let mut names: Vec<String> = members
                .keys()
                .take(LISTED)
                .map(|key| Path::of([Step::Key(key.clone())]).to_string())
                .collect();
            if members.len() > LISTED {
                names.push(format!("{} more", members.len() - LISTED));
            }
            format!("there is {}", names.join(", "))
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            match step {
                Step::Key(key) if is_name(key) && key != "first" && key != "last" => write!(f, ".{key}")?,
                Step::Key(key) => write!(f, "[\"{}\"]", key.replace('\\', "\\\\").replace('"', "\\\""))?,
                Step::At(at) => write!(f, "[{at}]")?,
                Step::First => f.write_str(".first")?,
                Step::Last => f.write_str(".last")?,
                Step::Each => f.write_str("[*]")?,
            }
        }
        Ok(())
    }
}

/// Whether a key can be written without quotes.
pub(crate) fn is_name(key: &str) -> bool {
    let mut letters = key.chars();
    letters.next().is_some_and(begins_name) && letters.all(is_in_name)
}

fn begins_name(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_'
}

fn is_in_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '-'
}

/// The letters of a path or a reference, one after the other.
pub(crate) struct Letters<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Letters<'a> {
    pub(crate) fn new(text: &'a str) -> Result<Self, Misread> {
        let letters = Self { text, at: 0 };
        if text.len() > LONGEST {
            let shown: String = text.chars().take(40).collect();
            let problem = format!("it is longer than {LONGEST} bytes");
            return Err(Misread { text: format!("{shown}…"), column: 0, problem });
        }
        Ok(letters)
    }

    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn take(&mut self, word: &str) -> bool {
        let is_there = self.rest().starts_with(word);
        if is_there {
            self.at += word.len();
        }
        is_there
    }

    pub(crate) fn wrong(&self, problem: impl Into<String>) -> Misread {
        let column = self.text.get(..self.at).map_or(0, |before| before.chars().count());
        Misread { text: self.text.to_owned(), column, problem: problem.into() }
    }

    /// The letters for which this holds.
    pub(crate) fn while_is(&mut self, is: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|letter| !is(letter)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// A name without quotes.
    pub(crate) fn name(&mut self, what: &str) -> Result<String, Misread> {
        match self.peek() {
            Some(letter) if begins_name(letter) => Ok(self.while_is(is_in_name).to_owned()),
            Some(letter) => Err(self.wrong(format!("{what} is expected, not {letter:?}"))),
            None => Err(self.wrong(format!("{what} is expected, not the end"))),
        }
    }

    /// All steps until the end.
    pub(crate) fn steps(&mut self, steps: &mut Vec<Step>) -> Result<(), Misread> {
        loop {
            if self.take(".") {
                let step = self.key()?;
                steps.push(step);
            } else if self.peek() == Some('[') {
                let step = self.place()?;
                steps.push(step);
            } else if let Some(letter) = self.peek() {
                return Err(self.wrong(format!("\".\" or \"[\" is expected, not {letter:?}")));
            } else {
                return Ok(());
            }
        }
    }

    fn key(&mut self) -> Result<Step, Misread> {
        if self.peek() == Some('"') {
            return Ok(Step::Key(self.quoted()?));
        }
        Ok(match self.name("a key")?.as_str() {
            "first" => Step::First,
            "last" => Step::Last,
            name => Step::Key(name.to_owned()),
        })
    }

    /// What is between brackets.
    pub(crate) fn place(&mut self) -> Result<Step, Misread> {
        self.take("[");
        let step = match self.peek() {
            Some('"') => Step::Key(self.quoted()?),
            Some('*') => {
                self.take("*");
                Step::Each
            }
            _ => Step::At(self.number()?),
        };
        if !self.take("]") {
            return Err(self.wrong("\"]\" is expected"));
        }
        Ok(step)
    }

    fn number(&mut self) -> Result<i64, Misread> {
        let start = self.at;
        let minus = self.take("-");
        let digits = self.while_is(|letter| letter.is_ascii_digit());
        let number = digits.parse::<i64>();
        match number {
            Ok(number) if minus => Ok(-number),
            Ok(number) => Ok(number),
            Err(_) => {
                self.at = start;
                let what = if digits.is_empty() {
                    "a number, a text or \"*\" is expected"
                } else {
                    "the number is too large"
                };
                Err(self.wrong(what))
            }
        }
    }

    fn quoted(&mut self) -> Result<String, Misread> {
        let start = self.at;
        self.take("\"");
        let mut key = String::new();
        loop {
            let Some(letter) = self.peek() else {
                self.at = start;
                return Err(self.wrong("the quotation mark is never closed"));
            };
            if letter == '\\' {
                let escape = self.at;
                self.take("\\");
                match self.peek() {
                    Some(letter @ ('"' | '\\')) => {
                        key.push(letter);
                        self.at += letter.len_utf8();
                    }
                    _ => {
                        self.at = escape;
                        return Err(self.wrong("only \\\" and \\\\ can be escaped"));
                    }
                }
                continue;
            }
            self.at += letter.len_utf8();
            if letter == '"' {
                return Ok(key);
            }
            key.push(letter);
        }
    }
}

#[cfg(test)]
mod tests;
