//! Reference knowledge: documents made of named parts, loaded and searched on demand.
//!
//! A [`Reference`] is a Markdown file under `knowledge/` with a TOML head. Tables of functions, operators, elements,
//! properties and findings are not written in it: placeholders are filled from the description of the language that
//! the checker reads too, so a document and the checker cannot disagree. Examples are [proved](prove) by the tests:
//! what a document calls good has no findings, what it calls bad has them, and what it says an expression gives is
//! what the evaluator gives.
//!
//! Its nouns: a [`Library`] holds the references, a [`Section`] is a part of one.

mod document;
mod expand;
mod fence;
mod head;
mod library;
pub mod prove;

pub use document::{BadDocument, Problem, Reference, Section};
pub use fence::{Fence, fences};
pub use head::Span as RuntimeSpan;
pub use library::Library;
