//! Attributes and element text: what values they take, who evaluates them, and what a bad one does.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use super::condition::Condition;
use super::version::Version;
use crate::diagnostic::Class;

/// An attribute of an element.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attribute {
    /// Its name; attributes stand in no namespace.
    pub name: String,
    /// One line that says what it is for.
    pub summary: String,
    /// Traps, in a few sentences.
    #[serde(default)]
    pub notes: Option<String>,
    /// What happens when it is absent; `None` when it may be.
    #[serde(default)]
    pub required: Option<Class>,
    /// Who evaluates the value.
    #[serde(default)]
    pub place: Place,
    /// Why a `${…}` that the place would take does not work here.
    #[serde(default)]
    pub refuses: Option<Refusal>,
    /// What the value may be.
    #[serde(default, rename = "type")]
    pub value: ValueType,
    /// Values of the set that came later than the attribute.
    #[serde(default)]
    pub newer: Vec<NewerValue>,
    /// Whether an empty value counts as if the attribute were absent.
    #[serde(default)]
    pub blank: bool,
    /// What counts when it is absent.
    #[serde(default)]
    pub default: Option<String>,
    /// What a number counts.
    #[serde(default)]
    pub unit: Option<Unit>,
    /// The first version that reads it.
    #[serde(default)]
    pub since: Option<Version>,
    /// The first version that does not read it any more.
    #[serde(default)]
    pub until: Option<Version>,
    /// What a value outside [`Attribute::value`] does; `None` when nothing bad comes of it.
    #[serde(default)]
    pub wrong: Option<Class>,
    /// When a wrong value does that; otherwise nobody looks at it.
    #[serde(default)]
    pub wrong_when: Option<Condition>,
    /// What an empty value does; `None` when it is as good as any other.
    #[serde(default)]
    pub empty: Option<Class>,
    /// What the value names, when it names something of the project.
    #[serde(default)]
    pub reference: Option<RefKind>,
}

/// A value that came later than its attribute.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewerValue {
    /// The value.
    pub value: String,
    /// The first version that knows it.
    pub since: Version,
}

/// The text of an element, described like an attribute's value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextValue {
    /// When the description holds; otherwise the text is any text and nothing evaluates it.
    #[serde(default)]
    pub when: Option<Condition>,
    /// Who evaluates the text.
    #[serde(default)]
    pub place: Place,
    /// Why a `${…}` that the place would take does not work here.
    #[serde(default)]
    pub refuses: Option<Refusal>,
    /// What the text may be.
    #[serde(default, rename = "type")]
    pub value: ValueType,
    /// What counts when the text is empty.
    #[serde(default)]
    pub default: Option<String>,
    /// What a number counts.
    #[serde(default)]
    pub unit: Option<Unit>,
    /// What a text outside [`TextValue::value`] does.
    #[serde(default)]
    pub wrong: Option<Class>,
    /// What an empty text does.
    #[serde(default)]
    pub empty: Option<Class>,
    /// What the text names.
    #[serde(default)]
    pub reference: Option<RefKind>,
}

/// Who evaluates a value, which decides what dynamic forms it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// `${…}` is an expression, `json-eval(…)` a JSONPath, anything else XPath.
    Path,
    /// A literal, unless the whole value is wrapped in braces: `{${…}}`, `{json-eval(…)}`, `{xpath}`.
    Value,
    /// XPath only; `${…}` does not compile.
    XPath,
    /// XPath or `json-eval(…)`; `${…}` does not compile.
    Query,
    /// Text with any number of `${…}`.
    Template,
    /// Never evaluated.
    #[default]
    Literal,
    /// A literal that may start with an externalised value: `$SYSTEM:X`, `$FILE:X`, `${configs.x}`.
    Resolved,
}

/// A dynamic form that is accepted and then does not work.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// What becomes of `${…}`.
    pub class: Class,
    /// Why, in one sentence.
    pub reason: String,
}

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Thousandths of a second.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Minutes.
    Minutes,
    /// Bytes.
    Bytes,
    /// Messages.
    Messages,
}

