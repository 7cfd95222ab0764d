//! How places and paths are told in messages.

use std::fmt::{self, Display, Formatter};

use super::Path;
use super::compile::Token;
use crate::json::Json;

/// The steps that led to a place, for messages.
#[derive(Clone, Copy)]
pub(super) struct Trail<'trail> {
    pub(super) parent: Option<&'trail Trail<'trail>>,
    pub(super) step: Step<'trail>,
}

#[derive(Clone, Copy)]
pub(super) enum Step<'trail> {
    Root(bool),
    Name(&'trail str),
    Index(i64),
}

impl Display for Trail<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(out)?;
        }
        match self.step {
            Step::Root(from_root) => out.write_str(if from_root { "$" } else { "@" }),
            Step::Name(name) => write!(out, "['{name}']"),
            Step::Index(index) => write!(out, "[{index}]"),
        }
    }
}

impl<'trail> Trail<'trail> {
    pub(super) const fn then(&'trail self, step: Step<'trail>) -> Trail<'trail> {
        Trail { parent: Some(self), step }
    }
}

/// The path in the library's normal form, for messages.
impl Display for Path {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(if self.from_root { "$" } else { "@" })?;
        self.tokens.iter().try_for_each(|token| write!(out, "{token}"))
    }
}

impl Display for Token {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Property { names, quote } => {
                let names: Vec<String> = names.iter().map(|name| format!("{quote}{name}{quote}")).collect();
                write!(out, "[{}]", names.join(","))
            }
            Self::Index(indices) => {
                let indices: Vec<String> = indices.iter().map(ToString::to_string).collect();
                write!(out, "[{}]", indices.join(","))
            }
            Self::Slice { from, to } => {
                let bound = |bound: &Option<i32>| bound.map_or(String::new(), |bound| bound.to_string());
                write!(out, "[{}:{}]", bound(from), bound(to))
            }
            Self::Wildcard => out.write_str("[*]"),
            Self::Scan => out.write_str(".."),
            Self::Filter(_) => out.write_str("[?]"),
            Self::Function { name, parameters } if parameters.is_empty() => write!(out, ".{name}()"),
            Self::Function { name, .. } => write!(out, ".{name}(...)"),
        }
    }
}

/// What a value is called in messages.
pub(super) const fn kind(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}
