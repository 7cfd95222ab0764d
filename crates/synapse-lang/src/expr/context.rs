//! What an expression is evaluated against: a message, its variables, and the world around it.
//!
//! A context can be written as JSON; every part may be left out. Nothing is read from the machine: the time and the
//! time zone are given.

use crate::json::{self, Json};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A message and its surroundings.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Context {
    /// The body as text: JSON, or XML when the content type says so or it looks like it.
    pub payload: Option<String>,
    /// The media type of the body.
    pub content_type: Option<String>,
    /// Variables.
    pub vars: BTreeMap<String, Variable>,
    /// Transport headers.
    pub headers: BTreeMap<String, String>,
    /// Properties of the default scope; path and query parameters are among them (`uri.var.x`, `query.param.x`).
    pub syn: BTreeMap<String, String>,
    /// Properties of the axis2 scope.
    pub ax: BTreeMap<String, String>,
    /// Parameters of the innermost template; left out outside any template, where reading one crashes.
    pub func: Option<BTreeMap<String, String>>,
    /// Registry resources by path.
    pub reg: BTreeMap<String, Resource>,
    /// Configurables.
    pub configs: BTreeMap<String, String>,
    /// Namespaces of the element that the expression stands in, by prefix; XPath uses them.
    pub namespaces: BTreeMap<String, String>,
    /// The time zone of the server as an offset (`UTC`, `+05:30`).
    pub time_zone: Option<String>,
    /// The current time in milliseconds since 1970.
    pub now: i64,
}

/// The value of a variable.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "lowercase")]
pub enum Variable {
    /// A Java `int`.
    Int(i32),
    /// A Java `long`.
    Long(i64),
    /// A Java `double`.
    Double(f64),
    /// A string.
    String(String),
    /// A boolean.
    Boolean(bool),
    /// JSON.
    Json(JsonText),
    /// A map, such as the result of a connector operation.
    Map(BTreeMap<String, Self>),
    /// XML.
    Xml(String),
}

/// JSON that is given as text. Text that is no JSON is a JSON string, as when a variable of type JSON is set.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "String")]
pub struct JsonText(pub Json);

impl From<String> for JsonText {
    fn from(text: String) -> Self {
        Self(json::parse(&text).unwrap_or(Json::String(text)))
    }
}

/// A registry resource: its text alone, or with properties.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Resource {
    /// The text.
    Text(String),
    /// The text and the properties.
    Full {
        /// The text.
        text: String,
        /// The properties.
        #[serde(default)]
        properties: BTreeMap<String, String>,
    },
}

impl Resource {
    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Full { text, .. } => text,
        }
    }

    /// A property.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&str> {
        match self {
            Self::Text(_) => None,
            Self::Full { properties, .. } => properties.get(name).map(String::as_str),
        }
    }
}

impl Context {
    /// Whether the body is XML.
    #[must_use]
    pub fn has_xml_payload(&self) -> bool {
        let media = self.content_type.as_deref().unwrap_or_default();
        let body = self.payload.as_deref().unwrap_or_default();
        media.contains("xml") || (!media.contains("json") && body.trim_start().starts_with('<'))
    }

    /// The offset of the time zone in seconds; UTC when it is not given or is no offset.
    #[must_use]
    pub fn utc_offset(&self) -> i64 {
        let zone = self.time_zone.as_deref().unwrap_or("UTC");
        let text = zone.trim_start_matches("UTC").trim_start_matches("GMT");
        let (sign, digits) = match text.split_at_checked(1) {
            Some(("+", digits)) => (1, digits),
            Some(("-", digits)) => (-1, digits),
            _ => return 0,
        };
        let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "0"));
        let seconds = |text: &str, unit: i64| text.parse::<i64>().map(|value| value.clamp(0, 59) * unit);
        match (seconds(hours, 3600), seconds(minutes, 60)) {
            (Ok(hours), Ok(minutes)) => sign * (hours + minutes),
            _ => 0,
        }
    }
}
