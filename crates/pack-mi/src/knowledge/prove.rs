//! Proves the examples of a document.
//!
//! | block | what is proved |
//! |---|---|
//! | `xml` | the checker finds no error and no warning, for every runtime that the section is true for |
//! | `xml bad=SYN0412,SYN0401` | the checker finds all of these |
//! | `xml since=4.4.0`, `until=4.3.0` | only these runtimes count; both ends belong to them |
//! | `xml inert` | it is well-formed |
//! | `context` | a message that the `expr` blocks below it, in the same section, are evaluated with |
//! | `expr` | every line holds; see [`expressions`](self) |
//! | `json` | it is JSON |
//!
//! A line of an `expr` block is `EXPRESSION -> JSON` (it gives that, kind included), `EXPRESSION -> error` (the value is
//! empty), `EXPRESSION -> crash` (an exception that nobody catches), `EXPRESSION !! SYN0401` (the checker says so), or
//! an outcome followed by codes. `# …` is a comment.

mod expressions;
mod message;
mod xml;

use std::fmt;

use synapse_lang::expr::Context;
use synapse_lang::model::{Model, Version};

use super::document;
use super::fence::{Fence, Part, Walk, fences};
use super::head::Span;

/// Something in a document that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What does not hold.
    pub what: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// What came of proving a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proof {
    /// How many examples were tried; a line of an `expr` block is one.
    pub tried: usize,
    /// What does not hold.
    pub failures: Vec<Failure>,
}

/// Reads a document and proves its examples.
#[must_use]
pub fn prove(file: &str, text: &str) -> Proof {
    let (reference, bad) = document::read(file, text);
    let mut proof = Proof::default();
    for one in bad {
        proof.failures.push(Failure { file: one.file, line: one.line, what: one.problem.to_string() });
    }
    let Some(reference) = reference else { return proof };
    let lines = sections(text);
    let mut current: Option<&str> = None;
    let mut message: Result<Context, String> = Ok(Context::default());
    for fence in fences(text) {
        let section = lines.iter().rev().find(|(line, _)| *line < fence.line).map(|(_, name)| name.as_str());
        if section != current {
            current = section;
            message = Ok(Context::default());
        }
        let span = section
            .and_then(|name| reference.section(name))
            .map_or(reference.runtimes, |section| section.runtimes);
        let mut trial = Trial { file, fence: &fence, span, proof: &mut proof };
        match fence.language.as_str() {
            "xml" => xml::prove(&mut trial),
            "context" => {
                message = message::read(&fence.text);
                if let Err(what) = &message {
                    trial.fails(0, what.clone());
                }
            }
            "expr" => {
                if let Ok(message) = &message {
                    expressions::prove(&mut trial, message);
                }
            }
            "json" => {
                trial.counts();
                if let Err(error) = serde_json::from_str::<serde_json::Value>(&fence.text) {
                    // What is missing at the end is missing on the last line.
                    let line = error.line().min(fence.text.lines().count());
                    trial.fails(line, format!("the block is no JSON: {error}"));
                }
            }
            "" => trial.fails(0, "the block has no language; plain text is `text`".to_owned()),
            _ => {}
        }
    }
    proof.failures.sort_by_key(|failure| failure.line);
    proof
}

/// One block on trial.
struct Trial<'a> {
    file: &'a str,
    fence: &'a Fence,
    span: Span,
    proof: &'a mut Proof,
}

impl Trial<'_> {
    fn counts(&mut self) {
        self.proof.tried += 1;
    }

    /// Something does not hold, on a line of the block counted from 1; 0 is the line that opens it.
    fn fails(&mut self, line: usize, what: String) {
        self.proof.failures.push(Failure { file: self.file.to_owned(), line: self.fence.line + line, what });
    }

    /// The runtimes that count for the block; a wrong option is told.
    fn runtimes(&mut self) -> Vec<Version> {
        let mut span = self.span;
        for (key, end) in [("since", true), ("until", false)] {
            let Some(text) = self.fence.option(key) else { continue };
            match text.parse::<Version>() {
                Ok(version) if end => span = span.and(Span { min: Some(version), max: None }),
                Ok(version) => span = span.and(Span { min: None, max: Some(version) }),
                Err(error) => self.fails(0, format!("{key}: {error}")),
            }
        }
        let all = Model::get().releases().iter().map(|release| release.version);
        let runtimes: Vec<Version> = all.filter(|version| span.has(*version)).collect();
        if runtimes.is_empty() {
            self.fails(0, "there is no runtime that the example is for".to_owned());
        }
        runtimes
    }

    /// Options that mean nothing are slips.
    fn only_options(&mut self, known: &[&str]) {
        let unknown =
            self.fence.options.iter().map(|(key, _)| key).find(|key| !known.contains(&key.as_str()));
        if let Some(unknown) = unknown.cloned() {
            self.fails(
                0,
                format!("`{unknown}` is no option of such a block; there are {}", known.join(", ")),
            );
        }
    }
}

/// The lines of the headings of sections, with the names they spell.
fn sections(text: &str) -> Vec<(usize, String)> {
    let mut walk = Walk::default();
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if walk.step(line) == Part::Prose
            && let Some(heading) = line.strip_prefix("## ")
        {
            found.push((at + 1, document::spelled(heading, '_')));
        }
    }
    found
}

#[cfg(test)]
mod tests;