/// What of the project a value names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefKind {
    /// A sequence by name.
    Sequence,
    /// An endpoint by name or key.
    Endpoint,
    /// A sequence template.
    Template,
    /// An endpoint template.
    EndpointTemplate,
    /// A local entry.
    LocalEntry,
    /// A local entry or a file of the registry (`gov:`, `conf:`, `resources:`, `file:`).
    Resource,
    /// A connection: a local entry that holds a connector's init operation.
    Connection,
    /// A message store.
    MessageStore,
    /// A proxy service.
    Proxy,
    /// An API.
    Api,
    /// A data service.
    DataService,
    /// An inbound endpoint.
    InboundEndpoint,
    /// A Java class.
    Class,
    /// A flow variable that is written.
    Variable,
    /// A property that is written.
    Property,
    /// A file of the project, by its path from the project's root.
    File,
}

/// How a true or false value is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Boolean {
    /// `true` in any case is true, everything else is false.
    AnyCase,
    /// Exactly `true` is true, everything else is false.
    Exact,
    /// `true`, `yes` and `1` are true, everything else is false.
    Lenient,
    /// Only `true` and `false` are taken, in any case.
    Closed,
    /// Only `true`, `yes`, `1`, `false`, `no` and `0` are taken, in any case.
    Explicit,
    /// Exactly `false` is false, everything else is true.
    UnlessFalse,
}

/// What a value may be.
///
/// In the data it is a short text: `integer 0..`, `boolean exact`, `choice a b c`, `choice-any-case a b`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "String")]
pub enum ValueType {
    /// Any text.
    #[default]
    Text,
    /// A whole number of 32 bits within the bounds.
    Integer {
        /// The smallest allowed.
        min: Option<i64>,
        /// The greatest allowed.
        max: Option<i64>,
    },
    /// A whole number of 64 bits.
    Long,
    /// A number with an optional fraction, a point and no comma.
    Number,
    /// True or false.
    Boolean(Boolean),
    /// One of a closed set.
    Choice {
        /// The values.
        values: Vec<String>,
        /// Whether case counts.
        any_case: bool,
    },
    /// Suggestions; other values are fine.
    Suggest(Vec<String>),
    /// Words of a closed set, each at most once, separated by single blanks.
    Words(Vec<String>),
    /// A regular expression of Java.
    Regex,
    /// The full name of a Java class.
    ClassName,
    /// The name of something.
    Name,
    /// A name with an optional prefix that must be declared.
    QName,
    /// A path that starts with `/`.
    Path,
    /// Whole numbers, separated by commas or blanks.
    Numbers,
    /// A URL.
    Uri,
    /// A URI template of RFC 6570.
    UriTemplate,
    /// A cron expression of Quartz.
    Cron,
    /// A JSON text.
    Json,
    /// XML or text, whatever the reader makes of it.
    Any,
}

/// A text that names no kind of value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a kind of value")]
pub struct NotAValueType(pub String);

impl ValueType {
    /// The closed set, when it is one.
    #[must_use]
    pub fn choices(&self) -> Option<&[String]> {
        match self {
            Self::Choice { values, .. } | Self::Words(values) => Some(values),
            _ => None,
        }
    }

    /// Values worth offering while somebody types.
    #[must_use]
    pub fn suggestions(&self) -> Vec<&str> {
        match self {
            Self::Choice { values, .. } | Self::Words(values) | Self::Suggest(values) => {
                values.iter().map(String::as_str).collect()
            }
            Self::Boolean(_) => vec!["true", "false"],
            _ => Vec::new(),
        }
    }

    /// Whether a literal is one of these values, as far as that can be told from the text alone.
    ///
    /// Numbers and words are compared without surrounding blanks where the runtime trims them too. Kinds whose
    /// validity needs more than the text (class names, templates, regular expressions) take every text.
    #[must_use]
    pub fn takes(&self, text: &str) -> bool {
        match self {
            Self::Integer { min, max } => text.trim().parse::<i32>().is_ok_and(|number| {
                let number = i64::from(number);
                min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max)
            }),
            Self::Long => text.trim().parse::<i64>().is_ok(),
            Self::Number => text.trim().parse::<f64>().is_ok(),
            Self::Boolean(Boolean::Closed) => {
                ["true", "false"].iter().any(|one| one.eq_ignore_ascii_case(text.trim()))
            }
            Self::Boolean(Boolean::Explicit) => ["true", "yes", "1", "false", "no", "0"]
                .iter()
                .any(|one| one.eq_ignore_ascii_case(text.trim())),
            Self::Choice { values, any_case: false } => values.iter().any(|one| one == text),
            Self::Choice { values, any_case: true } => {
                values.iter().any(|one| one.eq_ignore_ascii_case(text.trim()))
            }
            Self::Words(values) => {
                let words: Vec<&str> = text.trim().split(' ').collect();
                let twice = |at: usize, word: &str| words.iter().take(at).any(|one| *one == word);
                let fits =
                    |(at, word): (usize, &&str)| values.iter().any(|one| one == word) && !twice(at, word);
                words.iter().enumerate().all(fits)
            }
            Self::Path => text.starts_with('/'),
            Self::Numbers => {
                text.split([',', ' ']).all(|one| one.trim().is_empty() || one.trim().parse::<i32>().is_ok())
            }
            _ => true,
        }
    }
}

