//! Where in a product the user is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a capability is bound to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Page {
    /// Nothing: it is there on every page.
    Global,
    /// One place of the product.
    Named(String),
}

impl Page {
    /// A place by its name.
    pub fn named(name: impl Into<String>) -> Self {
        Self::Named(name.into())
    }
}

impl fmt::Display for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global => f.write_str("every page"),
            Self::Named(name) => write!(f, "the page {name}"),
        }
    }
}
