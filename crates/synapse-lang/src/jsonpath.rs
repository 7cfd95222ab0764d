//! JSON paths with the results of the runtime's library (jayway JsonPath 2.10 on Gson values).
//!
//! A path is compiled once and read many times. Oddities of the library that show in results are kept: a deep
//! scan over arrays ignores the index that follows it when more follows, `&&` right after a path without a
//! comparison belongs to the path, numbers from object members are normalised and array elements are not.
//!
//! Neither compiling nor reading panics; the work and the depth of one reading are bounded, so a deep scan
//! under a filter under a deep scan ends with [`ReadError::TooMuchWork`] instead of a hang.

mod accept;
mod compare;
mod compile;
mod cursor;
mod evaluate;
mod filter;
mod function;
mod trail;

use std::borrow::Cow;

use thiserror::Error;

use crate::json::Json;
use compile::Token;

/// A compiled path.
#[derive(Debug, Clone)]
pub struct Path {
    /// Whether it starts with `$` rather than `@`.
    from_root: bool,
    tokens: Vec<Token>,
    /// How many tokens at its start each name one thing at most.
    definite: usize,
}

/// Why a text is no path. The engine does not catch it: evaluation crashes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("invalid path at character {at}: {reason}")]
pub struct PathError {
    /// How many characters into the path.
    pub at: usize,
    /// What is wrong there.
    pub reason: String,
}

/// Where a found value lay. The kind of a number already follows from it (see [`crate::json::Number`]); what is
/// left to know is whether the engine sees a JSON value or a plain Java one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// It is the whole document.
    Root,
    /// It is the value of an object member.
    Member,
    /// It is an element of an array.
    Element,
    /// It is an array that collects the matches of an indefinite path.
    Matches,
    /// A function made it: the engine sees a Java string, number, boolean or null, or a JSON array or object.
    Computed,
}

/// What a path found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found<'json> {
    /// The value; borrowed where it is part of the document as it stands.
    pub value: Cow<'json, Json>,
    /// Where it lay.
    pub holder: Holder,
}

/// Why nothing was found.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadError {
    /// The path leads nowhere: the engine turns this into an evaluation error.
    #[error("{0}")]
    NotFound(String),
    /// The library refuses the path for this document: the engine does not catch it, evaluation crashes.
    #[error("{0}")]
    Crash(String),
    /// More than [`WORK_LIMIT`] steps, or nested too deeply: ours, the engine would go on.
    #[error("the path takes more than {WORK_LIMIT} steps on this document")]
    TooMuchWork,
}

/// How many steps one reading may take. A step is a value looked at or copied; documents of some megabytes
/// stay below it for every path without nested scans.
pub const WORK_LIMIT: u64 = 2_000_000;

impl Path {
    /// Compiles a path such as `$.items[?(@.n > 1)].v`. A text that starts with neither `$` nor `@` is taken to
    /// follow `$.`.
    pub fn compile(text: &str) -> Result<Self, PathError> {
        compile::compile(text)
    }

    /// Compiles the path of a step, `json-eval($.a)` or an argument, from which the runtime first cuts one dot at the end:
    /// `$.` is the whole body.
    pub fn compile_in_step(text: &str) -> Result<Self, PathError> {
        Self::compile(text.strip_suffix('.').unwrap_or(text))
    }

    /// Whether it names at most one place, so that its result is that value and not an array of matches.
    #[must_use]
    pub fn is_definite(&self) -> bool {
        self.all_definite()
    }

    /// Whether it ends in a function such as `length()`.
    #[must_use]
    pub fn is_function_path(&self) -> bool {
        matches!(self.tokens.last(), Some(Token::Function { .. }))
    }

    /// Reads it from a document.
    pub fn read<'json>(&self, document: &'json Json) -> Result<Found<'json>, ReadError> {
        evaluate::read(self, document)
    }
}

#[cfg(test)]
mod tests;