impl FromStr for ValueType {
    type Err = NotAValueType;

    fn from_str(text: &str) -> Result<Self, NotAValueType> {
        let wrong = || NotAValueType(text.to_owned());
        let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
        let list = || {
            let values: Vec<String> = rest.split_whitespace().map(str::to_owned).collect();
            if values.is_empty() { Err(wrong()) } else { Ok(values) }
        };
        let taken = match kind {
            "choice" => return Ok(Self::Choice { values: list()?, any_case: false }),
            "choice-any-case" => return Ok(Self::Choice { values: list()?, any_case: true }),
            "suggest" => return Ok(Self::Suggest(list()?)),
            "words" => return Ok(Self::Words(list()?)),
            "integer" => {
                let (min, max) = rest.split_once("..").unwrap_or(("", ""));
                let bound = |text: &str| {
                    if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(|_| wrong()) }
                };
                return Ok(Self::Integer { min: bound(min)?, max: bound(max)? });
            }
            "boolean" => {
                return Ok(Self::Boolean(match rest {
                    "" => Boolean::AnyCase,
                    "exact" => Boolean::Exact,
                    "lenient" => Boolean::Lenient,
                    "closed" => Boolean::Closed,
                    "explicit" => Boolean::Explicit,
                    "unless-false" => Boolean::UnlessFalse,
                    _ => return Err(wrong()),
                }));
            }
            "text" => Self::Text,
            "long" => Self::Long,
            "number" => Self::Number,
            "regex" => Self::Regex,
            "class" => Self::ClassName,
            "name" => Self::Name,
            "qname" => Self::QName,
            "path" => Self::Path,
            "numbers" => Self::Numbers,
            "uri" => Self::Uri,
            "uri-template" => Self::UriTemplate,
            "cron" => Self::Cron,
            "json" => Self::Json,
            "any" => Self::Any,
            _ => return Err(wrong()),
        };
        if rest.is_empty() { Ok(taken) } else { Err(wrong()) }
    }
}

impl TryFrom<String> for ValueType {
    type Error = NotAValueType;

    fn try_from(text: String) -> Result<Self, NotAValueType> {
        text.parse()
    }
}

impl fmt::Display for ValueType {
    /// The kind in words for people: `one of a, b`, `a whole number from 0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Integer { min, max } => {
                f.write_str("a whole number")?;
                if let Some(min) = min {
                    write!(f, " from {min}")?;
                }
                return max.map_or(Ok(()), |max| write!(f, " to {max}"));
            }
            Self::Choice { values, any_case } => {
                let tail = if *any_case { " (in any case)" } else { "" };
                return write!(f, "one of {}{tail}", values.join(", "));
            }
            Self::Words(values) => {
                return write!(f, "words of {}, separated by single blanks", values.join(", "));
            }
            Self::Suggest(values) => return write!(f, "text, usually {}", values.join(", ")),
            Self::Text => "text",
            Self::Long => "a whole number of 64 bits",
            Self::Number => "a number",
            Self::Boolean(Boolean::Lenient) => "true, yes or 1, else false",
            Self::Boolean(Boolean::Explicit) => "true, yes or 1; false, no or 0",
            Self::Boolean(_) => "true or false",
            Self::Regex => "a regular expression",
            Self::ClassName => "the full name of a Java class",
            Self::Name => "a name",
            Self::QName => "a name, with a declared prefix where it needs one",
            Self::Path => "a path that starts with /",
            Self::Numbers => "whole numbers, separated by commas",
            Self::Uri => "a URL",
            Self::UriTemplate => "a URI template",
            Self::Cron => "a cron expression",
            Self::Json => "JSON",
            Self::Any => "XML or text",
        })
    }
}

#[cfg(test)]
mod tests;
