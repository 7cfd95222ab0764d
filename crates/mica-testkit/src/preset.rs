//! HTTP error answers: the ones providers are known to give, by name, and any other by value.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};

/// An HTTP error in place of an answer. In a scenario: `error = "azure_401"` or a table with `status` and `body`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ErrorAnswer {
    /// One of [`names`].
    Named(String),
    /// Any other.
    Exact(Preset),
}

impl From<&str> for ErrorAnswer {
    fn from(name: &str) -> Self {
        ErrorAnswer::Named(name.to_owned())
    }
}

impl ErrorAnswer {
    /// The answer itself. A name nobody knows gives a 500 that says so, because a misspelt test must not pass.
    pub fn resolve(&self) -> Preset {
        match self {
            ErrorAnswer::Exact(preset) => preset.clone(),
            ErrorAnswer::Named(name) => named(name).cloned().unwrap_or_else(|| Preset {
                status: 500,
                headers: BTreeMap::new(),
                body: format!("the testkit has no error preset named {name:?}"),
                kinds: vec![],
            }),
        }
    }
}

/// An error answer's parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// The status.
    pub status: u16,
    /// The headers; `content-type` is JSON when it is not given.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body.
    #[serde(default)]
    pub body: String,
    /// What the error should be taken for: any of these `AiError::kind`s.
    #[serde(default)]
    pub kinds: Vec<String>,
}

impl Preset {
    /// The headers as HTTP has them. What HTTP cannot carry is left out; a test reads those of the presets.
    pub fn header_map(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
                headers.insert(name, value);
            }
        }
        headers
    }
}

static PRESETS: LazyLock<BTreeMap<String, Preset>> =
    // The file is part of the crate and a test reads it, so a failure here cannot reach a user.
    LazyLock::new(|| toml::from_str(include_str!("presets.toml")).unwrap_or_default());

/// A preset by its name.
pub fn named(name: &str) -> Option<&'static Preset> {
    PRESETS.get(name)
}

/// All presets' names.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.keys().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_presets_read_and_each_says_what_it_is() {
        let read: BTreeMap<String, Preset> = toml::from_str(include_str!("presets.toml")).unwrap();
        assert!(read.len() >= 30, "{}", read.len());
        for (name, preset) in &read {
            assert!(preset.status >= 400, "{name}");
            assert!(!preset.kinds.is_empty(), "{name}");
            assert_eq!(preset.header_map().len(), preset.headers.len(), "{name}");
            let is_json = preset.headers.get("content-type").is_none_or(|kind| kind.contains("json"));
            if is_json && !preset.body.is_empty() {
                serde_json::from_str::<serde_json::Value>(&preset.body)
                    .unwrap_or_else(|e| panic!("{name}: {e}"));
            }
        }
    }

    #[test]
    fn a_misspelt_name_says_so() {
        assert!(ErrorAnswer::from("azure_41").resolve().body.contains("azure_41"));
    }
}
